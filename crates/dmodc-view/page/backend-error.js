// The error of both back ends: a sentence for the user and a status. Status 0 means that nobody answered.

export class BackendError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}
