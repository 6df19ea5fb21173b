// The list of lines to draw for one frame: single cables where both ends are open, bundles elsewhere. Lines live in
// typed arrays that grow once and are used again, because a frame may hold ten thousand of them.
//
// A line from an open switch to a place out of sight becomes a short stub: long lines to places that one cannot see only
// hide what one wants to see. From a closed box nothing is drawn to a place out of sight.
import { WORKS, FAILED, MISSING, UNUSED, worse } from "./condition.js";

export const STUB = 4;
const STUB_LENGTH = 26;

export class Lines {
  constructor() {
    this.capacity = 0;
    this.length = 0;
    this.grow(4096);
  }

  grow(capacity) {
    const floats = ["x0", "y0", "x1", "y1", "width", "load"];
    const wholes = ["cable", "bundle", "lower", "upper", "count", "failed", "missing"];
    for (const name of floats) this[name] = copy(new Float32Array(capacity), this[name]);
    for (const name of wholes) this[name] = copy(new Int32Array(capacity), this[name]);
    this.kind = copy(new Uint8Array(capacity), this.kind);
    this.capacity = capacity;
  }

  /** Collects the lines of the frame that `geometry` describes. */
  collect(scene, geometry, condition) {
    this.length = 0;
    this.scene = scene;
    this.geometry = geometry;
    this.condition = condition;
    this.rate = condition.scale.measure === "rate";
    const { open, seen } = geometry;
    for (const bundle of scene.bundles) {
      const { lower, upper } = bundle;
      if (!seen[lower] && !seen[upper]) continue;
      const lowerOpen = open[lower] && seen[lower];
      const upperOpen = open[upper] && seen[upper];
      if (lowerOpen && upperOpen) for (const c of bundle.cables) this.addCable(bundle, c);
      else if (lowerOpen) this.addRuns(bundle, bundle.cables, scene.a, true);
      else if (upperOpen) this.addRuns(bundle, bundle.byUpper, scene.b, false);
      else this.addBundle(bundle);
    }
  }

  addCable(bundle, c) {
    const { condition, scene } = this;
    const k = this.place(
      bundle,
      this.atSwitch(scene.a[c], scene.placeA[c]),
      this.atSwitch(scene.b[c], scene.placeB[c]),
    );
    if (k < 0) return;
    this.cable[k] = c;
    this.lower[k] = scene.a[c];
    this.upper[k] = scene.b[c];
    this.count[k] = 1;
    this.width[k] = 1.15;
    this.load[k] = condition.load[c];
    this.failed[k] = condition.cable[c] === FAILED ? 1 : 0;
    this.missing[k] = condition.cable[c] === MISSING ? 1 : 0;
    if (this.kind[k] !== STUB) this.kind[k] = condition.cable[c];
  }

  /** Adds one line for each run of cables of one switch in a bundle whose other end is one box. */
  addRuns(bundle, cables, ends, isLower) {
    const { scene, condition } = this;
    for (let from = 0; from < cables.length;) {
      const s = ends[cables[from]];
      let to = from;
      let [worst, alive, failed, missing, place] = [NaN, 0, 0, 0, 0];
      for (; to < cables.length && ends[cables[to]] === s; to++) {
        const c = cables[to];
        const state = condition.cable[c];
        place += isLower ? scene.placeA[c] : scene.placeB[c];
        if (state === WORKS) {
          alive++;
          worst = worse(worst, condition.load[c], this.rate);
        } else if (state === FAILED) failed++;
        else if (state === MISSING) missing++;
      }
      const total = to - from;
      const own = this.atSwitch(s, place / total);
      const other = isLower ? this.atBox(bundle.upper, bundle.upperPlace) : this.atBox(bundle.lower, bundle.lowerPlace);
      const k = isLower ? this.place(bundle, own, other) : this.place(bundle, other, own);
      if (k >= 0) {
        this.fillBundle(k, worst, alive, failed, missing, total);
        this.cable[k] = total === 1 ? cables[from] : -1;
        this.lower[k] = isLower ? s : -1;
        this.upper[k] = isLower ? -1 : s;
      }
      from = to;
    }
  }

  addBundle(bundle) {
    const { condition } = this;
    const i = bundle.index;
    const k = this.place(
      bundle,
      this.atBox(bundle.lower, bundle.lowerPlace),
      this.atBox(bundle.upper, bundle.upperPlace),
    );
    if (k < 0) return;
    this.fillBundle(
      k,
      condition.bundleWorst[i],
      condition.bundleAlive[i],
      condition.bundleFailed[i],
      condition.bundleMissing[i],
      bundle.cables.length,
    );
    this.cable[k] = bundle.cables.length === 1 ? bundle.cables[0] : -1;
    this.lower[k] = -1;
    this.upper[k] = -1;
  }

