// The back end over HTTP: `dmodc serve`. Questions and changes are JSON; news come as server-sent events. The stream is
// read with `fetch` and not with `EventSource`, because a server on another address than loopback needs a token in a
// header, and because the page itself decides how often it tries again.
import { BackendError } from "./backend-error.js";

const POSTED_QUESTIONS = new Set(["order", "compare", "compare-cabling"]);
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const SILENCE = 40000;
const TOKEN_KEY = "dmodc-token";

export class HttpBackend extends EventTarget {
  constructor(base = "api/v1") {
    super();
    this.base = base;
    this.kind = "http";
    this.token = takeToken();
    this.wait = FIRST_WAIT;
  }

  /** Starts to listen to the server's news. "online" and "offline" say how the connection is. */
  start() {
    this.listen();
  }

  useToken(token) {
    this.token = token;
    sessionStorage.setItem(TOKEN_KEY, token);
    this.wait = FIRST_WAIT;
    this.wake?.();
  }

  /** Asks a question that changes nothing. */
  async ask(name, parameters = {}, signal = undefined) {
    if (POSTED_QUESTIONS.has(name)) return (await this.send("POST", name, parameters, signal)).json();
    const query = new URLSearchParams(
      Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null),
    );
    return (await this.send("GET", query.size > 0 ? `${name}?${query}` : name, undefined, signal)).json();
  }

  /** Changes the fabric. Returns the new state. */
  async change(name, body = {}) {
    return (await this.send("POST", name, body)).json();
  }

  async saveScenario(name) {
    await this.send("PUT", `scenarios/${encodeURIComponent(name)}`, {});
  }

  async loadScenario(name) {
    return (await this.send("POST", `scenarios/${encodeURIComponent(name)}/load`, {})).json();
  }

  async deleteScenario(name) {
    await this.send("DELETE", `scenarios/${encodeURIComponent(name)}`);
  }

  async startJob(body) {
    return (await (await this.send("POST", "jobs", body)).json()).job;
  }

  async job(number) {
    return (await this.send("GET", `jobs/${number}`)).json();
  }

  async cancelJob(number) {
    await this.send("DELETE", `jobs/${number}`);
  }

  /** Returns an export as a blob. */
  async download(name) {
    return (await this.send("GET", `export/${name}`)).blob();
  }

  async send(method, path, body, signal) {
    const headers = this.headers();
    if (body !== undefined) headers["content-type"] = "application/json";
    let response;
    try {
      response = await fetch(`${this.base}/${path}`, {
        method,
        headers,
        signal,
        cache: "no-store",
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new BackendError("The server does not answer.", 0);
    }
    if (response.status === 401) this.dispatchEvent(new Event("token"));
    if (!response.ok) throw new BackendError(await reason(response), response.status);
    return response;
  }

  headers() {
    return this.token ? { authorization: `Bearer ${this.token}` } : {};
  }

  async listen() {
    for (;;) {
      try {
        await this.readStream();
      } catch {
        // The reason does not matter: the page tries again, and says that it does.
      }
      this.dispatchEvent(new CustomEvent("offline", { detail: { wait: this.wait } }));
      await new Promise((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, this.wait * (0.8 + 0.4 * Math.random()));
      });
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    }
  }

  /** Tries again now. */
  retry() {
    this.wake?.();
  }

  async readStream() {
    const control = new AbortController();
    const response = await fetch(`${this.base}/stream`, {
      headers: this.headers(),
      signal: control.signal,
      cache: "no-store",
    });
    if (response.status === 401) this.dispatchEvent(new Event("token"));
    if (!response.ok || !response.body) throw new BackendError("There is no stream.", response.status);
    this.wait = FIRST_WAIT;
    this.dispatchEvent(new Event("online"));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let watch = 0;
    const guard = () => {
      clearTimeout(watch);
      watch = setTimeout(() => this.ask("state").then(guard, () => control.abort()), SILENCE);
    };
    guard();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        guard();
        const blocks = (rest + value.replaceAll("\r", "")).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) this.news(block);
      }
    } finally {
      clearTimeout(watch);
    }
  }

  /** Reports one block of the stream as an event of its own name. */
  news(block) {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
    }
    if (data.length === 0) return;
    try {
      this.dispatchEvent(new CustomEvent(name, { detail: JSON.parse(data.join("\n")) }));
    } catch {
      // A block that is not JSON is not news of ours.
    }
  }
}

/** Returns the token of this tab, if there is one. A token in the address is taken out of the address. */
function takeToken() {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(TOKEN_KEY, decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN_KEY);
}

async function reason(response) {
  try {
    return (await response.json()).error ?? `The server answers with status ${response.status}.`;
  } catch {
    return `The server answers with status ${response.status}.`;
  }
}
