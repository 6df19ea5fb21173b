// The choice of what to compare: two engines, two moments, or the intended and the actual cabling.
import { fill, h, table } from "./dom.js";
import { clock, count, plural, sentence } from "./format.js";
import { differences } from "./compare-view.js";

export class ComparePage {
  constructor(app, element) {
    this.app = app;
    this.left = h("select", { id: "compare-left", "data-testid": "compare-left", "aria-label": "Left side" });
    this.right = h("select", { id: "compare-right", "data-testid": "compare-right", "aria-label": "Right side" });
    this.file = h("input", {
      type: "file",
      id: "intended-file",
      hidden: true,
      onchange: () => this.cablingOfFile(),
    });
    this.answer = h("div", { "data-testid": "compare-answer" });
    this.stop = h(
      "button",
      { type: "button", hidden: true, "data-testid": "compare-close", onclick: () => app.compare.close() },
      "Close the comparison",
    );
    fill(
      element,
      h("h2", {}, "Compare"),
      h("h3", {}, "Engines and moments"),
      h("label", { class: "field" }, h("span", {}, "Left"), this.left),
      h("label", { class: "field" }, h("span", {}, "Right"), this.right),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "primary", "data-testid": "compare", onclick: () => this.run() },
          "Compare",
        ),
        this.stop,
      ),
      h("h3", {}, "Cabling"),
      h("p", { class: "faint" }, "How the fabric should be cabled against how it is."),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", "data-testid": "cabling-inferred", onclick: () => this.cabling("inferred") },
          "With the inferred shape",
        ),
        h(
          "button",
          { type: "button", "data-testid": "cabling-file", onclick: () => this.file.click() },
          "With a file…",
        ),
      ),
      this.file,
      this.answer,
    );
    app.store.addEventListener("events", () => (this.old = true));
    app.store.addEventListener("state", () => (this.old = true));
    app.addEventListener("compare", () => this.changed());
  }

  open({ left, right } = {}) {
    if (this.old !== false) this.options();
    if (left) this.left.value = JSON.stringify(left);
    if (right) this.right.value = JSON.stringify(right);
    if (left && right) this.run();
  }

  /** Fills both choices: now, each engine, each known event. */
  options() {
    const { scene, events, state } = this.app.store;
    const kept = [this.left.value, this.right.value];
    const option = (side, text) => h("option", { value: JSON.stringify(side) }, text);
    const make = () => [
      option({ now: true }, `now (${state.engine})`),
      h(
        "optgroup",
        { label: "Engines, with the present faults" },
        scene.engines.map((name) => option({ engine: name }, name)),
      ),
      h(
        "optgroup",
        { label: "Moments" },
        events
          .slice(0, 200)
          .map((event) =>
            option({ sequence: event.sequence }, `${clock(event.time_ms)} ${sentence(event.text).slice(0, 60)}`),
          ),
      ),
    ];
    fill(this.left, make());
    fill(this.right, make());
    const other = scene.engines.find((name) => name !== state.engine) ?? state.engine;
    this.left.value = kept[0] || JSON.stringify({ now: true });
    this.right.value = kept[1] || JSON.stringify({ engine: other });
    if (!this.left.value) this.left.selectedIndex = 0;
    if (!this.right.value) this.right.selectedIndex = 0;
    this.old = false;
  }

  async run() {
    fill(this.answer, h("p", { class: "faint" }, "Being computed…"));
    try {
      const answer = await this.app.backend.ask("compare", {
        left: JSON.parse(this.left.value),
        right: JSON.parse(this.right.value),
      });
      this.app.compare.open(answer.left, answer.right);
      fill(this.answer, differences(this.app, answer));
    } catch (error) {
      fill(this.answer, h("p", { class: "bad" }, error.message));
    }
  }

  async cablingOfFile() {
    const [file] = this.file.files;
    this.file.value = "";
    if (file) await this.cabling(await file.text());
  }

  async cabling(intended) {
    fill(this.answer, h("p", { class: "faint" }, "Being computed…"));
    try {
      const answer = await this.app.backend.ask("compare-cabling", { intended });
      this.showCabling(answer);
    } catch (error) {
      fill(this.answer, h("p", { class: "bad" }, error.message));
    }
  }

  showCabling({ equal, missing, extra, swaps, replugs }) {
    if (equal) {
      fill(this.answer, h("p", { class: "good" }, "Every cable is where it should be."));
      return;
    }
    const { state } = this.app.store;
    const known = missing.map((one) => one.cable).filter((c) => c !== null && c !== undefined);
    const empty = { switches: [], cables: [] };
    this.app.compare.open(
      { title: "intended", failed: empty },
      { title: "actual", failed: { switches: state.failed.switches, cables: known }, missing: known },
    );
    const ends = (one) => `${one.from}/${one.port} – ${one.to}/${one.to_port}`;
    const row = (one) => ({
      cells: [ends(one)],
      label: `Show ${ends(one)}`,
      onclick:
        one.cable === null || one.cable === undefined ? undefined : () => this.app.compare.reveal({ cable: one.cable }),
    });
    const part = (title, list) =>
      list.length === 0
        ? null
        : h(
            "details",
            { open: list.length < 40 },
            h("summary", {}, `${title}: ${count(list.length)}`),
            table(title, [{ title: "Cable" }], list.slice(0, 500).map(row)),
          );
    fill(
      this.answer,
      h("p", {}, `The cabling differs. ${plural(replugs, "re-plug")} would mend it.`),
      swaps.length > 0
        ? h(
            "details",
            { open: true },
            h("summary", {}, `Swapped: ${count(swaps.length)}`),
            h(
              "ul",
              { class: "pairs" },
              swaps.map((swap) => h("li", {}, swap.text)),
            ),
          )
        : null,
      part("Missing", missing),
      part("Not intended", extra),
    );
  }

  changed() {
    this.stop.hidden = !this.app.compare.isOpen;
  }
}
