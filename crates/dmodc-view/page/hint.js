// The hint for a newcomer: one short sentence that fits what is on the screen, and goes away when it was followed.
import { byId, fill, h } from "./dom.js";

export class Hint {
  constructor(app) {
    this.app = app;
    this.element = byId("hint");
    this.done = false;
    this.changes = 0;
    app.addEventListener("pressed", () => this.update());
    app.addEventListener("mode", () => this.update());
    app.camera.addEventListener("change", () => this.later());
    app.store.addEventListener("state", () => {
      if (["user", "random", "undo"].includes(app.store.state.event?.origin) && app.store.busy > 0) this.changes++;
      this.update();
    });
    app.view.addEventListener("drawn", () => this.update(), { once: true });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), 300);
  }

  update() {
    const { app } = this;
    const text =
      this.done || !app.store.state || !app.store.canChange || !app.breaking || app.compare.isOpen ? null : this.text();
    this.element.hidden = text === null;
    if (text === null || this.shown === text) return;
    this.shown = text;
    fill(
      this.element,
      h("span", {}, text),
      h(
        "button",
        { type: "button", "aria-label": "Close the hint", "data-testid": "hint-close", onclick: () => this.close() },
        "✕",
      ),
    );
  }

  close() {
    this.done = true;
    this.element.hidden = true;
  }

  text() {
    const { geometry } = this.app.view;
    if (this.changes >= 3) return null;
    if (this.changes >= 1)
      return "The routes have healed: the highlighted cables took over. Click again to repair, or break more.";
    const anyOpen = this.app.store.scene.boxes.some(
      (box) => geometry.seen[box.index] && geometry.open[box.index] && box.rank === 0,
    );
    return anyOpen
      ? "Click a cable or a switch to break it, and watch the routes heal."
      : "Click a pod to open it, then click a cable to break it.";
  }
}
