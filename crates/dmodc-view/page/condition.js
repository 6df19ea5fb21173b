// The condition of the drawn fabric at one revision: what failed, and what each cable, switch and bundle carries.
// A condition is made from the scene, lists of failed parts and loads; a comparison has two of them over one scene.
import { Scale } from "./colours.js";

/** States of a cable. A cable `UNUSED` works itself but ends at a failed switch. */
export const WORKS = 0;
export const FAILED = 1;
export const MISSING = 2;
export const UNUSED = 3;

/** A load that grows by less than this part of it counts as the same. */
const SMALL = 0.004;

export class Condition {
  constructor(scene) {
    this.scene = scene;
    this.revision = -1;
    this.cable = new Uint8Array(scene.cableCount);
    this.failedSwitch = new Uint8Array(scene.switchCount);
    this.load = new Float32Array(scene.cableCount);
    this.up = new Float32Array(scene.cableCount);
    this.down = new Float32Array(scene.cableCount);
    this.worstOfSwitch = new Float32Array(scene.switchCount);
    const n = scene.bundles.length;
    this.bundleWorst = new Float32Array(n);
    this.bundleFailed = new Uint32Array(n);
    this.bundleMissing = new Uint32Array(n);
    this.bundleAlive = new Uint32Array(n);
    this.boxFailed = new Uint32Array(scene.boxes.length);
    this.scale = new Scale(null);
    this.hasLoads = false;
    this.hotter = new Uint8Array(scene.cableCount);
    this.bundleHotter = new Uint8Array(n);
  }

  /** Takes the failed switches and cables; `missing` cables were never there. */
  setFailed(failed, missing = []) {
    const { scene } = this;
    this.failedSwitch.fill(0);
    this.cable.fill(WORKS);
    for (const s of failed.switches) this.failedSwitch[s] = 1;
    for (let c = 0; c < scene.cableCount; c++) {
      if (this.failedSwitch[scene.a[c]] | this.failedSwitch[scene.b[c]]) this.cable[c] = UNUSED;
    }
    for (const c of failed.cables) this.cable[c] = FAILED;
    for (const c of missing) this.cable[c] = MISSING;
    this.failedSwitches = failed.switches.length;
    this.failedCables = failed.cables.length - missing.length;
    this.missingCables = missing.length;
    this.sum();
  }

  /** Takes the answer of `/loads`, or null. Loads of an older revision stay until new ones come. With `compare`, cables
   *  that carry more than before are remembered in `hotter`. Returns how many there are. */
  setLoads(loads, compare = false) {
    const before = compare && this.hasLoads ? this.load.slice() : null;
    this.hasLoads = loads !== null;
    this.scale = new Scale(loads);
    const flat = loads?.loads;
    const rate = this.scale.measure === "rate";
    for (let c = 0; c < this.load.length; c++) {
      const up = flat ? (flat[2 * c] ?? NaN) : NaN;
      const down = flat ? (flat[2 * c + 1] ?? NaN) : NaN;
      this.up[c] = up;
      this.down[c] = down;
      this.load[c] = worse(up, down, rate);
    }
    this.sum();
    return this.markHotter(before, rate);
  }

  markHotter(before, rate) {
    this.hotter.fill(0);
    this.bundleHotter.fill(0);
    if (!before) return 0;
    let found = 0;
    for (let c = 0; c < this.load.length; c++) {
      const [old, now] = rate ? [-before[c], -this.load[c]] : [before[c], this.load[c]];
      if (this.cable[c] !== WORKS || !(now > old + Math.abs(old) * SMALL)) continue;
      this.hotter[c] = 1;
      this.bundleHotter[this.scene.bundleOf[c]] = 1;
      found++;
    }
    return found;
  }

  /** Sums up cables into switches, bundles and boxes. */
  sum() {
    const { scene, cable, load } = this;
    const rate = this.scale.measure === "rate";
    this.worstOfSwitch.fill(NaN);
    this.bundleWorst.fill(NaN);
    this.bundleFailed.fill(0);
    this.bundleMissing.fill(0);
    this.bundleAlive.fill(0);
    this.boxFailed.fill(0);
    for (let c = 0; c < scene.cableCount; c++) {
      const bundle = scene.bundleOf[c];
      if (cable[c] === WORKS) {
        this.bundleAlive[bundle]++;
        this.bundleWorst[bundle] = worse(this.bundleWorst[bundle], load[c], rate);
        this.worstOfSwitch[scene.a[c]] = worse(this.worstOfSwitch[scene.a[c]], load[c], rate);
        this.worstOfSwitch[scene.b[c]] = worse(this.worstOfSwitch[scene.b[c]], load[c], rate);
      } else if (cable[c] === FAILED) this.bundleFailed[bundle]++;
      else if (cable[c] === MISSING) this.bundleMissing[bundle]++;
    }
    for (let s = 0; s < scene.switchCount; s++) if (this.failedSwitch[s]) this.boxFailed[scene.boxOf[s]]++;
  }

  isFailed(selected) {
    if (selected.switch !== undefined) return this.failedSwitch[selected.switch] === 1;
    return this.cable[selected.cable] === FAILED || this.cable[selected.cable] === MISSING;
  }

  /** Returns the condition of a cable in words. */
  word(c) {
    return ["works", "failed", "missing: it was never there", "unused: a switch at its end failed"][this.cable[c]];
  }
}

/** Returns the worse of two loads: the larger number of flows, or the smaller rate. NaN means that there is no flow. */
export function worse(p, q, rate) {
  if (Number.isNaN(p)) return q;
  if (Number.isNaN(q)) return p;
  return rate ? Math.min(p, q) : Math.max(p, q);
}
