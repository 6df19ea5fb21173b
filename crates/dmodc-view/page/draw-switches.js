// Draws rows: open boxes with their switches and nodes, closed boxes as a matrix of cells, and labels.
import { levelName, count } from "./format.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** Draws all rows over the lines. */
export function drawSwitches(context, geometry, condition, colours) {
  const { scene } = geometry;
  for (const box of scene.boxes) {
    if (!geometry.seen[box.index]) continue;
    if (geometry.open[box.index]) drawOpen(context, geometry, condition, colours, box);
    else drawClosed(context, geometry, condition, colours, box);
    if (box.rank === 0) drawNodes(context, geometry, condition, colours, box);
  }
  drawLabels(context, geometry, colours);
}

/** Draws the bands behind the rows. They come before the lines. */
export function drawBands(context, geometry, colours) {
  context.fillStyle = colours.band;
  for (const y of geometry.rowY)
    context.fillRect(0, y - geometry.boxHeight / 2 - 5, geometry.width, geometry.boxHeight + 10);
  if (geometry.scene.strays.length > 0)
    context.fillRect(0, geometry.strayY - geometry.boxHeight / 2 - 5, geometry.width, geometry.boxHeight + 10);
}

function drawClosed(context, geometry, condition, colours, box) {
  const b = box.index;
  const [x0, x1, y] = [geometry.x0[b], geometry.x1[b], geometry.y(box.rank)];
  const half = geometry.boxHeight / 2;
  context.fillStyle = colours.box;
  context.strokeStyle = condition.boxFailed[b] > 0 ? colours.failed : colours.boxEdge;
  context.lineWidth = 1;
  roundedPath(context, x0, y - half, x1 - x0, 2 * half, Math.min(4, (x1 - x0) / 4));
  context.fill();
  context.stroke();
  const cells = geometry.cells(b);
  const gap = cells.size > 4 ? 1 : cells.size > 2.5 ? 0.5 : 0;
  box.members.forEach((s, slot) => {
    const x = cells.x + (slot % cells.columns) * cells.size;
    const top = cells.y + Math.floor(slot / cells.columns) * cells.size;
    const side = cells.size - gap;
    if (condition.failedSwitch[s]) {
      context.fillStyle = colours.failed;
      if (side > 5) drawCross(context, x + side / 2, top + side / 2, side / 2 - 0.5, colours.failed);
      else context.fillRect(x, top, side, side);
      return;
    }
    context.fillStyle = condition.hasLoads
      ? colours.ramp[condition.scale.step(condition.worstOfSwitch[s])]
      : colours.switchEdge;
    context.fillRect(x, top, side, side);
  });
}

