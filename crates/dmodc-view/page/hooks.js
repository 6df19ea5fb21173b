// Handles for end-to-end tests and benchmarks: the drawn revision, the place of a part in pixels, and the time from a
// change to the first frame that shows it.

/** Installs `window.dmodc` and keeps the data attributes of the document's root. */
export function installHooks(app) {
  const root = document.documentElement;
  let measured = -1;
  app.view.addEventListener("drawn", (event) => {
    const { revision, milliseconds } = event.detail;
    root.dataset.revision = String(revision);
    root.dataset.ready = "true";
    root.dataset.drawMilliseconds = milliseconds.toFixed(1);
    if (revision === measured) return;
    if (measured >= 0 && performance.getEntriesByName("dmodc-change-start", "mark").length > 0) {
      performance.clearMeasures("dmodc-change");
      performance.measure("dmodc-change", "dmodc-change-start");
      performance.clearMarks("dmodc-change-start");
    }
    measured = revision;
  });
  window.dmodc = {
    app,
    positionOf: (part, options = {}) => positionOf(app, part, options),
    view: () => ({
      lanes: app.camera.lanes.map(({ centre, scale, fitted }) => ({ centre, scale, fitted })),
      moving: app.camera.isMoving,
      drawn: app.view.drawn,
      breaking: app.breaking,
    }),
    zoomTo: (part) => zoomTo(app, part),
  };
}

/** Moves to a switch, a cable, a group or everything (no argument) at once. */
function zoomTo(app, part) {
  if (!part) app.camera.fit(false);
  else app.view.reveal(part.group !== undefined ? { box: boxOfGroup(app, part.group) } : part, false);
  app.camera.settle();
  app.view.drawNow();
}

function boxOfGroup(app, group) {
  const { scene } = app.store;
  return scene.boxOf[scene.group.indexOf(group)];
}

/** Returns the place of a part in client pixels. With `reveal`, it is made visible first. */
function positionOf(app, part, { reveal = true } = {}) {
  if (reveal && part.group === undefined) zoomTo(app, part);
  const { view } = app;
  const frame = view.host.getBoundingClientRect();
  const at = ({ x, y }) => ({ x: frame.left + x, y: frame.top + y });
  if (part.switch !== undefined) return at(view.geometry.switchCentre(part.switch));
  if (part.group !== undefined) {
    const b = boxOfGroup(app, part.group);
    return at({ x: (view.geometry.x0[b] + view.geometry.x1[b]) / 2, y: view.geometry.y(view.scene.boxes[b].rank) });
  }
  return at(clearPlace(view, part.cable));
}

/** Returns a point on a cable at which no other line is nearer, if there is one. */
function clearPlace(view, c) {
  const [x0, y0, x1, y1] = view.lines.ends(c);
  for (let k = 1; k < 60; k++) {
    const part = ((k * 37) % 60) / 60;
    const point = { x: x0 + (x1 - x0) * part, y: y0 + (y1 - y0) * part };
    if (point.x < 2 || point.x > view.geometry.width - 2) continue;
    if (view.hit(point.x, point.y, 7)?.cable === c && isFree(view, point)) return point;
  }
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
}

/** Returns whether the tree itself is at this point, and not a tool that lies over it. */
function isFree(view, point) {
  const frame = view.host.getBoundingClientRect();
  return document.elementFromPoint(frame.left + point.x, frame.top + point.y) === view.over;
}
