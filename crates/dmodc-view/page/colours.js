// Colours of the canvas: a perceptually uniform, colour-blind safe ramp for loads, and the fixed colours of each theme.
// The ramp is viridis, listed at 16 places and interpolated. A hot cable must stand out from the background, so the dark
// theme runs towards yellow and the light theme runs the other way, towards dark violet. Failures are vermilion, a
// colour that the ramp does not hold, and always carry a shape as well.

const VIRIDIS = [
  [68, 1, 84],
  [72, 26, 108],
  [71, 47, 125],
  [65, 68, 135],
  [57, 86, 140],
  [49, 104, 142],
  [42, 120, 142],
  [35, 136, 142],
  [31, 152, 139],
  [34, 168, 132],
  [53, 183, 121],
  [84, 197, 104],
  [122, 209, 81],
  [165, 219, 54],
  [210, 226, 27],
  [253, 231, 37],
];

/** The number of steps that loads are drawn in: cables of one step share one stroke. */
export const STEPS = 24;

function viridis(t) {
  const place = Math.min(1, Math.max(0, t)) * (VIRIDIS.length - 1);
  const k = Math.min(VIRIDIS.length - 2, Math.floor(place));
  const part = place - k;
  return VIRIDIS[k].map((value, c) => Math.round(value + (VIRIDIS[k + 1][c] - value) * part));
}

function ramp(from, to) {
  return Array.from({ length: STEPS }, (_, k) => {
    const [r, g, b] = viridis(from + ((to - from) * k) / (STEPS - 1));
    return `rgb(${r},${g},${b})`;
  });
}

const DARK = {
  ramp: ramp(0.2, 1),
  background: "#0e131a",
  band: "#141b24",
  box: "#1a232e",
  boxEdge: "#2d3a49",
  switchFill: "#22303e",
  switchEdge: "#4d6175",
  text: "#dfe7ef",
  faint: "#8496a8",
  failed: "#ff7a45",
  failedFill: "#2c1710",
  missing: "#8a94a0",
  node: "#5f7488",
  halo: "#0e131a",
  there: "#6cc4ff",
  back: "#ff9bd2",
  select: "#ffffff",
  mark: "#f7c948",
  stub: "rgba(140,160,180,0.25)",
};
const LIGHT = {
  ramp: ramp(0.86, 0.02),
  background: "#fbfcfd",
  band: "#f2f5f8",
  box: "#ffffff",
  boxEdge: "#c9d3dd",
  switchFill: "#ffffff",
  switchEdge: "#8b9bab",
  text: "#17212b",
  faint: "#5b6b7b",
  failed: "#cf3f02",
  failedFill: "#fff0e8",
  missing: "#7d8894",
  node: "#93a3b3",
  halo: "#ffffff",
  there: "#0067c5",
  back: "#b5126f",
  select: "#0b1722",
  mark: "#e08a00",
  stub: "rgba(90,110,130,0.22)",
};

/** Returns the colours of a theme, "dark" or "light". */
export function palette(theme) {
  return theme === "dark" ? DARK : LIGHT;
}

/** What the ramp spans. It reaches twice the bound at least, so that a healthy fabric has calm colours and what is worse
 *  than it must be stands out. For rates the scale runs from 1 (full speed, cool) to 0 (hot). */
export class Scale {
  constructor(loads) {
    this.measure = loads?.measure ?? "flows";
    this.max = loads?.max ?? 0;
    this.bound = loads?.bound ?? null;
    this.top = this.measure === "rate" ? 1 : Math.max(this.max, 2 * (this.bound ?? 0), 1e-9);
  }

  /** Returns the place of a load on the ramp, from 0 (cool) to 1 (hot). */
  place(value) {
    if (Number.isNaN(value) || value < 0) return 0;
    return this.measure === "rate" ? 1 - Math.min(1, value) : Math.min(1, value / this.top);
  }

  /** Returns the first step of the ramp that counts as hot: more than the bound, or less than half of full speed. */
  get hotStep() {
    const cool = this.measure === "rate" ? 0.5 : this.bound ? this.bound / this.top : 0.6;
    return Math.min(STEPS - 1, Math.floor(cool * STEPS)) + 1;
  }

  /** Returns the step of the ramp for a load. */
  step(value) {
    return Math.min(STEPS - 1, Math.floor(this.place(value) * STEPS));
  }
}
