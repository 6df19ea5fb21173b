// The keys. Keys of the tree work while it has the focus; single letters work everywhere but in fields. The list of
// keys in `help.js` documents them.
import { byId } from "./dom.js";

/** Connects all keys of the page. */
export function connectKeyboard(app) {
  byId("tree").addEventListener("keydown", (event) => treeKey(app, event));
  document.addEventListener("keydown", (event) => pageKey(app, event));
}

function pageKey(app, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing) return;
  const { store, camera } = app;
  const tabs = app.panel.names;
  const actions = {
    "/": () => byId("search").focus(),
    "?": () => app.help.open(),
    u: () => store.state.can_undo && store.canChange && store.change("undo", {}),
    r: () => store.state.can_redo && store.canChange && store.change("redo", {}),
    R: () => store.canChange && store.change("reset", {}),
    b: () => store.canChange && app.setBreaking(!app.breaking),
    t: () => app.theme.toggle(),
    "+": () => camera.step(camera.body, 1.5),
    "=": () => camera.step(camera.body, 1.5),
    "-": () => camera.step(camera.body, 1 / 1.5),
    0: () => camera.fit(),
    Escape: () => escape(app),
  };
  tabs.forEach((name, k) => (actions[String(k + 1)] = () => app.panel.open(name, { focus: true, expand: true })));
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function escape(app) {
  if (app.compare.isOpen) app.compare.close();
  else if (app.view.shown.routes.length + app.view.shown.marks.length > 0) app.highlight({});
  else if (app.selected) app.select(null);
  else app.camera.fit();
}

function treeKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { camera } = app;
  const lane = camera.lane(app.selected?.switch !== undefined ? app.store.scene.rank[app.selected.switch] : 0);
  const actions = {
    ArrowLeft: () => (event.shiftKey ? camera.pan(lane, 80) : side(app, -1)),
    ArrowRight: () => (event.shiftKey ? camera.pan(lane, -80) : side(app, 1)),
    ArrowUp: () => (event.shiftKey ? camera.step(lane, 1.5) : level(app, 1)),
    ArrowDown: () => (event.shiftKey ? camera.step(lane, 1 / 1.5) : level(app, -1)),
    Home: () => rowEnd(app, 0),
    End: () => rowEnd(app, 1),
    PageUp: () => nextBox(app, -1),
    PageDown: () => nextBox(app, 1),
    c: () => nextCable(app, 1),
    C: () => nextCable(app, -1),
    Enter: () => app.selected && app.panel.open("part", { focus: true, expand: true }),
    Delete: () => toggle(app),
    Backspace: () => toggle(app),
    x: () => toggle(app),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  actions[event.key]();
}

function toggle(app) {
  const { selected, store } = app;
  if (selected && !selected.node && (selected.switch !== undefined || selected.cable !== undefined) && store.canChange)
    store.toggle(selected);
}

/** Returns the switch from which arrow keys start: the selected one, an end of the selected cable, or the first leaf. */
function current(app) {
  const { scene } = app.store;
  const { selected } = app;
  if (selected?.switch !== undefined) return selected.switch;
  if (selected?.cable !== undefined) return scene.a[selected.cable];
  return null;
}

function go(app, s) {
  app.select({ switch: s }, { reveal: true, open: false });
}

function side(app, step) {
  const { scene } = app.store;
  if (app.selected?.cable !== undefined) {
    nextCable(app, step);
    return;
  }
  const s = current(app);
  if (s === null) {
    go(app, scene.rows[0][0].members[0]);
    return;
  }
  const box = scene.boxes[scene.boxOf[s]];
  const row = box.rank < 0 ? scene.strays : scene.rows[box.rank];
  const slot = scene.slotOf[s] + step;
  if (slot >= 0 && slot < box.members.length) go(app, box.members[slot]);
  else {
    const next = row[row.indexOf(box) + step];
    if (next) go(app, step > 0 ? next.members[0] : next.members[next.members.length - 1]);
  }
}

/** Moves to the neighbour above or below: the end of the selected cable, or the nearest neighbour by place. */
function level(app, step) {
  const { scene } = app.store;
  const { selected } = app;
  if (selected?.cable !== undefined) {
    go(app, step > 0 ? scene.b[selected.cable] : scene.a[selected.cable]);
    return;
  }
  const s = current(app);
  if (s === null) {
    side(app, 1);
    return;
  }
  const places = [...scene.cablesOf(s)]
    .filter((c) => (step > 0 ? scene.a[c] === s : scene.b[c] === s))
    .map((c) => (step > 0 ? scene.b[c] : scene.a[c]));
  if (places.length === 0) return;
  const { geometry } = app.view;
  const x = geometry.switchCentre(s).x;
  go(
    app,
    places.reduce((best, t) =>
      Math.abs(geometry.switchCentre(t).x - x) < Math.abs(geometry.switchCentre(best).x - x) ? t : best,
    ),
  );
}

function rowEnd(app, end) {
  const { scene } = app.store;
  const s = current(app) ?? scene.rows[0][0].members[0];
  const row = scene.rank[s] < 0 ? scene.strays : scene.rows[scene.rank[s]];
  const box = end === 0 ? row[0] : row[row.length - 1];
  go(app, end === 0 ? box.members[0] : box.members[box.members.length - 1]);
}

function nextBox(app, step) {
  const { scene } = app.store;
  const s = current(app) ?? scene.rows[0][0].members[0];
  const box = scene.boxes[scene.boxOf[s]];
  const row = box.rank < 0 ? scene.strays : scene.rows[box.rank];
  const next = row[row.indexOf(box) + step];
  if (next) go(app, next.members[Math.min(scene.slotOf[s], next.members.length - 1)]);
}

/** Selects the next cable of the switch from which the user started. */
function nextCable(app, step) {
  const { scene } = app.store;
  const { selected } = app;
  const s =
    selected?.cable !== undefined
      ? (app.cableOwner ?? scene.a[selected.cable])
      : (current(app) ?? scene.rows[0][0].members[0]);
  const cables = [...scene.cablesOf(s)];
  if (cables.length === 0) return;
  const at = selected?.cable !== undefined ? cables.indexOf(selected.cable) : step > 0 ? -1 : 0;
  app.cableOwner = s;
  app.select({ cable: cables[(at + step + cables.length) % cables.length] }, { reveal: true, open: false });
}
