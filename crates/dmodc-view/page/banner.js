// The banner below the top bar: a lost connection, a needed token, the state of a followed fabric. Also the messages
// ("toasts") that go away by themselves.
import { announce, byId, fill, h } from "./dom.js";
import { age } from "./format.js";

export class Banner {
  constructor(app) {
    this.app = app;
    this.element = byId("banner");
    app.store.addEventListener("connection", () => this.update());
    for (const name of ["state", "status"]) app.store.addEventListener(name, () => this.update());
    app.store.addEventListener("message", (event) => this.toast(event.detail));
    app.backend.addEventListener("token", () => this.askToken());
    setInterval(() => this.update(), 1000);
  }

  /** Says that the first load failed. The caller tries again. */
  failed(text) {
    this.element.hidden = false;
    this.element.className = "banner bad";
    fill(this.element, `${text} The page tries again by itself.`);
  }

  update() {
    const { store, backend } = this.app;
    if (!store.state) return;
    const follow = store.state.follow;
    if (!store.online) {
      this.write(
        "bad",
        "The server does not answer. What you see may be old; the page tries again by itself.",
        h("button", { type: "button", onclick: () => backend.retry() }, "Try now"),
      );
    } else if (follow) {
      const seen = follow.seen_ms ? `read ${age(follow.seen_ms)} ago` : "not read yet";
      const text = `Following ${follow.source}, every ${follow.every_s} s: ${seen}. The page only looks; breaking and repairing are off.${follow.plugin ? ` Plugin: ${follow.plugin}.` : ""}`;
      this.write(follow.error ? "bad" : "follow", follow.error ? `${text} Error: ${follow.error}` : text);
    } else this.element.hidden = true;
  }

  write(kind, text, button = null) {
    this.element.hidden = false;
    this.element.className = `banner ${kind}`;
    if (this.element.dataset.text === text && this.element.childNodes.length > 0) return;
    this.element.dataset.text = text;
    fill(this.element, h("span", {}, text), button);
  }

  toast(text) {
    const element = h("div", { class: "toast", "data-testid": "toast" }, text);
    byId("toasts").append(element);
    while (byId("toasts").childNodes.length > 4) byId("toasts").firstChild.remove();
    announce(text);
    setTimeout(() => element.remove(), 7000);
  }

  askToken() {
    const dialog = byId("token-dialog");
    if (dialog.open) return;
    const input = h("input", { type: "password", id: "token", autocomplete: "off", "aria-label": "Token" });
    const form = h(
      "form",
      { method: "dialog", onsubmit: () => this.app.backend.useToken(input.value.trim()) },
      h("h2", { id: "token-title" }, "This server needs a token"),
      h("p", {}, "The person who started the server has it. It is kept until this tab is closed."),
      input,
      h("button", { type: "submit", class: "primary" }, "Go on"),
    );
    fill(dialog, form);
    dialog.showModal();
  }
}
