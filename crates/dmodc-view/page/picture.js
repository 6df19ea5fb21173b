// A picture of the drawing, or of both drawings of a comparison, with a line of text that says what it shows.
import { count, number } from "./format.js";
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
  context.fillText(app.compare.isOpen ? app.compare.title : caption(app), 12 * ratio, height + foot / 2, width - 24 * ratio);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function caption({ store }) {
  const { scene, state, condition } = store;
  const { scale } = condition;
  const bound = scale.bound ? `, bound ${number(scale.bound)}` : "";
  return `${scene.title} · ${count(scene.nodes)} nodes · ${state.engine} · ${count(condition.failedCables)} cables and ${count(condition.failedSwitches)} switches failed · load ${store.pattern}: max ${number(scale.max)}${bound}`;
}
