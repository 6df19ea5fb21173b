// The strip of figures below the tree: what the last change took, and how good the routes are before and after it.
// Figures that need the judgement are marked as being computed until it arrives.
import { announce, byId, fill, h } from "./dom.js";
import { compact, count, milliseconds, number, percent, plural, sentence } from "./format.js";

export class Results {
  constructor(app) {
    this.app = app;
    this.element = byId("results");
    for (const name of ["state", "judgement", "events"]) app.store.addEventListener(name, () => this.update());
    app.store.addEventListener("judgement", () => this.tell());
    this.update();
  }

  update() {
    const { store } = this.app;
    const { state } = store;
    if (!state) return;
    const event = state.event;
    const judgement = store.judgement?.revision === state.revision ? store.judgement : null;
    const cells = [this.title(event), ...this.moved(event), this.lost(judgement, event), ...this.risks(judgement)];
    fill(this.element, cells);
    document.documentElement.dataset.judged = judgement ? String(judgement.revision) : "";
    this.element.setAttribute("aria-busy", String(!judgement));
  }

  title(event) {
    if (!event) return null;
    const failed = event.all_failed;
    const now =
      failed.switches + failed.cables === 0
        ? "Everything works."
        : `Failed: ${plural(failed.cables, "cable")}, ${plural(failed.switches, "switch", "switches")}`;
    return h(
      "button",
      {
        type: "button",
        class: "cell what",
        "data-testid": "result-event",
        title: event.text,
        onclick: () => this.app.panel.open("events", { sequence: event.sequence, expand: true }),
      },
      h("span", { class: "value text" }, sentence(event.text)),
      h("span", { class: "label" }, now),
    );
  }

  moved(event) {
    if (!event) return [];
    const whole = event.origin === "start";
    const { backend } = this.app;
    return [
      cell("re-routed in", milliseconds(event.milliseconds), {
        test: "result-ms",
        hint: `The time that new forwarding tables took ${backend.kind === "wasm" ? "in this page" : "on the server"}.`,
        strong: true,
      }),
      cell(whole ? "entries set" : "entries moved", compact(event.entries), {
        test: "result-entries",
        hint: `${count(event.entries)} of ${count(event.entries_total)} entries of forwarding tables.`,
        note: percent(event.entries, event.entries_total),
      }),
      cell("blocks sent", compact(event.blocks), {
        test: "result-blocks",
        hint: "Blocks of 64 entries that a subnet manager must send.",
        note: event.blocks > 0 ? plural(event.switches, "switch", "switches") : null,
      }),
    ];
  }

  lost(judgement, event) {
    if (!judgement) return waiting("lost pairs", "result-lost", event && !event.valid ? "some" : null, true);
    const lost = judgement.lost + judgement.cut_off;
    const note = judgement.lost > 0 ? `${compact(judgement.lost)} without need` : lost > 0 ? "cut off" : null;
    const names = judgement.undelivered
      .slice(0, 6)
      .map((pair) => `${pair.from} → ${pair.to} (${pair.reason})`)
      .join("\n");
    const content = cell("lost pairs", compact(lost), {
      test: "result-lost",
      note,
      bad: lost > 0,
      good: lost === 0,
      hint: names || "Every pair of nodes has a route.",
    });
    if (lost === 0) return content;
    content.classList.add("clickable");
    content.tabIndex = 0;
    content.setAttribute("role", "button");
    content.addEventListener("click", () => this.app.panel.open("events", { sequence: event?.sequence, expand: true }));
    return content;
  }

  risks(judgement) {
    const { before } = this.app.store;
    const risks = [
      ["all to all", "a2a", "max"],
      ["worst shift", "sp", "max"],
      ["random perm.", "rp", "median"],
    ];
    return risks.map(([label, key, field]) => {
      const old = before?.[key]?.[field];
      if (!judgement) return waiting(label, `result-${key}`, old === undefined ? null : compact(old));
      const now = judgement[key][field];
      const bound = judgement[key].bound;
      const changed = old !== undefined && compact(old) !== compact(now);
      const value = changed
        ? [
            h("span", { class: "old" }, compact(old)),
            h("span", { class: "arrow", "aria-label": "became" }, "→"),
            compact(now),
          ]
        : compact(now);
      return cell(label, value, {
        test: `result-${key}`,
        note: bound === null || bound === undefined ? null : `bound ${compact(bound)}`,
        bad: changed && now > old,
        good: changed && now < old,
        hint: `${describeRisk(key)} Now ${number(now)}; no routing can go below ${number(bound)}.`,
      });
    });
  }

  tell() {
    const { judgement, state } = this.app.store;
    const lost = judgement.lost + judgement.cut_off;
    announce(
      `${sentence(state.event?.text ?? "")}. ${milliseconds(state.event?.milliseconds)}, ${count(state.event?.entries)} entries moved, ${lost === 0 ? "no pair is lost" : `${count(lost)} pairs are lost`}. Greatest load ${number(judgement.a2a.max)}, bound ${number(judgement.a2a.bound)}.`,
    );
  }
}

function describeRisk(key) {
  if (key === "a2a") return "The greatest number of flows on one cable if every node sends to every other.";
  if (key === "sp") return "The greatest number of flows on one cable over all shifts of the nodes.";
  return "The median of the greatest number of flows on one cable over random permutations.";
}

function cell(label, value, { test, note = null, hint = "", bad = false, good = false, strong = false }) {
  const kind = bad ? " bad" : good ? " good" : "";
  return h(
    "div",
    { class: `cell${kind}${strong ? " strong" : ""}`, "data-testid": test, title: hint },
    h("span", { class: "value" }, bad ? h("span", { class: "sign", "aria-hidden": "true" }, "▲") : null, value),
    h("span", { class: "label" }, label, note ? h("span", { class: "note" }, ` · ${note}`) : null),
  );
}

function waiting(label, test, old, isFirst = false) {
  return h(
    "div",
    { class: "cell waiting", "data-testid": test, title: "This is being computed." },
    h("span", { class: "value" }, old ?? "…"),
    h("span", { class: "label" }, label, h("span", { class: "note" }, isFirst ? " · being computed" : " · …")),
  );
}
