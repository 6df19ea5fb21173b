// What the page knows about the fabric, and the only place that talks to the back end about its state. An answer for
// an older revision than the present one is dropped. Events: "scene", "state", "loads", "judgement", "events",
// "status" (the same revision, but following or undo changed), "pattern", "connection", "message" (a sentence for the
// user), "busy".
import { Condition } from "./condition.js";
import { Scene } from "./scene.js";
import { sentence } from "./format.js";

const MOST_EVENTS = 1000;
const PAGE_OF_EVENTS = 200;
const AGAIN = 300;

export class Store extends EventTarget {
  constructor(backend) {
    super();
    this.backend = backend;
    this.scene = null;
    this.state = null;
    this.condition = null;
    this.loads = null;
    this.judgement = null;
    this.before = null;
    this.events = [];
    this.moreEvents = false;
    this.pattern = "a2a";
    this.measure = "flows";
    this.online = true;
    this.busy = 0;
    backend.addEventListener("state", (event) => this.take(event.detail));
    backend.addEventListener("judged", (event) => this.takeJudgement(event.detail));
    backend.addEventListener("scene", () => this.sync());
    backend.addEventListener("online", () => this.connected(true));
    backend.addEventListener("offline", () => this.connected(false));
  }

  /** Loads everything for the first time. */
  async start() {
    await this.sync();
    this.backend.start();
  }

  /** Asks for the state again, and for the scene if it is another one. Used at the start and after a lost connection. */
  async sync() {
    const state = await this.backend.ask("state");
    if (!this.scene || state.scene !== this.scene.number) {
      const scene = new Scene(await this.backend.ask("scene"));
      // While this one waited, another call may have been faster, and have taken a newer state.
      if (this.scene?.number !== scene.number) {
        this.scene = scene;
        this.condition = new Condition(scene);
        this.loads = null;
        // Another drawing may be that of another run of the server, whose revisions begin anew.
        this.state = null;
        this.emit("scene");
      }
    }
    this.take(state);
    await this.fetchEvents();
  }

  connected(isOnline) {
    const was = this.online;
    this.online = isOnline;
    this.emit("connection");
    if (isOnline && !was) this.sync().catch((error) => this.say(error.message));
  }

  /** Takes a state, from whichever side it came first. */
  take(state) {
    const old = this.state;
    if (!this.scene) return;
    if (state.scene !== this.scene.number) {
      this.sync().catch((error) => this.say(error.message));
      return;
    }
    if (old && state.revision < old.revision) return;
    this.state = state;
    if (old && state.revision === old.revision) {
      this.emit("status");
      return;
    }
    if (this.judgement && this.judgement.revision !== state.revision) {
      this.before = this.judgement;
      this.judgement = null;
    }
    this.condition.setFailed(state.failed, state.missing?.cables ?? []);
    this.condition.revision = state.revision;
    this.addEvent(state.event);
    this.emit("state");
    this.fetchLoads();
    if (state.event?.judgement?.revision === state.revision) this.takeJudgement(state.event.judgement);
    else this.fetchJudgement();
  }

  addEvent(event) {
    if (!event) return;
    const at = this.events.findIndex((known) => known.sequence <= event.sequence);
    if (at >= 0 && this.events[at].sequence === event.sequence)
      this.events[at] = { ...this.events[at], ...event, judgement: event.judgement ?? this.events[at].judgement };
    else this.events.splice(at < 0 ? this.events.length : at, 0, event);
    if (this.events.length > MOST_EVENTS) {
      this.events.length = MOST_EVENTS;
      this.moreEvents = true;
    }
    this.emit("events");
  }

