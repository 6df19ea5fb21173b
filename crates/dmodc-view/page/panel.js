// The panel with its tabs: on a wide screen a column on the right, on a phone a sheet at the bottom that opens and
// closes. Each tab has a page, which is a class of its own.
import { AskPage } from "./panel-ask.js";
import { BreakPage } from "./panel-break.js";
import { ComparePage } from "./panel-compare.js";
import { EventsPage } from "./panel-events.js";
import { ExportPage } from "./panel-export.js";
import { PartPage } from "./panel-part.js";
import { byId, h } from "./dom.js";

const TABS = [
  ["part", "Part", PartPage],
  ["break", "Break", BreakPage],
  ["ask", "Ask", AskPage],
  ["compare", "Compare", ComparePage],
  ["events", "Events", EventsPage],
  ["export", "Export", ExportPage],
];

export class Panel {
  constructor(app) {
    this.app = app;
    this.element = byId("panel");
    this.sheet = window.matchMedia("(max-width: 760px)");
    this.names = TABS.map(([name]) => name);
    this.pages = {};
    this.tabs = {};
    this.bodies = {};
    for (const [name, title, Page] of TABS) this.add(name, title, Page);
    byId("handle").addEventListener("click", () => this.expand(!this.element.classList.contains("expanded")));
    byId("tabs").addEventListener("keydown", (event) => this.key(event));
    this.open("part", { expand: false });
  }

  get isSheet() {
    return this.sheet.matches;
  }

  add(name, title, Page) {
    const tab = h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "data-testid": `tab-${name}`,
        "aria-controls": `page-${name}`,
        onclick: () => this.open(name, { expand: true }),
      },
      title,
    );
    const body = h("div", {
      class: "page",
      role: "tabpanel",
      id: `page-${name}`,
      "data-testid": `page-${name}`,
      "aria-labelledby": `tab-${name}`,
      tabindex: "-1",
    });
    byId("tabs").append(tab);
    byId("pages").append(body);
    this.tabs[name] = tab;
    this.bodies[name] = body;
    this.pages[name] = new Page(this.app, body);
  }

  /** Shows a page. Other options go to the page itself. */
  open(name, { focus = false, expand = true, ...options } = {}) {
    for (const other of this.names) {
      const isOpen = other === name;
      this.tabs[other].setAttribute("aria-selected", String(isOpen));
      this.tabs[other].tabIndex = isOpen ? 0 : -1;
      this.bodies[other].hidden = !isOpen;
    }
    this.current = name;
    this.pages[name].open?.(options);
    if (expand) this.expand(true);
    if (focus) this.bodies[name].focus();
  }

  expand(isExpanded) {
    this.element.classList.toggle("expanded", isExpanded);
    byId("handle").setAttribute("aria-expanded", String(isExpanded));
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = this.names.indexOf(this.current);
    const next = this.names[(at + step + this.names.length) % this.names.length];
    this.open(next);
    this.tabs[next].focus();
  }
}
