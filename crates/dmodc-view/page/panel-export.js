// Downloads: the report, the tables, the fabric, the scenario, the events, and a picture of the drawing.
import { fill, h, saveFile } from "./dom.js";
import { picture } from "./picture.js";

const FILES = [
  ["report", "Report", "A page about the present routes, to send to others.", "report.html"],
  ["tables", "Forwarding tables", "A dump of all forwarding tables as text.", "tables.lft"],
  ["fabric", "Fabric", "The fabric as it is now, in the form of ibnetdiscover.", "fabric.txt"],
  ["scenario", "Scenario", "The present faults and the engine as JSON.", "scenario.json"],
  ["events", "Events", "All events as JSON lines.", "events.jsonl"],
];

export class ExportPage {
  constructor(app, element) {
    this.app = app;
    // A page without a server has no report: its writer is part of the server.
    const files = FILES.filter(([id]) => app.backend.kind === "http" || id !== "report");
    const row = (id, title, text, action) =>
      h(
        "div",
        { class: "saved" },
        h("div", {}, h("b", {}, title), h("div", { class: "faint" }, text)),
        h(
          "button",
          { type: "button", "data-testid": `export-${id}`, "aria-label": `Download: ${title}`, onclick: action },
          "Download",
        ),
      );
    fill(
      element,
      h("h2", {}, "Export"),
      row("picture", "Picture", "The drawing as you see it, as PNG.", () => this.picture()),
      files.map(([id, title, text, file]) => row(id, title, text, () => this.file(id, file))),
    );
  }

  async file(id, name) {
    try {
      saveFile(await this.app.backend.download(id), `${this.prefix()}-${name}`);
    } catch (error) {
      this.app.store.say(error.message);
    }
  }

  async picture() {
    saveFile(await picture(this.app), `${this.prefix()}-picture.png`);
  }

  prefix() {
    return this.app.store.scene.title.replace(/[^\w.-]+/g, "-").slice(0, 60) || "fabric";
  }
}
