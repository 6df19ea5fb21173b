// How a job is placed: the order of its hosts in which their traffic meets least, before and after.
import { announce, fill, h, table } from "./dom.js";
import { count, number, plural } from "./format.js";

const MOST_NAMES = 500;

export class OrderSection {
  constructor(app) {
    this.app = app;
    this.hosts = h("textarea", {
      id: "order-hosts",
      "data-testid": "order-hosts",
      rows: "3",
      spellcheck: "false",
      placeholder: "Names of hosts, by spaces, commas or lines; empty: all nodes",
      "aria-label": "Hosts of the job",
    });
    this.choose = h("input", {
      type: "number",
      min: "1",
      id: "order-choose",
      "data-testid": "order-choose",
      placeholder: "all",
      "aria-label": "Choose this number of hosts",
    });
    this.answer = h("div", { "data-testid": "order-answer" });
    this.element = h(
      "section",
      {},
      h("h3", {}, "How is a job placed?"),
      h("p", { class: "faint" }, "Finds an order of hosts in which their traffic meets least."),
      h(
        "form",
        { class: "stack", onsubmit: (event) => this.ask(event) },
        this.hosts,
        h(
          "div",
          { class: "row" },
          h("label", {}, "Choose ", this.choose),
          h("button", { type: "submit", class: "primary", "data-testid": "order" }, "Find an order"),
        ),
      ),
      this.answer,
    );
  }

  async ask(event) {
    event.preventDefault();
    const names = this.hosts.value.split(/[\s,;]+/).filter(Boolean);
    const choose = Math.floor(Number(this.choose.value)) || null;
    fill(this.answer, h("p", { class: "faint" }, "Being computed…"));
    try {
      this.show(await this.app.backend.ask("order", { hosts: names.length > 0 ? names : "all", choose }));
    } catch (error) {
      fill(this.answer, h("p", { class: "bad" }, error.message));
    }
  }

  show({ hosts, before, after, moved, switches }) {
    const rows = [
      ["Ring", "ring"],
      ["Worst shift", "sp"],
      ["All to all", "a2a"],
    ].map(([title, key]) => ({
      cells: [
        title,
        number(before?.[key]),
        h("span", { class: after[key] < before?.[key] ? "good" : null }, number(after[key])),
      ],
    }));
    const isBetter = ["ring", "sp", "a2a"].some((key) => after[key] < before?.[key]);
    const hostCount = plural(hosts.length, "host");
    const text =
      moved && isBetter ? `A better order of ${hostCount} was found.` : `No better order of ${hostCount} was found.`;
    const copy = h("button", { type: "button", onclick: () => this.copy(hosts) }, "Copy the list");
    fill(
      this.answer,
      h("p", {}, text),
      table(
        "Greatest number of flows on one cable",
        [{ title: "Flows on the worst cable" }, { title: "before", numeric: true }, { title: "after", numeric: true }],
        rows,
      ),
      copy,
      h(
        "details",
        {},
        h("summary", {}, "The order"),
        h(
          "p",
          { class: "names" },
          hosts.slice(0, MOST_NAMES).join(" "),
          hosts.length > MOST_NAMES ? ` … and ${count(hosts.length - MOST_NAMES)} more` : null,
        ),
      ),
    );
    const leaves = [...new Set(switches)];
    this.app.highlight({ marks: leaves.slice(0, 3000).map((s) => ({ switch: s })) });
    announce(text);
  }

  async copy(hosts) {
    try {
      await navigator.clipboard.writeText(hosts.join("\n"));
      announce("The list is in the clipboard.");
    } catch {
      this.app.store.say("The browser does not allow copying here.");
    }
  }
}
