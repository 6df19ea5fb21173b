// Draws the lines of a frame. Lines of one colour share one stroke; cool ones come first, hot ones lie on top, failures
// last. Failures are dashed and carry a cross, missing cables are dotted and carry a small ring: never colour alone.
import { STEPS } from "./colours.js";
import { WORKS, FAILED, MISSING, UNUSED } from "./condition.js";
import { STUB } from "./lines.js";

const CHUNK = 5000;

/** From this number of lines on, lines that are not hot are at most one pixel wide: thin lines are drawn three times as
 *  fast, and wider ones would only cover each other. */
const MANY = 1200;

/** Up to this number of lines, single cables are drawn wider. */
const FEW = 120;

const MOST_MARKS = 3000;

/** Draws all lines of `lines` with the colours of a palette. */
export function drawLines(context, lines, colours, scale, width) {
  const gaps = sortByGap(lines);
  const densities = gaps.map((gap) => crowding(lines, gap, width));
  const buckets = gaps.map((gap) => sortByStep(lines, gap, scale));
  context.lineCap = "butt";
  const stubs = indices(lines, STUB);
  drawPlain(context, lines, stubs, { style: colours.stub, width: 1 });
  for (let step = 0; step < STEPS; step++) {
    const hot = step >= scale.hotStep;
    densities.forEach((density, gap) =>
      drawByWidth(context, lines, buckets[gap][step], {
        style: colours.ramp[step],
        factor: hot ? Math.max(density.factor, 0.6) : density.factor,
        alpha: hot ? density.hotAlpha : density.alpha,
        isHot: hot,
      }),
    );
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

/** Returns the working lines of each gap between two rows, by the rank of their lower ends. */
function sortByGap(lines) {
  const { boxes, bundles, levels } = lines.scene;
  const gaps = Array.from({ length: levels + 1 }, () => []);
  for (let k = 0; k < lines.length; k++) {
    if (lines.kind[k] === WORKS) gaps[boxes[bundles[lines.bundle[k]].lower].rank + 1].push(k);
  }
  return gaps;
}

/** Returns how much the lines of a gap must be thinned so that it stays readable. Lines that carry no more than they must
 *  fade into a calm texture when there are many; hot lines stay strong. */
function crowding(lines, gap, width) {
  const fill = gap.reduce((sum, k) => sum + lines.width[k], 0) / Math.max(1, width);
  const alpha = Math.min(0.9, Math.max(0.16, 0.8 / (0.5 + 0.62 * fill)));
  return { factor: Math.min(1, Math.max(0.2, 0.75 / fill)), alpha, hotAlpha: Math.max(0.62, alpha) };
}

function sortByStep(lines, gap, scale) {
  const buckets = Array.from({ length: STEPS }, () => []);
  for (const k of gap) buckets[scale.step(lines.load[k])].push(k);
  return buckets;
}

function indices(lines, kind) {
  const list = [];
  for (let k = 0; k < lines.length; k++) if (lines.kind[k] === kind) list.push(k);
  return list;
}

/** Draws the lines of one colour, one stroke for each class of width. */
function drawByWidth(context, lines, list, { style, factor, alpha, isHot }) {
  if (list.length === 0) return;
  const stands = isHot && list.length < FEW;
  const single = stands || lines.length < FEW ? 1.9 : lines.length < 3 * FEW ? 1.4 : 1;
  const most = lines.length > MANY && list.length > 100 ? 1 : 8;
  const classes = new Map();
  for (const k of list) {
    const strength = lines.count[k] > 1 ? factor : Math.max(factor, stands ? 1 : 0.55) * single;
    const width = Math.min(most, Math.max(0.5, Math.round(lines.width[k] * strength * 2) / 2));
    if (!classes.has(width)) classes.set(width, []);
    classes.get(width).push(k);
  }
  context.globalAlpha = stands ? 0.95 : alpha;
  for (const [width, members] of classes) drawPlain(context, lines, members, { style, width });
  context.globalAlpha = 1;
}

/** Strokes lines, many in one path: lines of one path that cross do not add up, so the texture stays even. */
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
