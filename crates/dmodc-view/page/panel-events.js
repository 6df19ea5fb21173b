// The list of all events, newest first, and the details of one: what failed, what moved, which pairs were lost.
import { clock, compact, count, milliseconds, number, percent, plural, sentence } from "./format.js";
import { fill, h, onPress, table } from "./dom.js";
import { kind } from "./timeline.js";
import { link, list } from "./panel-part.js";

export class EventsPage {
  constructor(app, element) {
    this.app = app;
    this.chosen = null;
    this.detail = h("div", { "data-testid": "event-detail" });
    this.items = h("div", { class: "events", role: "list", "data-testid": "events" });
    this.more = h(
      "button",
      {
        type: "button",
        hidden: true,
        onclick: () => app.store.fetchEvents(true).catch((error) => app.store.say(error.message)),
      },
      "Older events",
    );
    fill(element, h("h2", {}, "Events"), this.detail, this.items, this.more);
    this.element = element;
    app.store.addEventListener("events", () => this.later());
  }

  open({ sequence } = {}) {
    if (sequence !== undefined) this.chosen = sequence;
    this.update();
    if (sequence !== undefined) this.element.closest(".pages").scrollTop = 0;
    this.app.dispatchEvent(new Event("event"));
  }

  later() {
    if (this.pending || this.element.hidden) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.update();
    });
  }

  update() {
    const { events, moreEvents } = this.app.store;
    const event = events.find((one) => one.sequence === this.chosen);
    fill(this.detail, event ? this.describe(event) : null);
    fill(
      this.items,
      events.map((one) => this.item(one)),
    );
    this.more.hidden = !moreEvents;
  }

  item(event) {
    const element = h(
      "div",
      {
        class: `event ${kind(event)}${event.sequence === this.chosen ? " chosen" : ""}`,
        role: "listitem",
        tabindex: "0",
      },
      h("span", { class: "event-sign", "aria-hidden": "true" }),
      h(
        "div",
        {},
        h("div", { class: "event-text" }, sentence(event.text)),
        h(
          "div",
          { class: "faint" },
          `${clock(event.time_ms)} · ${milliseconds(event.milliseconds)} · ${compact(event.entries)} entries`,
        ),
      ),
    );
    onPress(element, () => this.open({ sequence: event.sequence }));
    return element;
  }

  describe(event) {
    const { judgement: j } = event;
    const facts = [
      ["Time", clock(event.time_ms)],
      ["Origin", event.origin],
      ["Re-routed in", milliseconds(event.milliseconds)],
      [
        "Entries moved",
        `${count(event.entries)} of ${count(event.entries_total)} (${percent(event.entries, event.entries_total)})`,
      ],
      ["Blocks to send", `${count(event.blocks)}, ${plural(event.switches, "switch", "switches")}`],
      [
        "Failed after it",
        `${plural(event.all_failed.cables, "cable")}, ${plural(event.all_failed.switches, "switch", "switches")}`,
      ],
    ];
    const compareNow = h(
      "button",
      {
        type: "button",
        "data-testid": "compare-event",
        onclick: () =>
          this.app.panel.open("compare", { left: { sequence: event.sequence }, right: { now: true }, expand: true }),
      },
      "Compare with now",
    );
    return h(
      "section",
      { class: "card" },
      h(
        "header",
        { class: "part-head" },
        h("span", { class: "kicker" }, `Event ${event.sequence}`),
        h("h2", {}, sentence(event.text)),
        h(
          "button",
          { type: "button", class: "close", "aria-label": "Close the details", onclick: () => this.close() },
          "✕",
        ),
      ),
      list(facts),
      this.names("Failed", event.failed, event.failed_count),
      this.names("Repaired", event.repaired, event.repaired_count),
      j ? judgementTable(j) : h("p", { class: "faint" }, "There is no judgement of this event."),
      j ? this.lost(j) : null,
      h("div", { class: "row" }, compareNow),
    );
  }

  close() {
    this.chosen = null;
    this.update();
  }

  names(title, parts, total) {
    if (total === 0) return null;
    const { scene } = this.app.store;
    const show = (part) => {
      const found = scene.find(part);
      if (!found) return [part, " "];
      return [
        link(found.switch !== undefined ? scene.names[found.switch] : scene.cableName(found.cable), () =>
          this.app.select(found, { reveal: true, open: false }),
        ),
        h("br"),
      ];
    };
    return h(
      "details",
      { open: total <= 6 },
      h("summary", {}, `${title}: ${plural(total, "part")}`),
      h(
        "p",
        { class: "names" },
        parts.map(show),
        total > parts.length ? `… and ${count(total - parts.length)} more` : null,
      ),
    );
  }

  lost(j) {
    if (j.undelivered.length === 0) return null;
    return h(
      "details",
      { open: true },
      h("summary", {}, `Lost pairs: ${count(j.lost + j.cut_off)}`),
      h(
        "ul",
        { class: "pairs", "data-testid": "lost-pairs" },
        j.undelivered.map((pair) =>
          h("li", {}, `nodes of ${pair.from} → ${pair.to} `, h("span", { class: "faint" }, pair.reason)),
        ),
      ),
    );
  }
}

/** Returns the figures of a judgement as a table. */
export function judgementTable(j) {
  const rows = [
    ["All to all", j.a2a.max, j.a2a.bound],
    ["Worst shift", j.sp.max, j.sp.bound],
    ["Random permutation", j.rp.median, j.rp.bound],
  ].map(([title, value, bound]) => ({ cells: [title, number(value), number(bound)] }));
  return table(
    "Flows on the worst cable",
    [{ title: "Flows on the worst cable" }, { title: "value", numeric: true }, { title: "bound", numeric: true }],
    rows,
  );
}
