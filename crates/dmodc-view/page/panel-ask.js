// Questions: the path between two nodes and back, who uses a cable, what breaks next, and how a job is placed.
import { OrderSection } from "./ask-order.js";
import { WhatIfSection } from "./ask-whatif.js";
import { announce, fill, h } from "./dom.js";
import { count, plural, ranges } from "./format.js";
import { link } from "./panel-part.js";

export class AskPage {
  constructor(app, element) {
    this.app = app;
    this.from = h("input", {
      type: "text",
      id: "path-from",
      "data-testid": "path-from",
      list: "node-names",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "From: name, GUID or LID",
      "aria-label": "From this node",
    });
    this.to = h("input", {
      type: "text",
      id: "path-to",
      "data-testid": "path-to",
      list: "node-names",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "To: name, GUID or LID",
      "aria-label": "To this node",
    });
    this.names = h("datalist", { id: "node-names" });
    this.answer = h("div", { "data-testid": "path-answer" });
    this.users = h("section", { "data-testid": "destinations", hidden: true });
    this.whatif = new WhatIfSection(app);
    this.order = new OrderSection(app);
    for (const input of [this.from, this.to]) input.addEventListener("input", () => this.suggest(input.value.trim()));
    const swap = () => ([this.from.value, this.to.value] = [this.to.value, this.from.value]);
    fill(
      element,
      h("h2", {}, "Ask"),
      this.users,
      h("h3", {}, "Path between two nodes"),
      h(
        "form",
        { class: "stack", onsubmit: (event) => this.path(event) },
        this.from,
        this.to,
        h(
          "div",
          { class: "row" },
          h("button", { type: "submit", class: "primary", "data-testid": "path-ask" }, "Show the path"),
          h("button", { type: "button", title: "Exchange both ends", onclick: swap }, "⇅"),
          h("button", { type: "button", onclick: () => this.clear() }, "Clear"),
        ),
      ),
      this.names,
      this.answer,
      this.whatif.element,
      this.order.element,
    );
    app.store.addEventListener("state", () => this.again());
    app.addEventListener("scene", () => this.clear());
  }

  open({ from, to, cable } = {}) {
    if (from) this.from.value = from;
    if (to) this.to.value = to;
    if (cable) this.destinations(cable);
    if (from || to) (this.from.value === "" ? this.from : this.to).focus();
  }

  suggest(text) {
    clearTimeout(this.timer);
    if (text.length < 2) return;
    this.timer = setTimeout(async () => {
      try {
        const { found } = await this.app.backend.ask("search", { q: text, limit: 20 });
        fill(
          this.names,
          found.filter((item) => item.kind === "node").map((item) => h("option", { value: item.name })),
        );
      } catch {
        // Suggestions are a convenience; the question itself reports what is wrong.
      }
    }, 150);
  }

  clear() {
    this.asked = null;
    fill(this.answer);
    this.app.highlight({});
  }

  async path(event) {
    event.preventDefault();
    const [from, to] = [this.from.value.trim(), this.to.value.trim()];
    if (from === "" || to === "") {
      (from === "" ? this.from : this.to).focus();
      return;
    }
    this.asked = { from, to };
    await this.askPath(true);
  }

  /** After a change the routes may be others: the question is asked again. */
  again() {
    if (this.asked && this.app.view.shown.routes.length > 0 && this.revision !== this.app.store.state.revision)
      this.askPath(false);
  }

  async askPath(reveal) {
    const asked = this.asked;
    this.revision = this.app.store.state.revision;
    try {
      const { there, back } = await this.app.backend.ask("path", asked);
      if (this.asked !== asked) return;
      this.show(asked, there, back, reveal);
    } catch (error) {
      fill(this.answer, h("p", { class: "bad" }, error.message));
      this.app.highlight({});
    }
  }

  show({ from, to }, there, back, reveal) {
    const { scene } = this.app.store;
    const route = (answer, style) => {
      const cables = answer.hops
        .filter((hop) => hop.cable !== null)
        .map((hop) => ({ cable: hop.cable, up: scene.a[hop.cable] === hop.index }));
      const alternatives = answer.hops
        .flatMap((hop) => others(hop).map((port) => scene.find(`${hop.guid}/${port}`)?.cable))
        .filter((c) => c !== undefined);
      return { style, cables, alternatives, switches: answer.hops.map((hop) => hop.index) };
    };
    const routes = [route(there, "there"), route(back, "back")];
    this.app.highlight({ routes, reveal: reveal ? routes.flatMap((one) => one.switches) : [] });
    fill(this.answer, this.steps("There", "there", from, to, there), this.steps("Back", "back", to, from, back));
    announce(
      `There: ${there.fate}, ${plural(there.hops.length, "switch", "switches")}. Back: ${back.fate}, ${plural(back.hops.length, "switch", "switches")}.`,
    );
  }

  steps(title, style, from, to, route) {
    const hops = route.hops.map((hop) =>
      h(
        "li",
        {},
        hop.in_port === null ? null : h("span", { class: "port" }, hop.in_port),
        link(hop.switch, () => this.app.select({ switch: hop.index }, { reveal: true, open: false })),
        hop.out_port === null ? null : h("span", { class: "port" }, hop.out_port),
        others(hop).length > 0 ? h("span", { class: "faint" }, ` or by ${ranges(others(hop))}`) : null,
      ),
    );
    return h(
      "section",
      { class: `route ${style}` },
      h("h4", {}, h("span", { class: `swatch ${style}`, "aria-hidden": "true" }), `${title}: ${from} → ${to}`),
      route.delivered
        ? null
        : h(
            "p",
            { class: "bad" },
            `✕ The packet is not delivered: it ${route.fate === "loops" ? "loops" : "is lost"}.`,
          ),
      h("ol", { class: "hops" }, hops),
    );
  }

  async destinations(cable) {
    this.users.hidden = false;
    fill(this.users, h("p", { class: "faint" }, "Being computed…"));
    try {
      const { ends } = await this.app.backend.ask("destinations", { cable, limit: 50 });
      fill(
        this.users,
        h("h3", {}, "Who uses this cable"),
        ends.map((end) =>
          h(
            "details",
            { open: true },
            h(
              "summary",
              {},
              `Out of ${end.from} port ${end.port}: ${plural(end.total, "destination")}, ${plural(end.flows, "flow")}`,
            ),
            h(
              "p",
              { class: "names" },
              end.destinations.map((node) => [
                link(node.name, () => this.app.select({ node: node.guid ?? node.name })),
                " ",
              ]),
              end.total > end.destinations.length ? `… and ${count(end.total - end.destinations.length)} more` : null,
            ),
          ),
        ),
      );
    } catch (error) {
      fill(this.users, h("p", { class: "bad" }, error.message));
    }
  }
}

/** Returns the ports that would lead as near to the destination as the chosen one. */
function others(hop) {
  return hop.alternatives.filter((port) => port !== hop.out_port);
}
