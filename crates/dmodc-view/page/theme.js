// Dark or light. The system's preference holds until the user chooses; the choice is kept in local storage.

const KEY = "dmodc-theme";

export class Theme extends EventTarget {
  constructor() {
    super();
    this.system = window.matchMedia("(prefers-color-scheme: dark)");
    this.chosen = read();
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get name() {
    return this.chosen ?? (this.system.matches ? "dark" : "light");
  }

  toggle() {
    this.chosen = this.name === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.chosen);
    } catch {
      // A page opened from a file may have no storage; the choice then holds until the page is closed.
    }
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.name;
    this.dispatchEvent(new Event("change"));
  }
}

function read() {
  try {
    const text = localStorage.getItem(KEY);
    return text === "dark" || text === "light" ? text : null;
  } catch {
    return null;
  }
}
