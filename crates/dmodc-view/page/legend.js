// What the colours mean: the choice of pattern and measure, and the ramp with its greatest load and its bound.
import { byId, fill, h } from "./dom.js";
import { compact } from "./format.js";
import { palette } from "./colours.js";

const PATTERNS = [
  ["a2a", "all to all"],
  ["sp", "worst shift"],
  ["rp", "random permutations"],
  ["shift", "one shift…"],
  ["perm", "one permutation…"],
];

export class Legend {
  constructor(app) {
    this.app = app;
    this.select = h(
      "select",
      {
        id: "pattern",
        "data-testid": "pattern",
        "aria-label": "Traffic pattern of the loads",
        onchange: () => this.choose(),
      },
      PATTERNS.map(([value, text]) => h("option", { value }, text)),
    );
    this.amount = h("input", {
      id: "pattern-number",
      "data-testid": "pattern-number",
      type: "number",
      min: "1",
      value: "1",
      "aria-label": "Distance of the shift, or seed of the permutation",
      onchange: () => this.choose(),
    });
    this.rate = h(
      "select",
      { id: "measure", "data-testid": "measure", "aria-label": "Measure", onchange: () => this.choose() },
      h("option", { value: "flows" }, "flows"),
      h("option", { value: "rate" }, "rate"),
    );
    this.word = h("span", {}, "Load:");
    this.scale = h("div", { class: "scale" });
    fill(
      byId("legend"),
      h("div", { class: "legend-choice" }, this.word, this.select, this.amount, this.rate),
      this.scale,
    );
    for (const name of ["loads", "state"]) app.store.addEventListener(name, () => this.update());
    app.theme.addEventListener("change", () => this.update());
    app.addEventListener("scene", () => this.update());
    this.update();
  }

  choose() {
    const kind = this.select.value;
    const pattern =
      kind === "shift" || kind === "perm"
        ? `${kind}:${Math.max(kind === "perm" ? 0 : 1, Math.floor(Number(this.amount.value) || 1))}`
        : kind;
    this.app.store.choose(pattern, this.rate.value);
    this.update();
  }

  update() {
    const { store, theme } = this.app;
    const single = /^(shift|perm)/.test(this.select.value);
    this.word.hidden = single;
    this.amount.hidden = !single;
    this.rate.hidden = !single;
    const { scale, hasLoads } = store.condition;
    const rate = scale.measure === "rate";
    const bar = h("div", { class: "ramp", role: "img", "aria-label": "Colours from low to high load" });
    bar.style.background = `linear-gradient(90deg, ${palette(theme.name).ramp.join(", ")})`;
    const bound = rate ? null : scale.bound;
    const ticks = [h("span", { class: "low" }, rate ? "100%" : "0")];
    if (bound)
      ticks.push(
        mark(
          "bound",
          compact(bound),
          scale.place(bound),
          "No routing can have a smaller greatest load than the bound.",
        ),
      );
    ticks.push(
      mark(
        "max",
        rate ? `${Math.round((this.worst() ?? 1) * 100)}%` : compact(scale.max),
        rate ? scale.place(this.worst() ?? 1) : scale.place(scale.max),
        "The greatest load of any cable.",
      ),
    );
    fill(
      this.scale,
      bar,
      h("div", { class: "ticks" }, ticks),
      h(
        "div",
        { class: "legend-foot" },
        h("div", { class: "legend-text" }, hasLoads ? this.words(rate, bound) : "loads are being computed"),
        this.kinds(),
      ),
    );
    this.scale.classList.toggle("stale", store.loads?.revision !== store.state?.revision);
  }

  worst() {
    return this.app.store.loads?.worst?.[0]?.value;
  }

  words(rate, bound) {
    const { scale } = this.app.store.condition;
    if (rate) return `slowest ${Math.round((this.worst() ?? 1) * 100)}% of full speed`;
    return bound ? `max ${compact(scale.max)} · bound ${compact(bound)}` : `max ${compact(scale.max)}`;
  }

  kinds() {
    const { condition } = this.app.store;
    return h(
      "div",
      { class: "kinds" },
      condition.failedCables + condition.failedSwitches > 0 ? h("span", { class: "kind failed" }, "failed") : null,
      condition.missingCables > 0 ? h("span", { class: "kind missing" }, "missing") : null,
    );
  }
}

function mark(name, text, place, title) {
  const element = h("span", { class: `tick ${name}`, title }, name === "bound" ? "▲" : "▼");
  element.style.left = `${place * 100}%`;
  element.setAttribute("aria-label", `${name} ${text}`);
  return element;
}
