// Parts of the fabric in words: for tooltips, for screen readers, for headings.
import { count, levelName, load, plural } from "./format.js";

/** Returns one sentence about a selected part. */
export function describe(store, part) {
  const { scene, condition } = store;
  if (part.node) return `Node ${part.node}`;
  if (part.switch !== undefined) {
    const s = part.switch;
    const nodes = scene.nodesOf[s] > 0 ? `, ${plural(scene.nodesOf[s], "node")}` : "";
    return `Switch ${scene.names[s]}, ${levelName(scene.rank[s], scene.levels)}${nodes}, ${condition.failedSwitch[s] ? "failed" : "works"}`;
  }
  if (part.cable !== undefined) return `Cable ${scene.cableName(part.cable)}, ${condition.word(part.cable)}`;
  return `Bundle ${bundleName(store, part)}`;
}

/** Returns the name of a bundle, or of the part of it that belongs to one switch. */
export function bundleName({ scene }, { bundle, lower, upper }) {
  const both = scene.bundles[typeof bundle === "number" ? bundle : bundle.index];
  const end = (s, b) =>
    s >= 0 ? scene.names[s] : `${scene.boxes[b].label} (${levelName(scene.boxes[b].rank, scene.levels)})`;
  return `${end(lower ?? -1, both.lower)} – ${end(upper ?? -1, both.upper)}`;
}

/** Returns the cables of a bundle, or those of it that end at one switch. */
export function bundleCables({ scene }, { bundle, lower = -1, upper = -1 }) {
  const all = scene.bundles[typeof bundle === "number" ? bundle : bundle.index].cables;
  return Array.from(all).filter((c) => (lower < 0 || scene.a[c] === lower) && (upper < 0 || scene.b[c] === upper));
}

/** Returns the lines of a tooltip: `{title, lines, bad}`. */
export function summary(store, hit, breaking) {
  const { scene, condition } = store;
  const measure = condition.scale.measure;
  if (hit.kind === "switch") {
    const s = hit.switch;
    const failed = condition.failedSwitch[s] === 1;
    const lines = [`${levelName(scene.rank[s], scene.levels)} · ${scene.boxes[scene.boxOf[s]].label}`, scene.guids[s]];
    if (scene.nodesOf[s] > 0) lines.push(plural(scene.nodesOf[s], "node"));
    if (!failed && condition.hasLoads) lines.push(`worst cable: ${load(condition.worstOfSwitch[s], measure)}`);
    return { title: scene.names[s], lines, bad: failed ? "failed" : null, action: action(failed, breaking) };
  }
  if (hit.kind === "cable") return cableSummary(store, hit.cable, breaking);
  if (hit.kind === "bundle") {
    const bad = [
      hit.failed > 0 ? `${count(hit.failed)} failed` : null,
      hit.missing > 0 ? `${count(hit.missing)} missing` : null,
    ]
      .filter(Boolean)
      .join(", ");
    const lines = [plural(hit.count, "cable")];
    if (condition.hasLoads) lines.push(`worst: ${load(hit.load, measure)}`);
    return { title: bundleName(store, hit), lines, bad: bad || null, action: "Click to open" };
  }
  const { box } = hit;
  const nodes = box.members.reduce((sum, s) => sum + scene.nodesOf[s], 0);
  const failed = condition.boxFailed[box.index];
  const lines = [`${levelName(box.rank, scene.levels)} · ${plural(box.members.length, "switch", "switches")}`];
  if (nodes > 0) lines.push(plural(nodes, "node"));
  return {
    title: box.label,
    lines,
    bad: failed > 0 ? `${plural(failed, "switch", "switches")} failed` : null,
    action: "Click to open",
  };
}

function cableSummary({ scene, condition }, c, breaking) {
  const failed = condition.isFailed({ cable: c });
  const lines = [];
  if (condition.cable[c] === 0 && condition.hasLoads) {
    const measure = condition.scale.measure;
    lines.push(`up: ${load(condition.up[c], measure)}`, `down: ${load(condition.down[c], measure)}`);
  }
  return {
    title: scene.cableName(c),
    lines,
    bad: condition.cable[c] === 0 ? null : condition.word(c),
    action: action(failed, breaking),
  };
}

function action(failed, breaking) {
  if (!breaking) return "Click for details";
  return failed ? "Click to repair" : "Click to break";
}
