// The back end without a server: the engine as WebAssembly in a Web Worker, for the page that `dmodc page` writes.
//
// The element `embedded` holds JSON: `{"wasm": base64, "worker": source of worker.js, "open": body}`. The worker calls
// `open` with that body first. Names and bodies of all other calls are those of the HTTP interface; an export answers
// with text. Long work runs in a second worker with a copy of the present faults, so that it can be cancelled by ending
// that worker while the page stays usable. Saved scenarios are kept in local storage.
import { BackendError } from "./backend-error.js";

const CHANGES = new Set(["change", "random", "undo", "redo", "reset", "engine", "scenario"]);
const STORE = "dmodc-scenarios";

/** Returns the embedded data of a self-contained page, or null on a page that a server sent. */
export function embedded() {
  const element = document.getElementById("embedded");
  return element ? JSON.parse(element.textContent) : null;
}

export class WasmBackend extends EventTarget {
  constructor(data) {
    super();
    this.kind = "wasm";
    this.data = data;
    this.jobs = new Map();
    this.title = data.open?.title ?? "page";
    this.bytes = Uint8Array.from(atob(data.wasm), (letter) => letter.charCodeAt(0));
    this.engine = new Engine(data, this.bytes);
  }

  start() {
    this.dispatchEvent(new Event("online"));
  }

  retry() {}

  async ask(name, parameters = {}) {
    if (name === "scenarios") return { scenarios: readStore(this.title).map(({ body, ...rest }) => rest) };
    return this.engine.call(name, parameters);
  }

  async change(name, body = {}) {
    if (!CHANGES.has(name)) throw new BackendError(`There is no change ${name}.`, 404);
    const state = await this.engine.call(name, body);
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
    return state;
  }

  async saveScenario(name) {
    const body = await this.scenario();
    const state = await this.engine.call("state", {});
    const failed = state.failed.switches.length + state.failed.cables.length;
    const others = readStore(this.title).filter((saved) => saved.name !== name);
    writeStore(this.title, [
      ...others,
      { name, time_ms: Date.now(), engine: state.engine, failed_count: failed, body },
    ]);
  }

  async loadScenario(name) {
    const saved = readStore(this.title).find((one) => one.name === name);
    if (!saved) throw new BackendError(`There is no scenario ${name}.`, 404);
    return this.change("scenario", saved.body);
  }

  async deleteScenario(name) {
    writeStore(
      this.title,
      readStore(this.title).filter((saved) => saved.name !== name),
    );
  }

  async scenario() {
    const answer = await this.engine.call("export/scenario", {});
    return typeof answer === "string" ? JSON.parse(answer) : answer;
  }

  async startJob(body) {
    const number = this.jobs.size + 1;
    const job = { job: number, kind: body.kind, state: "running", done: 0, total: 0, error: null, result: null };
    const engine = new Engine(this.data, this.bytes);
    job.engine = engine;
    this.jobs.set(number, job);
    engine.onprogress = (done, total) => {
      Object.assign(job, { done, total });
      this.report(job);
    };
    const { revision } = await this.engine.call("state", {});
    const scenario = await this.scenario();
    engine
      .call("scenario", scenario)
      .then(() => engine.call(body.kind, body))
      .then(
        // The other engine counts its own revisions.
        (result) => this.finish(job, { state: "done", result: { ...result, revision } }),
        (error) => this.finish(job, { state: "failed", error: error.message }),
      );
    return number;
  }

  async job(number) {
    const { engine, ...rest } = this.jobs.get(number);
    return rest;
  }

  async cancelJob(number) {
    const job = this.jobs.get(number);
    if (job?.state === "running") this.finish(job, { state: "cancelled" });
  }

  finish(job, changes) {
    if (job.state !== "running") return;
    Object.assign(job, changes);
    job.engine.end();
    this.report(job);
    for (const [number, old] of this.jobs) if (number < job.job) old.result = null;
  }

  report(job) {
    const { engine, result, ...rest } = job;
    this.dispatchEvent(new CustomEvent("job", { detail: rest }));
  }

  async download(name) {
    const answer = await this.engine.call(`export/${name}`, {});
    const text = typeof answer === "string" ? answer : JSON.stringify(answer, null, 1);
    return new Blob([text], { type: name === "report" ? "text/html" : "text/plain" });
  }
}

/** One worker with one engine. Calls are answered in the order in which they are made. */
class Engine {
  constructor(data, bytes) {
    const source = new Blob([data.worker], { type: "text/javascript" });
    const address = URL.createObjectURL(source);
    this.worker = new Worker(address);
    this.waiting = new Map();
    this.next = 1;
    this.worker.onmessage = (event) => this.receive(event.data);
    this.worker.onerror = (event) => this.fail(event.message || "The engine stopped.");
    this.worker.postMessage({ wasm: bytes });
    this.ready = this.post("open", data.open);
    this.ready.catch(() => {});
    this.ready.finally(() => URL.revokeObjectURL(address)).catch(() => {});
  }

  async call(name, body) {
    await this.ready;
    return this.post(name, body);
  }

  post(name, body) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, name, body });
    });
  }

  receive({ id, ok, answer, progress }) {
    if (progress) {
      this.onprogress?.(progress.done, progress.total);
      return;
    }
    const call = this.waiting.get(id);
    this.waiting.delete(id);
    if (ok) call?.resolve(answer);
    else call?.reject(new BackendError(answer, 400));
  }

  fail(message) {
    for (const call of this.waiting.values()) call.reject(new BackendError(message, 500));
    this.waiting.clear();
  }

  end() {
    this.worker.terminate();
    this.fail("The work was cancelled.");
  }
}

function readStore(title) {
  try {
    return JSON.parse(localStorage.getItem(`${STORE} ${title}`) ?? "[]");
  } catch {
    return [];
  }
}

function writeStore(title, list) {
  try {
    localStorage.setItem(`${STORE} ${title}`, JSON.stringify(list));
  } catch {
    throw new BackendError("This browser keeps nothing for this page; download the scenario as a file instead.", 507);
  }
}
