// Random faults and saved scenarios. A random draw replaces all faults: the same seed and shares give the same faults.
import { clock, count, plural } from "./format.js";
import { fill, h, saveFile } from "./dom.js";

export class BreakPage {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.cables = new Share("cables", "Cables", "random-cables", () => this.preview());
    this.switches = new Share("switches", "Switches", "random-switches", () => this.preview());
    this.seed = h("input", {
      type: "number",
      min: "0",
      max: "4294967295",
      value: "1",
      id: "random-seed",
      "data-testid": "random-seed",
    });
    this.leaves = h("input", { type: "checkbox", id: "random-any", "data-testid": "random-any" });
    this.text = h("p", { class: "faint" });
    this.saved = h("div", { "data-testid": "scenarios" });
    this.name = h("input", {
      type: "text",
      id: "scenario-name",
      "data-testid": "scenario-name",
      maxlength: "80",
      placeholder: "Name",
      "aria-label": "Name of the scenario",
    });
    this.file = h("input", {
      type: "file",
      accept: "application/json,.json",
      id: "scenario-file",
      hidden: true,
      onchange: () => this.upload(),
    });
    this.build();
    app.store.addEventListener("state", () => this.update());
    app.addEventListener("scene", () => this.preview());
  }

  build() {
    const { store } = this.app;
    this.draw = h(
      "button",
      { type: "button", class: "danger", "data-testid": "random", onclick: () => this.random() },
      "Break at random",
    );
    this.again = h(
      "button",
      {
        type: "button",
        "data-testid": "random-next",
        title: "Add one to the seed and draw again",
        onclick: () => this.random(1),
      },
      "Next seed",
    );
    this.locked = h(
      "p",
      { class: "note-box", hidden: true },
      "The page follows a live fabric and changes nothing. Breaking, undo and scenarios are off.",
    );
    fill(
      this.element,
      h("h2", {}, "Break and heal"),
      this.locked,
      (this.controls = h(
        "fieldset",
        { class: "plain" },
        h("p", {}, "Click cables and switches on the tree, or let chance decide. A draw replaces all present faults."),
        this.cables.element,
        this.switches.element,
        h(
          "div",
          { class: "row" },
          h("label", {}, "Seed ", this.seed),
          h(
            "label",
            { class: "check", title: "Without this, leaves never fail: a failed leaf cuts off its nodes." },
            this.leaves,
            " leaves may fail too",
          ),
        ),
        this.text,
        h("div", { class: "row" }, this.draw, this.again),
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", onclick: () => store.change("undo", {}) }, "Undo"),
          h("button", { type: "button", onclick: () => store.change("redo", {}) }, "Redo"),
          h("button", { type: "button", class: "primary", onclick: () => store.change("reset", {}) }, "Repair all"),
        ),
        h("h3", {}, "Scenarios"),
        h("p", { class: "faint" }, "A scenario is the present set of faults and the engine, under a name."),
        h(
          "form",
          { class: "row", onsubmit: (event) => this.save(event) },
          this.name,
          h("button", { type: "submit", "data-testid": "scenario-save" }, "Save"),
        ),
        this.saved,
        this.file,
        h(
          "div",
          { class: "row" },
          h(
            "button",
            { type: "button", "data-testid": "scenario-download", onclick: () => this.download() },
            "Download as a file",
          ),
          h(
            "button",
            { type: "button", "data-testid": "scenario-upload", onclick: () => this.file.click() },
            "Load a file…",
          ),
        ),
      )),
    );
  }

  open() {
    this.preview();
    this.list();
  }

  update() {
    const locked = !this.app.store.canChange;
    this.locked.hidden = !locked;
    this.controls.disabled = locked;
  }

  preview() {
    const { scene } = this.app.store;
    if (!scene) return;
    const cables = this.cables.of(scene.cableCount);
    const switches = this.switches.of(scene.switchCount);
    this.text.textContent = `About ${plural(cables, "cable")} of ${count(scene.cableCount)} and ${plural(switches, "switch", "switches")} of ${count(scene.switchCount)}.`;
    this.draw.disabled = this.again.disabled = cables + switches === 0;
  }

  random(step = 0) {
    this.seed.value = String((Math.max(0, Math.floor(Number(this.seed.value) || 0)) + step) % 4294967296);
    return this.app.store.change("random", {
      cables: this.cables.text(),
      switches: this.switches.text(),
      seed: Number(this.seed.value),
      any_switch: this.leaves.checked,
    });
  }

  async list() {
    const { backend, store } = this.app;
    try {
      const { scenarios } = await backend.ask("scenarios");
      fill(
        this.saved,
        scenarios.length === 0
          ? h("p", { class: "faint" }, "Nothing is saved yet.")
          : scenarios.map((one) => this.row(one)),
      );
    } catch (error) {
      store.say(error.message);
    }
  }

  row(one) {
    const { store, backend } = this.app;
    const remove = async () => {
      await this.attempt(() => backend.deleteScenario(one.name));
    };
    return h(
      "div",
      { class: "saved" },
      h(
        "div",
        {},
        h("b", {}, one.name),
        h("div", { class: "faint" }, `${plural(one.failed_count, "fault")} · ${one.engine} · ${clock(one.time_ms)}`),
      ),
      h(
        "button",
        {
          type: "button",
          "data-testid": "scenario-load",
          "aria-label": `Load ${one.name}`,
          onclick: () => store.loadScenario(one.name),
        },
        "Load",
      ),
      h(
        "button",
        { type: "button", "data-testid": "scenario-delete", "aria-label": `Delete ${one.name}`, onclick: remove },
        "✕",
      ),
    );
  }

  async save(event) {
    event.preventDefault();
    const name = this.name.value.trim();
    if (name === "") {
      this.name.focus();
      return;
    }
    await this.attempt(() => this.app.backend.saveScenario(name));
    this.name.value = "";
  }

  async attempt(action) {
    try {
      await action();
    } catch (error) {
      this.app.store.say(error.message);
    }
    await this.list();
  }

  async download() {
    await this.attempt(async () => saveFile(await this.app.backend.download("scenario"), "scenario.json"));
  }

  async upload() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    try {
      const body = JSON.parse(await file.text());
      await this.app.store.change("scenario", body);
    } catch {
      this.app.store.say(`${file.name} is not a scenario: it holds no JSON.`);
    }
  }
}

