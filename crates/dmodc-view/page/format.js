// How numbers, times and names are written, in one place so that the whole page agrees.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

/** Returns a count with separators, such as "11,664". */
export function count(value) {
  return value === null || value === undefined ? "–" : whole.format(value);
}

/** Returns a count in few characters, such as "1.2M", from 100,000 upwards; exact below. */
export function compact(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) < 100000 ? number(value) : short.format(value);
}

/** Returns a number with at most three significant decimals: whole numbers stay whole. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return whole.format(value);
  const size = Math.abs(value);
  return value.toLocaleString("en-GB", { maximumFractionDigits: size < 1 ? 3 : size < 100 ? 2 : 0 });
}

/** Returns "1 cable" or "5 cables". */
export function plural(value, one, many = one + "s") {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Returns a time of computing in milliseconds or seconds. */
export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 10000) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 100) return `${Math.round(value)} ms`;
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

/** Returns the part of a whole as a percentage. */
export function percent(part, all) {
  if (!all) return "–";
  const value = (100 * part) / all;
  if (value > 0 && value < 0.01) return "< 0.01%";
  return `${value.toLocaleString("en-GB", { maximumFractionDigits: value < 1 ? 2 : 1 })}%`;
}

/** Returns the clock time of an event; with the date if it was not today. */
export function clock(time) {
  const date = new Date(time);
  const hours = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? hours : `${date.toLocaleDateString("en-GB")} ${hours}`;
}

/** Returns an age such as "3 s" or "5 min". */
export function age(time) {
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** Returns the name of a level: "leaves", "level 2" or "top". */
export function levelName(rank, levels) {
  if (rank === null || rank < 0) return "cut off";
  if (rank === 0) return "leaves";
  return rank === levels - 1 ? "top" : `level ${rank + 1}`;
}

/** Returns a load in the words of its measure: flows, or the share of a cable's speed. */
export function load(value, measure) {
  if (value === null || value === undefined || Number.isNaN(value)) return "no flow";
  return measure === "rate"
    ? `${Math.round(value * 100)}% of full speed`
    : `${number(value)} ${value === 1 ? "flow" : "flows"}`;
}

/** Returns a list of numbers with runs shortened: 1, 2, 3 and 7 become "1–3, 7". */
export function ranges(numbers) {
  const parts = [];
  for (const value of [...numbers].sort((p, q) => p - q)) {
    const last = parts.at(-1);
    if (last && value === last.to + 1) last.to = value;
    else parts.push({ from: value, to: value });
  }
  return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** Returns text with its first letter as a capital, unless it begins with a name such as "rlft-36". */
export function sentence(text) {
  return /^[a-z]+(?![\w-])/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
}
