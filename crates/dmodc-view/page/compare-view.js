// Two trees side by side over the stage. Both share one camera, so that they pan and zoom together.
import { Condition } from "./condition.js";
import { Tooltip } from "./tooltip.js";
import { TreeView } from "./tree-view.js";
import { byId, fill, h, table } from "./dom.js";
import { count, number } from "./format.js";
import { Camera } from "./camera.js";

const MOST_CABLES = 50;
const HEAD = 66;

export class CompareView {
  constructor(app) {
    this.app = app;
    this.element = byId("compare");
    this.views = [];
    this.title = "";
  }

  get isOpen() {
    return this.views.length > 0;
  }

  /** Opens the comparison. A side is `{title, failed, missing?, loads?, max?, bound?}`. */
  open(left, right) {
    this.close();
    const { app } = this;
    const { scene } = app.store;
    this.element.hidden = false;
    this.camera = new Camera(scene);
    const top = Math.max(side(left).max, side(right).max);
    const hosts = [left, right].map((one) => {
      const host = h("div", { class: "tree", tabindex: "0", role: "img", "aria-label": `Tree: ${one.title}` });
      this.element.append(h("figure", {}, h("figcaption", {}, one.title), host));
      return host;
    });
    this.element.append(
      h(
        "button",
        {
          type: "button",
          class: "compare-close",
          "aria-label": "Close the comparison",
          title: "Close (Escape)",
          onclick: () => this.close(),
        },
        "✕",
      ),
    );
    this.views = hosts.map((host) => new TreeView(host, this.camera, app.theme, HEAD));
    this.views.forEach((view, k) => this.fillView(view, [left, right][k], top));
    if (left.loads && right.loads) this.markDifferences();
    this.title = `${left.title} (left) and ${right.title} (right)`;
    byId("stage").classList.add("comparing");
    app.dispatchEvent(new Event("compare"));
  }

  fillView(view, one, top) {
    const condition = new Condition(this.app.store.scene);
    condition.setFailed(one.failed, one.missing ?? []);
    const { max, bound } = side(one);
    if (one.loads) {
      condition.setLoads({ measure: "flows", loads: one.loads, max, bound });
      // Both sides must use one scale; otherwise equal colours would mean different loads.
      condition.scale.top = Math.max(condition.scale.top, top);
      condition.sum();
    }
    view.setScene(this.app.store.scene);
    view.setCondition(condition);
    new Tooltip(this.app, view, { scene: this.app.store.scene, condition });
    view.addEventListener("press", (event) => this.press(event.detail.hit));
  }

  /** Marks on each side the cables that carry more than on the other side; a switch above the trees hides the marks. */
  markDifferences() {
    const [p, q] = this.views.map((view) => view.condition);
    const found = p.markHotter(q.load, false) + q.markHotter(p.load, false);
    if (found === 0) return;
    const box = h("input", {
      type: "checkbox",
      "data-testid": "compare-marks",
      onchange: () => this.showMarks(box.checked),
    });
    this.element.append(h("label", { class: "compare-marks" }, box, " mark what carries more"));
    box.checked = found < this.app.store.scene.cableCount / 4;
    this.showMarks(box.checked);
  }

  showMarks(isOn) {
    for (const view of this.views) view.show({ hotter: isOn });
  }

  press(hit) {
    if (!hit) return;
    if (hit.kind === "box") this.views[0].reveal({ box: hit.box.index });
    else if (hit.kind === "bundle")
      for (const b of [hit.bundle.lower, hit.bundle.upper]) this.views[0].reveal({ box: b });
    else this.reveal(hit.kind === "switch" ? { switch: hit.switch } : { cable: hit.cable });
  }

  /** Shows a part on both sides. */
  reveal(part) {
    if (!this.isOpen) {
      this.app.select(part, { reveal: true, open: false });
      return;
    }
    this.views[0].reveal(part);
    for (const view of this.views) view.show({ selected: part });
  }

  close() {
    if (!this.isOpen) return;
    for (const view of this.views) view.close();
    this.views = [];
    fill(this.element);
    this.element.hidden = true;
    byId("stage").classList.remove("comparing");
    this.app.dispatchEvent(new Event("compare"));
  }
}

/** Returns the greatest load and the bound of a side, wherever its answer holds them. */
function side(one) {
  return { max: one.max ?? 0, bound: one.bound ?? null };
}

/** Returns the table of differences of two sides, and the cables whose loads differ most. */
export function differences(app, { left, right, entries, blocks, switches }) {
  const figures = [
    ["Lost pairs", (j) => j.lost + j.cut_off],
    ["All to all, max", (j) => j.a2a.max],
    ["All to all, bound", (j) => j.a2a.bound],
    ["All to all, mean", (j) => j.a2a.mean],
    ["Worst shift", (j) => j.sp.max],
    ["Worst shift, bound", (j) => j.sp.bound],
    ["Random perm., median", (j) => j.rp.median],
    ["Random perm., max", (j) => j.rp.max],
  ];
  const rows = figures.map(([title, get]) => figureRow(title, get(left.judgement), get(right.judgement)));
  rows.push(
    figureRow("Failed cables", left.failed.cables.length, right.failed.cables.length),
    figureRow("Failed switches", left.failed.switches.length, right.failed.switches.length),
  );
  return h(
    "div",
    {},
    h("p", {}, `${count(entries)} entries, ${count(blocks)} blocks and ${count(switches)} switches differ.`),
    table(
      "Differences",
      [{ title: "" }, { title: left.title, numeric: true }, { title: right.title, numeric: true }],
      rows,
    ),
    h("h3", {}, "Loads that differ most"),
    mostDifferent(app, left, right),
  );
}

function figureRow(title, p, q) {
  return {
    cells: [
      title,
      h("span", { class: p < q ? "good" : null }, number(p)),
      h("span", { class: q < p ? "good" : null }, number(q)),
    ],
  };
}

function mostDifferent(app, left, right) {
  const { scene } = app.store;
  const found = [];
  for (let c = 0; c < scene.cableCount; c++) {
    const p = Math.max(left.loads[2 * c] ?? 0, left.loads[2 * c + 1] ?? 0);
    const q = Math.max(right.loads[2 * c] ?? 0, right.loads[2 * c + 1] ?? 0);
    if (p !== q) found.push({ c, p, q, size: Math.abs(p - q) });
  }
  if (found.length === 0) return h("p", { class: "faint" }, "All loads are equal.");
  found.sort((one, other) => other.size - one.size);
  const rows = found.slice(0, MOST_CABLES).map(({ c, p, q }) => ({
    cells: [scene.cableName(c), number(p), number(q)],
    label: `Show ${scene.cableName(c)}`,
    onclick: () => app.compare.reveal({ cable: c }),
  }));
  return [
    h("p", { class: "faint" }, `${count(found.length)} cables differ.`),
    table(
      "Cables by difference",
      [{ title: "Cable" }, { title: "left", numeric: true }, { title: "right", numeric: true }],
      rows,
      { class: "compact" },
    ),
  ];
}
