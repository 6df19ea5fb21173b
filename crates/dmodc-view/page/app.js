// The application: it owns the store, the main view and the selection, and connects the other parts of the page.
import { Banner } from "./banner.js";
import { Camera } from "./camera.js";
import { CompareView } from "./compare-view.js";
import { HelpDialog } from "./help.js";
import { Hint } from "./hint.js";
import { Legend } from "./legend.js";
import { Panel } from "./panel.js";
import { Results } from "./results.js";
import { Search } from "./search.js";
import { Store } from "./store.js";
import { Theme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { Toolbar } from "./toolbar.js";
import { Tooltip } from "./tooltip.js";
import { TreeView } from "./tree-view.js";
import { announce, byId } from "./dom.js";
import { connectKeyboard } from "./keyboard.js";
import { describe } from "./describe.js";
import { installHooks } from "./hooks.js";

export class App extends EventTarget {
  constructor(backend) {
    super();
    this.backend = backend;
    this.theme = new Theme();
    this.store = new Store(backend);
    this.breaking = true;
    this.selected = null;
    this.banner = new Banner(this);
    this.help = new HelpDialog();
  }

  /** Loads the fabric; while nobody answers, it tries again. */
  async start() {
    this.store.addEventListener("scene", () => this.setScene());
    for (let wait = 500; ; wait = Math.min(15000, wait * 2)) {
      try {
        await this.store.start();
        return;
      } catch (error) {
        this.banner.failed(error.message);
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  /** Takes a new scene: builds the page on the first one, replaces the drawing later. */
  setScene() {
    const { scene } = this.store;
    document.title = `${scene.title} – Dmodc`;
    this.selected = null;
    if (this.view) {
      this.compare.close();
      this.camera.setScene(scene);
      this.view.setScene(scene);
      this.view.setCondition(this.store.condition);
      this.dispatchEvent(new Event("scene"));
      return;
    }
    this.camera = new Camera(scene);
    this.view = new TreeView(byId("tree"), this.camera, this.theme);
    this.view.setScene(scene);
    this.view.setCondition(this.store.condition);
    this.compare = new CompareView(this);
    this.panel = new Panel(this);
    this.parts = [
      new Toolbar(this),
      new Legend(this),
      new Hint(this),
      new Results(this),
      new Timeline(this),
      new Search(this),
      new Tooltip(this, this.view),
    ];
    this.connect();
    connectKeyboard(this);
    installHooks(this);
    this.dispatchEvent(new Event("scene"));
  }

  connect() {
    for (const name of ["state", "loads"])
      this.store.addEventListener(name, () => this.view.setCondition(this.store.condition));
    // A comparison would hide what the user has just changed.
    this.store.addEventListener("state", () => this.store.busy > 0 && this.compare.close());
    this.store.addEventListener("hotter", () => this.view.flash());
    this.view.addEventListener("press", (event) => this.press(event.detail.hit));
  }

  /** What a click on the tree does. */
  press(hit) {
    if (!hit) {
      this.select(null);
      return;
    }
    if (hit.kind === "box") {
      this.view.reveal({ box: hit.box.index });
      announce(`${hit.box.label} is open.`);
    } else if (hit.kind === "bundle") this.openBundle(hit);
    else this.pressPart(hit.kind === "switch" ? { switch: hit.switch } : { cable: hit.cable });
    this.dispatchEvent(new CustomEvent("pressed", { detail: hit }));
  }

  /** Opens both ends of a bundle, so that each of its cables can be seen. */
  openBundle(hit) {
    const { lower, upper } = hit.bundle;
    const { open } = this.view.geometry;
    if (!open[lower]) this.view.reveal({ box: lower });
    if (!open[upper]) this.view.reveal({ box: upper });
    this.select({ bundle: hit.bundle.index, lower: hit.lower, upper: hit.upper });
  }

  pressPart(part) {
    // The change is sent first: details of the part must not delay it.
    if (this.breaking && this.store.canChange) this.store.toggle(part);
    this.select(part);
  }

  /** Selects a part (`{switch}`, `{cable}`, `{node, switch}`, `{bundle}`) or nothing, and shows it in the panel. */
  select(part, { reveal = false, open = true } = {}) {
    this.selected = part;
    const drawn = part && (part.switch !== undefined || part.cable !== undefined) ? part : null;
    this.view.show({ selected: drawn });
    if (part && reveal) this.view.reveal(part);
    if (part && open)
      this.panel.open("part", { expand: !this.panel.isSheet || !this.breaking || !this.store.canChange });
    if (part) announce(describe(this.store, part));
    this.dispatchEvent(new Event("select"));
  }

  /** Shows routes and marks of an answer on the tree. */
  highlight({ routes = [], marks = [], reveal = [] }) {
    this.view.show({ routes, marks });
    if (reveal.length > 0) this.view.revealAll(reveal);
    this.dispatchEvent(new Event("highlight"));
  }

  setBreaking(isBreaking) {
    this.breaking = isBreaking;
    announce(isBreaking ? "Break mode: a click breaks or repairs." : "Look mode: a click shows details.");
    this.dispatchEvent(new Event("mode"));
  }
}
