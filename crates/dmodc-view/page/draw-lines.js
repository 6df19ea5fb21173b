// Draws the lines of a frame. Lines of one colour share one stroke; cool ones come first, hot ones lie on top, failures
// last. Failures are dashed and carry a cross, missing cables are dotted and carry a small ring: never colour alone.
import { STEPS } from "./colours.js";
import { WORKS, FAILED, MISSING, UNUSED } from "./condition.js";
import { STUB } from "./lines.js";

const CHUNK = 400;

/** From this number of lines on, lines that are not hot are at most one pixel wide: thin lines are drawn three times as
 *  fast, and wider ones would only cover each other. */
const MANY = 1200;

const MOST_MARKS = 3000;

/** Draws all lines of `lines` with the colours of a palette. */
export function drawLines(context, lines, colours, scale, width) {
  const density = crowding(lines, width);
  const buckets = sortByStep(lines, scale);
  context.lineCap = "butt";
  const stubs = indices(lines, STUB);
  drawPlain(context, lines, stubs, { style: colours.stub, width: 1 });
  for (let step = 0; step < STEPS; step++) {
    const hot = step >= scale.hotStep;
    drawByWidth(context, lines, buckets[step], {
      style: colours.ramp[step],
      factor: hot ? Math.max(density.factor, 0.6) : density.factor,
      alpha: hot ? density.hotAlpha : density.alpha,
    });
  }
  context.globalAlpha = 0.8;
  drawPlain(context, lines, indices(lines, UNUSED), { style: colours.missing, width: 0.8, dash: [2, 4] });
  drawPlain(context, lines, indices(lines, MISSING), { style: colours.missing, width: 1.2, dash: [1.5, 3.5] });
  context.globalAlpha = 1;
  drawPlain(
    context,
    lines,
    stubs.filter((k) => lines.failed[k] > 0),
    { style: colours.failed, width: 1.4, dash: [4, 3] },
  );
  drawPlain(context, lines, indices(lines, FAILED), { style: colours.failed, width: 1.6, dash: [7, 4] });
  drawMarks(context, lines, colours);
}

/** Returns how much lines must be thinned so that a dense drawing stays readable. Lines that carry no more than they must
 *  fade into a calm texture when there are many; hot lines stay strong. */
function crowding(lines, width) {
  let sum = 0;
  for (let k = 0; k < lines.length; k++) if (lines.kind[k] === WORKS) sum += lines.width[k];
  const fill = sum / Math.max(1, width);
  const alpha = Math.min(0.9, Math.max(0.13, 0.85 / (0.6 + 0.62 * fill)));
  return { factor: Math.min(1, Math.max(0.24, 1.6 / fill)), alpha, hotAlpha: Math.max(0.62, alpha) };
}

function sortByStep(lines, scale) {
  const buckets = Array.from({ length: STEPS }, () => []);
  for (let k = 0; k < lines.length; k++) if (lines.kind[k] === WORKS) buckets[scale.step(lines.load[k])].push(k);
  return buckets;
}

function indices(lines, kind) {
  const list = [];
  for (let k = 0; k < lines.length; k++) if (lines.kind[k] === kind) list.push(k);
  return list;
}

/** Draws the lines of one colour, one stroke for each class of width. */
function drawByWidth(context, lines, list, { style, factor, alpha }) {
  if (list.length === 0) return;
  const single = lines.length < 120 ? 1.9 : lines.length < 400 ? 1.4 : 1;
  const most = lines.length > MANY && list.length > 100 ? 1 : 8;
  const classes = new Map();
  for (const k of list) {
    const strength = lines.count[k] > 1 ? factor : Math.max(factor, 0.55) * single;
    const width = Math.min(most, Math.max(0.5, Math.round(lines.width[k] * strength * 2) / 2));
    if (!classes.has(width)) classes.set(width, []);
    classes.get(width).push(k);
  }
  context.globalAlpha = alpha;
  for (const [width, members] of classes) drawPlain(context, lines, members, { style, width });
  context.globalAlpha = 1;
}

/** Strokes lines in chunks: very long paths are slow to rasterise. */
function drawPlain(context, lines, list, { style, width, dash }) {
  if (list.length === 0) return;
  context.strokeStyle = style;
  context.lineWidth = width;
  if (dash) context.setLineDash(dash);
  for (let from = 0; from < list.length; from += CHUNK) {
    context.beginPath();
    const to = Math.min(list.length, from + CHUNK);
    for (let j = from; j < to; j++) {
      const k = list[j];
      context.moveTo(lines.x0[k], lines.y0[k]);
      context.lineTo(lines.x1[k], lines.y1[k]);
    }
    context.stroke();
  }
  if (dash) context.setLineDash([]);
}

/** Marks lines with failures by a cross, and lines with missing cables by a ring. */
function drawMarks(context, lines, colours) {
  const crosses = [];
  const rings = [];
  for (let k = 0; k < lines.length && crosses.length < MOST_MARKS; k++) {
    if (lines.kind[k] === STUB) continue;
    if (lines.failed[k] > 0) crosses.push(k);
    else if (lines.missing[k] > 0) rings.push(k);
  }
  const size = crosses.length > 400 ? 2.4 : crosses.length > 60 ? 3.2 : 4.5;
  for (const [style, width] of [
    [colours.halo, 4],
    [colours.failed, 2],
  ]) {
    context.strokeStyle = style;
    context.lineWidth = size < 4 ? width * 0.7 : width;
    context.beginPath();
    for (const k of crosses) {
      const { x, y } = markPlace(lines, k);
      context.moveTo(x - size, y - size);
      context.lineTo(x + size, y + size);
      context.moveTo(x + size, y - size);
      context.lineTo(x - size, y + size);
    }
    context.stroke();
  }
  context.strokeStyle = colours.missing;
  context.fillStyle = colours.halo;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const k of rings) {
    const { x, y } = markPlace(lines, k);
    context.moveTo(x + 3.5, y);
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
  }
  context.fill();
  context.stroke();
}

/** Marks of neighbouring lines are moved apart along their lines, so that they do not lie on each other. */
export function markPlace(lines, k) {
  const part = 0.38 + 0.06 * (k % 5);
  return { x: lines.x0[k] + (lines.x1[k] - lines.x0[k]) * part, y: lines.y0[k] + (lines.y1[k] - lines.y0[k]) * part };
}
