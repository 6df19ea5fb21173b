// Draws what changes with the pointer and with questions, on a canvas of its own above the tree: the part under the
// pointer, the selected part, the routes of an answer, and marked parts. The tree below need not be drawn again for it.
import { WORKS } from "./condition.js";
import { markPlace } from "./draw-lines.js";

/** Draws the overlay. `shown` holds `hover`, `selected`, `routes` (`{cables, switches, style}`) and `marks` (parts). */
export function drawOverlay(context, lines, geometry, colours, shown) {
  for (const mark of shown.marks ?? []) drawMark(context, lines, geometry, colours.mark, mark);
  (shown.routes ?? []).forEach((route, k) => drawRoute(context, lines, geometry, colours, route, k));
  if (shown.hover) drawHover(context, lines, geometry, colours, shown.hover);
  if (shown.selected) drawSelected(context, lines, geometry, colours, shown.selected);
}

/** Draws the lines that carry more than before the last change, as strong as `strength` says. */
export function drawHotter(context, lines, colours, strength) {
  const { hotter, bundleHotter } = lines.condition;
  context.globalAlpha = strength;
  context.strokeStyle = colours.mark;
  context.lineWidth = 2;
  context.beginPath();
  for (let k = 0; k < lines.length; k++) {
    if (lines.kind[k] !== WORKS) continue;
    if (lines.cable[k] >= 0 ? !hotter[lines.cable[k]] : !bundleHotter[lines.bundle[k]]) continue;
    context.moveTo(lines.x0[k], lines.y0[k]);
    context.lineTo(lines.x1[k], lines.y1[k]);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawHover(context, lines, geometry, colours, hit) {
  if (hit.kind === "switch") {
    fan(context, lines, hit.switch, colours);
    outline(context, geometry, hit.switch, colours.select, 2);
  } else if (hit.kind === "box") {
    const b = hit.box.index;
    context.strokeStyle = colours.select;
    context.lineWidth = 2;
    context.strokeRect(
      geometry.x0[b] - 1.5,
      geometry.y(hit.box.rank) - geometry.boxHeight / 2 - 1.5,
      geometry.x1[b] - geometry.x0[b] + 3,
      geometry.boxHeight + 3,
    );
  } else if (hit.line >= 0 && hit.line < lines.length) {
    const k = hit.line;
    stroke(
      context,
      [lines.x0[k], lines.y0[k], lines.x1[k], lines.y1[k]],
      colours.halo,
      Math.max(6, lines.width[k] + 4),
    );
    stroke(
      context,
      [lines.x0[k], lines.y0[k], lines.x1[k], lines.y1[k]],
      colours.select,
      Math.max(2.5, lines.width[k] * 0.7),
    );
  }
}

/** Shows where the cables of a switch lead. */
function fan(context, lines, s, colours) {
  context.globalAlpha = 0.75;
  context.strokeStyle = colours.select;
  context.lineWidth = 1.4;
  context.beginPath();
  for (let k = 0; k < lines.length; k++) {
    if (lines.lower[k] !== s && lines.upper[k] !== s) continue;
    context.moveTo(lines.x0[k], lines.y0[k]);
    context.lineTo(lines.x1[k], lines.y1[k]);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawSelected(context, lines, geometry, colours, selected) {
  if (selected.switch !== undefined) {
    outline(context, geometry, selected.switch, colours.halo, 6);
    outline(context, geometry, selected.switch, colours.there, 3);
    return;
  }
  if (selected.cable === undefined) return;
  const ends = lines.ends(selected.cable);
  const works = lines.condition.cable[selected.cable] === WORKS;
  stroke(context, ends, colours.there, works ? 6 : 8);
  stroke(context, ends, colours.halo, works ? 2.5 : 5);
  stroke(context, ends, works ? colours.there : colours.failed, works ? 1.2 : 2, works ? [] : [7, 4]);
  const k = lines.cable.subarray(0, lines.length).indexOf(selected.cable);
  if (!works && k >= 0) cross(context, markPlace(lines, k), colours);
  for (const [x, y] of [
    [ends[0], ends[1]],
    [ends[2], ends[3]],
  ])
    disc(context, x, y, 4, colours.there, colours.halo);
}

function drawMark(context, lines, geometry, style, mark) {
  if (mark.switch !== undefined) outline(context, geometry, mark.switch, style, 2.5);
  else stroke(context, lines.ends(mark.cable), style, 2.5);
}

/** Draws a route: a thick line with arrows; the way back is dashed and moved aside by a few pixels. */
function drawRoute(context, lines, geometry, colours, route, k) {
  const style = colours[route.style];
  const shift = k * 5;
  for (const c of route.alternatives ?? []) stroke(context, lines.ends(c), style, 1.2, [2, 3]);
  route.cables.forEach(({ cable, up }) => {
    const ends = lines.ends(cable).map((value, at) => (at % 2 === 0 ? value + shift : value));
    stroke(context, ends, colours.halo, 6.5);
    stroke(context, ends, style, 3.2, k === 1 ? [9, 4] : []);
    arrow(context, up ? ends : [ends[2], ends[3], ends[0], ends[1]], style, colours.halo);
  });
  route.switches.forEach((s, at) =>
    outline(context, geometry, s, style, at === 0 || at === route.switches.length - 1 ? 3 : 2),
  );
}

function arrow(context, [x0, y0, x1, y1], style, halo) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const [x, y] = [x0 + (x1 - x0) * 0.55, y0 + (y1 - y0) * 0.55];
  context.save();
  context.translate(x, y);
  context.rotate(angle);
  context.beginPath();
  context.moveTo(9, 0);
  context.lineTo(-5, 6.5);
  context.lineTo(-5, -6.5);
  context.closePath();
  context.strokeStyle = halo;
  context.lineWidth = 3;
  context.stroke();
  context.fillStyle = style;
  context.fill();
  context.restore();
}

function outline(context, geometry, s, style, width) {
  const b = geometry.scene.boxOf[s];
  const { x, y } = geometry.switchCentre(s);
  const closed = !geometry.open[b];
  const size = closed ? geometry.cells(b).size : 0;
  const [w, t] = closed ? [Math.max(8, size), Math.max(8, size)] : [geometry.switchWidth(b), geometry.switchHeight(b)];
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  context.roundRect(x - w / 2 - 2, y - t / 2 - 2, w + 4, t + 4, 5);
  context.stroke();
}

function stroke(context, [x0, y0, x1, y1], style, width, dash = []) {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.setLineDash([]);
}

function cross(context, { x, y }, colours) {
  for (const [style, width] of [
    [colours.halo, 5],
    [colours.failed, 2.6],
  ]) {
    stroke(context, [x - 6, y - 6, x + 6, y + 6], style, width);
    stroke(context, [x + 6, y - 6, x - 6, y + 6], style, width);
  }
}

function disc(context, x, y, radius, style, halo) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = style;
  context.fill();
  context.strokeStyle = halo;
  context.lineWidth = 1.5;
  context.stroke();
}
