// The buttons of the top bar and of the stage: engine, undo, redo, repair all, mode, zoom, theme, help.
import { byId, fill, h } from "./dom.js";
import { count, plural } from "./format.js";

export class Toolbar {
  constructor(app) {
    this.app = app;
    const { store, camera } = app;
    const press = (id, action) => byId(id).addEventListener("click", action);
    press("undo", () => store.change("undo", {}));
    press("redo", () => store.change("redo", {}));
    press("reset", () => store.change("reset", {}));
    press("theme", () => app.theme.toggle());
    press("help", () => app.help.open());
    press("mode-look", () => app.setBreaking(false));
    press("mode-break", () => app.setBreaking(true));
    press("zoom-in", () => camera.step(camera.body, 1.6));
    press("zoom-out", () => camera.step(camera.body, 1 / 1.6));
    press("zoom-fit", () => camera.fit());
    byId("engine").addEventListener("change", (event) => store.change("engine", { engine: event.target.value }));
    for (const name of ["state", "status", "busy"]) store.addEventListener(name, () => this.update());
    app.addEventListener("mode", () => this.update());
    app.addEventListener("scene", () => this.setScene());
  }

  setScene() {
    const { scene } = this.app.store;
    byId("fabric-title").textContent = scene.title;
    byId("fabric-size").textContent =
      `${plural(scene.nodes, "node")} · ${plural(scene.switchCount, "switch", "switches")} · ${plural(scene.cableCount, "cable")}`;
    byId("fabric").title = `${scene.shape ?? "no regular shape"}, ${count(scene.levels)} levels`;
    fill(
      byId("engine"),
      scene.engines.map((name) => h("option", { value: name }, name)),
    );
    this.update();
  }

  update() {
    const { store, breaking } = this.app;
    const { state } = store;
    if (!state) return;
    const can = store.canChange;
    const { switches, cables, node_cables: nodeCables = [] } = state.failed;
    const failed = switches.length + cables.length + nodeCables.length;
    byId("undo").disabled = !can || !state.can_undo;
    byId("redo").disabled = !can || !state.can_redo;
    byId("reset").disabled = !can || failed === 0;
    byId("engine").disabled = !can;
    byId("engine").value = state.engine;
    byId("modes").hidden = !can;
    byId("mode-look").setAttribute("aria-checked", String(!breaking));
    byId("mode-break").setAttribute("aria-checked", String(breaking));
    byId("tree").classList.toggle("breaking", breaking && can);
    document.documentElement.toggleAttribute("data-busy", store.busy > 0);
  }
}
