// A picture of the drawing, or of both drawings of a comparison, with a line of text that says what it shows.
import { count, number, plural } from "./format.js";
import { palette } from "./colours.js";

/** Returns the picture as a PNG blob. */
export function picture(app) {
  const views = app.compare.isOpen ? app.compare.views : [app.view];
  const colours = palette(app.theme.name);
  const { ratio } = views[0];
  const foot = 34 * ratio;
  const width = views.reduce((sum, view) => sum + view.base.width, 0);
  const height = Math.max(...views.map((view) => view.base.height));
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height + foot;
  const context = canvas.getContext("2d");
  context.fillStyle = colours.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let x = 0;
  for (const view of views) {
    context.drawImage(view.base, x, 0);
    context.drawImage(view.over, x, 0);
    x += view.base.width;
  }
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.fillStyle = colours.text;
  const ramp = 220 * ratio;
  context.fillText(
    app.compare.isOpen ? app.compare.title : caption(app),
    12 * ratio,
    height + foot / 2,
    width - ramp - 36 * ratio,
  );
  drawRamp(context, colours, {
    x: width - ramp - 12 * ratio,
    y: height + foot / 2 - 4 * ratio,
    width: ramp,
    height: 8 * ratio,
  });
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Draws the colours from low to high load. */
function drawRamp(context, colours, { x, y, width, height }) {
  const word = context.measureText("high").width + 8;
  context.fillText("low", x, y + height / 2);
  context.fillText("high", x + width - word + 8, y + height / 2);
  const [from, to] = [x + word, x + width - word];
  colours.ramp.forEach((style, k) => {
    context.fillStyle = style;
    const step = (to - from) / colours.ramp.length;
    context.fillRect(from + k * step, y, step + 1, height);
  });
}

function caption({ store }) {
  const { scene, state, condition } = store;
  const { scale } = condition;
  const bound = scale.bound ? `, bound ${number(scale.bound)}` : "";
  return `${scene.title} · ${count(scene.nodes)} nodes · ${state.engine} · failed: ${plural(condition.failedCables, "cable")}, ${plural(condition.failedSwitches, "switch", "switches")} · load ${store.pattern}: max ${number(scale.max)}${bound}`;
}
