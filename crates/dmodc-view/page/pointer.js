// Mouse, wheel, touch and pinch on a tree: they move the camera and report hovers and clicks. A press that moves less
// than a few pixels is a click. Two fingers zoom about their middle.

const SLIP = { mouse: 4, pen: 6, touch: 10 };
const REACH = { mouse: 7, pen: 10, touch: 18 };

/** Connects the pointer events of `element` with a view. The view has `camera`, `geometry`, `hover(x, y, reach)`,
 *  `leave()` and `press(x, y, reach)`. */
export function connectPointer(element, view) {
  const pressed = new Map();
  let start = null;

  const local = (event) => {
    const frame = element.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const at = local(event);
    pressed.set(event.pointerId, at);
    if (pressed.size === 1) start = { ...at, moved: false, lane: view.geometry.laneAt(at.y) };
    else if (start) start.moved = true;
    element.setPointerCapture(event.pointerId);
  });

  element.addEventListener("pointermove", (event) => {
    const at = local(event);
    const before = pressed.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") view.hover(at.x, at.y, REACH.mouse);
      return;
    }
    if (pressed.size === 2) pinch(event.pointerId, before, at);
    else if (start) drag(event, before, at);
    pressed.set(event.pointerId, at);
  });

  function drag(event, before, at) {
    if (!start.moved && Math.hypot(at.x - start.x, at.y - start.y) > (SLIP[event.pointerType] ?? 4)) {
      start.moved = true;
      view.leave();
      element.classList.add("dragging");
    }
    if (start.moved) view.camera.pan(start.lane, at.x - before.x);
  }

  function pinch(id, before, at) {
    const other = [...pressed].find(([key]) => key !== id)[1];
    const old = Math.hypot(before.x - other.x, before.y - other.y);
    const now = Math.hypot(at.x - other.x, at.y - other.y);
    view.camera.pan(start.lane, (at.x - before.x) / 2);
    if (old > 20 && now > 20) view.camera.zoom(start.lane, now / old, (at.x + other.x) / 2);
  }

  const release = (event) => {
    const at = pressed.get(event.pointerId);
    pressed.delete(event.pointerId);
    if (pressed.size > 0) return;
    element.classList.remove("dragging");
    if (at && start && !start.moved && event.type === "pointerup")
      view.press(at.x, at.y, REACH[event.pointerType] ?? 7);
    start = null;
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", () => view.leave());

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const at = local(event);
      const lane = view.geometry.laneAt(at.y);
      const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.shiftKey || sideways) {
        view.camera.pan(lane, -(sideways ? event.deltaX : event.deltaY) * unit);
        return;
      }
      const strength = event.ctrlKey ? 0.01 : 0.0022;
      view.camera.zoom(lane, Math.exp(-Math.max(-300, Math.min(300, event.deltaY * unit)) * strength), at.x);
    },
    { passive: false },
  );
}
