// The strip of ticks: one tick for each event, oldest on the left. The height says how many entries moved; the shape
// says whether parts failed or were repaired. A tick is a button, so the strip works with the keyboard as well.
import { byId, fill, h } from "./dom.js";
import { clock, count, milliseconds, sentence } from "./format.js";

const MOST_TICKS = 150;

export class Timeline {
  constructor(app) {
    this.app = app;
    this.element = byId("timeline");
    this.list = h("div", { class: "ticks-list" });
    fill(this.element, h("span", { class: "timeline-label" }, "Events"), this.list);
    app.store.addEventListener("events", () => this.later());
    app.addEventListener("event", () => this.later());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.later();
  }

  later() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.update();
    });
  }

  update() {
    const events = this.app.store.events.slice(0, MOST_TICKS).reverse();
    const most = Math.max(1, ...events.map((event) => Math.log1p(event.entries)));
    const chosen = this.app.panel.pages.events.chosen;
    fill(
      this.list,
      events.map((event, k) =>
        this.tick(event, Math.log1p(event.entries) / most, k === events.length - 1, event.sequence === chosen),
      ),
    );
    this.list.scrollLeft = this.list.scrollWidth;
  }

  tick(event, part, isLast, isChosen) {
    const bar = h("span", { class: "tick-bar" });
    bar.style.height = `${4 + Math.round(part * 18)}px`;
    const text = `${clock(event.time_ms)} ${sentence(event.text)}. ${milliseconds(event.milliseconds)}, ${count(event.entries)} entries.`;
    return h(
      "button",
      {
        type: "button",
        class: `tick-button ${kind(event)}${isChosen ? " chosen" : ""}${isLast ? " last" : ""}`,
        tabindex: isLast ? "0" : "-1",
        title: text,
        "aria-label": text,
        "data-sequence": event.sequence,
        onclick: () => this.app.panel.open("events", { sequence: event.sequence, expand: true }),
      },
      bar,
    );
  }

  /** Arrow keys move along the strip. */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const buttons = [...this.list.children];
    const at = buttons.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    buttons[Math.min(buttons.length - 1, Math.max(0, at + step))].focus();
  }
}

/** Returns the class of an event: what it did to the fabric. */
export function kind(event) {
  if (!event.valid) return "invalid";
  if (event.failed_count > 0) return "broke";
  if (event.repaired_count > 0) return "healed";
  return "other";
}