/** A slider for a share in percent, with a field for exact values. The slider is finer near zero: most faults are few. */
class Share {
  constructor(name, title, test, onchange) {
    this.slider = h("input", {
      type: "range",
      min: "0",
      max: "100",
      value: "0",
      id: test,
      "data-testid": test,
      "aria-label": `Share of failed ${name}`,
      oninput: () => this.slid(),
    });
    this.field = h("input", {
      type: "text",
      inputmode: "decimal",
      value: "0%",
      "data-testid": `${test}-value`,
      "aria-label": `${title} that fail: a number or a percentage`,
      onchange: () => this.typed(),
    });
    this.onchange = onchange;
    this.element = h("div", { class: "share" }, h("span", {}, title), this.slider, this.field);
  }

  slid() {
    const value = (Number(this.slider.value) / 100) ** 2 * 50;
    this.field.value = `${value < 1 ? value.toFixed(2) : value.toFixed(1)}%`.replace(/\.0+%$/, "%");
    this.onchange();
  }

  typed() {
    const match = /^\s*(\d+(?:\.\d+)?)\s*(%?)\s*$/.exec(this.field.value);
    if (!match) this.field.value = "0%";
    else this.field.value = match[2] ? `${Math.min(100, Number(match[1]))}%` : String(Math.floor(Number(match[1])));
    if (this.field.value.endsWith("%"))
      this.slider.value = String(Math.sqrt(Math.min(50, parseFloat(this.field.value)) / 50) * 100);
    this.onchange();
  }

  text() {
    return this.field.value;
  }

  of(total) {
    const value = parseFloat(this.field.value) || 0;
    return this.field.value.endsWith("%") ? Math.round((value / 100) * total) : Math.min(total, value);
  }
}