function drawOpen(context, geometry, condition, colours, box) {
  const { scene } = geometry;
  const b = box.index;
  const y = geometry.y(box.rank);
  const slot = geometry.slotWidth(b);
  const width = geometry.switchWidth(b);
  const height = geometry.switchHeight(b);
  const half = geometry.boxHeight / 2;
  context.fillStyle = colours.box;
  context.strokeStyle = colours.boxEdge;
  context.lineWidth = 1;
  roundedPath(context, geometry.x0[b] - 1, y - half - 2, geometry.x1[b] - geometry.x0[b] + 2, 2 * half + 4, 6);
  context.globalAlpha = 0.55;
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
  const first = Math.max(0, Math.floor((-20 - geometry.x0[b]) / slot));
  const last = Math.min(box.members.length - 1, Math.ceil((geometry.width + 20 - geometry.x0[b]) / slot));
  const size = width > 64 ? 12 : width > 46 ? 11 : 9.5;
  context.font = `${size}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let k = first; k <= last; k++) {
    const s = box.members[k];
    const x = geometry.x0[b] + (k + 0.5) * slot;
    drawSwitch(context, { x, y, width, height, failed: condition.failedSwitch[s] === 1 }, colours);
    if (!condition.failedSwitch[s] && condition.hasLoads) {
      context.fillStyle = colours.ramp[condition.scale.step(condition.worstOfSwitch[s])];
      if (width >= 14) context.fillRect(x - width / 2 + 2, y + height / 2 - 4, width - 4, 2.5);
      else context.fillRect(x - width / 2 + 1, y - height / 2 + 1, width - 2, height - 2);
    }
    if (width >= 34) {
      context.fillStyle = condition.failedSwitch[s] ? colours.failed : colours.text;
      const text = clip(context, scene.names[s], width - 2);
      if (text) context.fillText(text, x, y - 1);
    }
  }
}

function drawSwitch(context, { x, y, width, height, failed }, colours) {
  context.fillStyle = failed ? colours.failedFill : colours.switchFill;
  context.strokeStyle = failed ? colours.failed : colours.switchEdge;
  context.lineWidth = failed ? 1.8 : 1;
  roundedPath(context, x - width / 2, y - height / 2, width, height, Math.min(4, width / 4));
  context.fill();
  if (failed) context.setLineDash([4, 2.5]);
  context.stroke();
  context.setLineDash([]);
  if (!failed) return;
  if (width < 34) drawCross(context, x, y, Math.min(5, width / 2 - 1), colours.failed);
  else {
    drawCross(context, x - width / 2, y - height / 2, 4.5, colours.halo, 4.5);
    drawCross(context, x - width / 2, y - height / 2, 4.5, colours.failed, 2);
  }
}

function drawCross(context, x, y, size, style, width = 1.6) {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.stroke();
}

/** Draws the nodes below their leaf: one tick for each if there is space, otherwise a strip as long as the leaf is full. */
function drawNodes(context, geometry, condition, colours, box) {
  const { scene } = geometry;
  const b = box.index;
  const top = geometry.y(0) + geometry.boxHeight / 2 + 6;
  if (!geometry.open[b]) {
    context.fillStyle = colours.node;
    context.globalAlpha = 0.55;
    context.fillRect(geometry.x0[b], top, geometry.x1[b] - geometry.x0[b], 2);
    context.globalAlpha = 1;
    return;
  }
  const slot = geometry.slotWidth(b);
  const width = geometry.switchWidth(b);
  const pitch = (width - 1) / Math.max(1, scene.mostNodes);
  box.members.forEach((s, k) => {
    const n = scene.nodesOf[s];
    const x = geometry.x0[b] + (k + 0.5) * slot - width / 2;
    if (n === 0 || x > geometry.width || x + width < 0) return;
    context.fillStyle = condition.failedSwitch[s] ? colours.failed : colours.node;
    if (pitch < 2.2) {
      context.fillRect(x, top, Math.max(1, pitch * n), 3);
      return;
    }
    const tick = Math.min(pitch - 1, 7);
    const left = x + (width - pitch * n) / 2;
    for (let d = 0; d < n; d++) {
      const tall = condition.failedSwitch[s] ? 3 : geometry.nodeHeight - 7;
      context.fillRect(left + d * pitch + (pitch - tick) / 2, top, tick, tall);
    }
  });
}

/** Writes the labels of boxes and the captions of rows at the left edge. */
function drawLabels(context, geometry, colours) {
  const { scene } = geometry;
  context.textBaseline = "middle";
  context.font = `10.5px ${FONT}`;
  for (const box of scene.boxes) {
    if (!geometry.seen[box.index]) continue;
    const isTop = box.rank === scene.levels - 1;
    if (box.rank !== 0 && !isTop) continue;
    const row = scene.rows[box.rank];
    if (row.length < 2) continue;
    const wide = geometry.x1[box.index] - geometry.x0[box.index];
    if (row.indexOf(box) % Math.max(1, Math.ceil(18 / (wide + 2))) !== 0) continue;
    const [x0, x1] = [Math.max(0, geometry.x0[box.index]), Math.min(geometry.width, geometry.x1[box.index])];
    const below = geometry.y(0) + geometry.boxHeight / 2 + geometry.nodeHeight + 7;
    const y = isTop && scene.levels > 1 ? geometry.y(box.rank) - geometry.boxHeight / 2 - 12 : below;
    const text = context.measureText(box.label).width <= x1 - x0 - 2 ? box.label : box.label.replace(/^\D+/, "");
    if (x1 - x0 < Math.min(wide, 10)) continue;
    context.textAlign = "center";
    context.fillStyle = colours.faint;
    context.fillText(text, (x0 + x1) / 2, y);
  }
  context.textAlign = "left";
  context.font = `600 10.5px ${FONT}`;
  for (let rank = 0; rank < scene.levels; rank++) {
    const text = `${levelName(rank, scene.levels)} · ${count(scene.switchesOfRow[rank])}`;
    const away = geometry.boxHeight / 2 + (rank === scene.levels - 1 && rank > 0 ? 28 : 14);
    if (geometry.small && rank === scene.levels - 1) continue;
    caption(context, text, 8, geometry.y(rank) - away, colours);
  }
  if (scene.strays.length > 0)
    caption(context, "cut off when the drawing was made", 8, geometry.strayY - geometry.boxHeight / 2 - 12, colours);
}

function caption(context, text, x, y, colours) {
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = colours.halo;
  context.strokeText(text, x, y);
  context.fillStyle = colours.faint;
  context.fillText(text, x, y);
}

/** Returns the text, or its tail after an ellipsis, if it fits; names differ at their ends. */
function clip(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  for (let k = 1; k < text.length - 1; k++) {
    const tail = `…${text.slice(k)}`;
    if (context.measureText(tail).width <= width) return tail;
  }
  return "";
}

function roundedPath(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
}