  fillBundle(k, worst, alive, failed, missing, total) {
    this.count[k] = total;
    const { lower, upper } = this.scene.bundles[this.bundle[k]];
    const room = 0.26 * Math.min(this.geometry.boxWidth(lower), this.geometry.boxWidth(upper));
    this.width[k] = Math.min(6, Math.max(1, room), 0.7 + 0.55 * Math.sqrt(alive || total));
    this.load[k] = worst;
    this.failed[k] = failed;
    this.missing[k] = missing;
    if (this.kind[k] !== STUB) this.kind[k] = alive > 0 ? WORKS : failed > 0 ? FAILED : missing > 0 ? MISSING : UNUSED;
  }

  atSwitch(s, place) {
    const { geometry, scene } = this;
    const b = scene.boxOf[s];
    const width = geometry.switchWidth(b);
    const x = geometry.x0[b] + (scene.slotOf[s] + 0.5) * geometry.slotWidth(b) + (place - 0.5) * width * 0.86;
    return { x, y: geometry.y(scene.rank[s]), half: geometry.switchHeight(b) / 2, isBox: false };
  }

  atBox(b, place) {
    const { geometry, scene } = this;
    const x = geometry.x0[b] + (geometry.x1[b] - geometry.x0[b]) * (0.06 + 0.88 * place);
    return { x, y: geometry.y(scene.boxes[b].rank), half: geometry.boxHeight / 2, isBox: true };
  }

  /** Returns the index of a new line, or -1 if both ends are out of sight. */
  place(bundle, p, q) {
    const { width } = this.geometry;
    const pSeen = p.x >= -4 && p.x <= width + 4;
    const qSeen = q.x >= -4 && q.x <= width + 4;
    if (!pSeen && !qSeen) return -1;
    if (pSeen !== qSeen && (pSeen ? p : q).isBox) return -1;
    if (this.length === this.capacity) this.grow(this.capacity * 2);
    const k = this.length++;
    const sign = p.y >= q.y ? 1 : -1;
    let [x0, y0, x1, y1] = [p.x, p.y - sign * p.half, q.x, q.y + sign * q.half];
    if (p.y === q.y) [y0, y1] = [p.y + p.half, q.y + q.half + 8];
    this.kind[k] = WORKS;
    if (pSeen !== qSeen) {
      const length = Math.hypot(x1 - x0, y1 - y0);
      const part = Math.min(1, STUB_LENGTH / length);
      if (pSeen) [x1, y1] = [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];
      else [x0, y0] = [x1 + (x0 - x1) * part, y1 + (y0 - y1) * part];
      this.kind[k] = STUB;
    }
    this.x0[k] = x0;
    this.y0[k] = y0;
    this.x1[k] = x1;
    this.y1[k] = y1;
    this.bundle[k] = bundle.index;
    return k;
  }

  /** Returns both ends of a cable as it would be drawn now: `[x0, y0, x1, y1]`. */
  ends(c) {
    const { scene, geometry } = this;
    const bundle = scene.bundles[scene.bundleOf[c]];
    const p = geometry.open[bundle.lower]
      ? this.atSwitch(scene.a[c], scene.placeA[c])
      : this.atBox(bundle.lower, bundle.lowerPlace);
    const q = geometry.open[bundle.upper]
      ? this.atSwitch(scene.b[c], scene.placeB[c])
      : this.atBox(bundle.upper, bundle.upperPlace);
    const sign = p.y >= q.y ? 1 : -1;
    return [p.x, p.y - sign * p.half, q.x, q.y + sign * q.half];
  }

  /** Returns the line nearest to a point within `reach` pixels, or -1. Failed cables win over others at equal distance. */
  nearest(x, y, reach) {
    let best = -1;
    let least = reach;
    for (let k = 0; k < this.length; k++) {
      const [x0, y0, x1, y1] = [this.x0[k], this.y0[k], this.x1[k], this.y1[k]];
      if (y < Math.min(y0, y1) - reach || y > Math.max(y0, y1) + reach) continue;
      const [dx, dy] = [x1 - x0, y1 - y0];
      const t = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(x - x0 - t * dx, y - y0 - t * dy) - (this.kind[k] === FAILED ? 0.6 : 0);
      if (distance < least) {
        least = distance;
        best = k;
      }
    }
    return best;
  }
}

function copy(target, source) {
  if (source) target.set(source);
  return target;
}
