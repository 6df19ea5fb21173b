// Search with suggestions. Results are shown below the field; Enter or a click jumps to the part and selects it.
import { announce, byId, fill, h } from "./dom.js";
import { levelName, plural } from "./format.js";

const DELAY = 120;

export class Search {
  constructor(app) {
    this.app = app;
    this.input = byId("search");
    this.list = byId("search-list");
    this.found = [];
    this.active = -1;
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("focus", () => this.later());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), DELAY);
  }

  async ask() {
    const text = this.input.value.trim();
    if (text === "") {
      this.close();
      return;
    }
    this.call?.abort();
    const call = new AbortController();
    this.call = call;
    try {
      const answer = await this.app.backend.ask("search", { q: text, limit: 20 }, call.signal);
      if (this.call === call && this.input.value.trim() === text) this.show(answer);
    } catch (error) {
      if (error.name !== "AbortError") this.app.store.say(error.message);
    }
  }

  show({ found, total }) {
    this.found = found;
    this.active = found.length > 0 ? 0 : -1;
    const { levels } = this.app.store.scene;
    const items = found.map((item, k) =>
      h(
        "li",
        {
          role: "option",
          id: `found-${k}`,
          "aria-selected": String(k === this.active),
          "data-testid": "search-result",
          onpointerdown: (event) => event.preventDefault(),
          onclick: () => this.choose(k),
        },
        h("b", {}, item.name),
        h("span", { class: "faint" }, item.kind === "switch" ? levelName(item.rank, levels) : "node"),
        h("code", {}, item.guid),
        h("span", { class: "faint" }, item.lid === null || item.lid === undefined ? "" : `LID ${item.lid}`),
      ),
    );
    if (found.length === 0)
      items.push(h("li", { class: "faint", role: "option", "aria-disabled": "true" }, "Nothing was found."));
    else if (total > found.length)
      items.push(
        h(
          "li",
          { class: "faint", role: "option", "aria-disabled": "true" },
          `${plural(total - found.length, "more result")}: type more letters.`,
        ),
      );
    fill(this.list, items);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
    announce(plural(total, "result"));
  }

  mark() {
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === this.active)));
    if (this.active >= 0) {
      this.input.setAttribute("aria-activedescendant", `found-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.ask();
      const n = this.found.length;
      if (n > 0) this.active = (this.active + (event.key === "ArrowDown" ? 1 : n - 1)) % n;
      this.mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.active >= 0) this.choose(this.active);
    } else if (event.key === "Escape") {
      this.close();
      byId("tree").focus();
    }
  }

  choose(k) {
    const item = this.found[k];
    this.close();
    this.input.value = item.name;
    const part =
      item.kind === "switch" ? { switch: item.index } : { node: item.guid, name: item.name, switch: item.index };
    this.app.select(part, { reveal: true });
    byId("tree").focus({ preventScroll: true });
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