  /** Loads the newest events; with `older`, the ones before those that are known. */
  async fetchEvents(older = false) {
    const last = this.events.at(-1);
    const answer = await this.backend.ask("events", {
      before: older && last ? last.sequence : undefined,
      limit: PAGE_OF_EVENTS,
    });
    if (!older) this.events = [];
    for (const event of answer.events)
      if (!this.events.some((known) => known.sequence === event.sequence)) this.events.push(event);
    this.events.sort((p, q) => q.sequence - p.sequence);
    this.moreEvents = answer.more && this.events.length < MOST_EVENTS;
    this.before ??=
      this.events.find(
        (event) =>
          event.sequence < (this.state.event?.sequence ?? 0) && event.revision < this.state.revision && event.judgement,
      )?.judgement ?? null;
    this.emit("events");
  }

  async fetchLoads() {
    this.loadsCall?.abort();
    const call = new AbortController();
    this.loadsCall = call;
    this.loadsPending = true;
    try {
      const loads = await this.backend.ask("loads", { pattern: this.pattern, measure: this.measure }, call.signal);
      if (this.loadsCall !== call) return;
      if (loads.revision < this.state.revision) {
        this.again(() => this.loadsCall === call && this.fetchLoads());
        return;
      }
      this.loadsPending = false;
      const isSame = this.loads?.pattern === loads.pattern && this.loads.measure === loads.measure;
      const hotter = this.condition.setLoads(loads, isSame && this.loads.revision !== loads.revision);
      this.loads = loads;
      this.emit("loads");
      if (hotter > 0) this.emit("hotter");
    } catch (error) {
      if (this.loadsCall === call) this.loadsPending = false;
      if (error.name !== "AbortError") this.say(error.message);
    }
  }

  async fetchJudgement() {
    this.judgementCall?.abort();
    const call = new AbortController();
    this.judgementCall = call;
    try {
      const judgement = await this.backend.ask("judgement", {}, call.signal);
      if (this.judgementCall !== call) return;
      this.takeJudgement(judgement);
      if (judgement.revision < this.state.revision)
        this.again(() => this.judgementCall === call && this.fetchJudgement());
    } catch (error) {
      if (error.name !== "AbortError") this.say(error.message);
    }
  }

  takeJudgement(judgement) {
    const event = this.events.find((known) => known.revision === judgement.revision);
    if (event) event.judgement ??= judgement;
    if (!this.state || judgement.revision !== this.state.revision || this.judgement?.revision === judgement.revision)
      return;
    this.judgement = judgement;
    this.emit("judgement");
    this.emit("events");
  }

  /** Asks once more in a moment, because an answer was for an older revision. */
  again(action) {
    setTimeout(action, AGAIN);
  }

  /** Chooses what the colours mean. Rates exist only for patterns that are one permutation. */
  choose(pattern, measure) {
    this.pattern = pattern;
    this.measure = /^(shift|perm):/.test(pattern) ? measure : "flows";
    this.emit("pattern");
    return this.fetchLoads();
  }

  /** Changes the fabric. Returns whether it worked; a failure is said to the user. */
  async change(name, body) {
    return this.run(() => this.backend.change(name, body));
  }

  async loadScenario(name) {
    return this.run(() => this.backend.loadScenario(name));
  }

  async run(action) {
    performance.mark("dmodc-change-start");
    this.busy++;
    this.emit("busy");
    try {
      this.take(await action());
      return true;
    } catch (error) {
      this.say(error.message);
      return false;
    } finally {
      this.busy--;
      this.emit("busy");
    }
  }

  /** Fails a part that works, repairs a part that failed. `part` is `{switch}` or `{cable}`. */
  toggle(part) {
    const name = part.switch !== undefined ? this.scene.switchPart(part.switch) : this.scene.cablePart(part.cable);
    return this.change(
      "change",
      this.condition.isFailed(part) ? { fail: [], repair: [name] } : { fail: [name], repair: [] },
    );
  }

  get canChange() {
    return Boolean(this.state) && !this.state.follow;
  }

  /** Says a sentence to the user. */
  say(text) {
    const whole = /[.!?]$/.test(text) ? text : `${text}.`;
    this.dispatchEvent(new CustomEvent("message", { detail: sentence(whole) }));
  }

  emit(name) {
    this.dispatchEvent(new Event(name));
  }
}
