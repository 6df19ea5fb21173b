// The tooltip that follows the pointer over a tree.
import { byId, fill, h } from "./dom.js";
import { summary } from "./describe.js";

export class Tooltip {
  /** `store` may be any object with a scene and a condition: a comparison has two of them. */
  constructor(app, view, store = app.store) {
    this.element = byId("tooltip");
    view.addEventListener("hover", (event) => this.move(app, store, view, event.detail));
    view.addEventListener("press", () => (this.element.hidden = true));
  }

  move(app, store, view, { hit, x, y }) {
    if (!hit) {
      this.element.hidden = true;
      return;
    }
    const { title, lines, bad, action } = summary(
      store,
      hit,
      app.breaking && app.store.canChange && store === app.store,
    );
    fill(
      this.element,
      h("b", {}, title),
      lines.map((line) => h("div", {}, line)),
      bad ? h("div", { class: "bad" }, "✕ ", bad) : null,
      store === app.store ? h("div", { class: "faint" }, action) : null,
    );
    this.element.hidden = false;
    const stage = byId("stage").getBoundingClientRect();
    const host = view.host.getBoundingClientRect();
    const [px, py] = [x + host.left - stage.left, y + host.top - stage.top];
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = px + 16 + width > stage.width ? px - width - 12 : px + 16;
    const top = py + 16 + height > stage.height ? py - height - 12 : py + 16;
    this.element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }
}
