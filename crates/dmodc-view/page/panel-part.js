// The details of what is selected: a switch, a cable, a node or a bundle. With nothing selected, an overview of the
// fabric and its hottest cables.
import { FAILED, MISSING, WORKS } from "./condition.js";
import { bundleCables, bundleName } from "./describe.js";
import { count, levelName, load, number, plural } from "./format.js";
import { fill, h, onPress, refill, table } from "./dom.js";

const MOST_ROWS = 200;

export class PartPage {
  constructor(app, element) {
    this.app = app;
    this.element = element;
    app.addEventListener("select", () => this.update(true));
    app.addEventListener("scene", () => this.update(true));
    app.store.addEventListener("state", () => this.update(true));
    app.store.addEventListener("loads", () => this.update(this.isWanted));
    app.store.addEventListener("busy", () => this.isWanted && this.request());
  }

  /** Draws what the page knows at once; with `ask`, the back end fills in the rest. */
  update(ask) {
    const { selected, store } = this.app;
    if (!store.state) return;
    const shown = JSON.stringify(selected);
    if (this.shown !== shown) {
      if (!this.element.hidden) this.element.parentElement.scrollTop = 0;
      this.part = null;
    }
    this.shown = shown;
    if (!selected) this.overview();
    else if (selected.bundle !== undefined) this.bundle(selected);
    else {
      this.draw(this.part ?? this.local(selected));
      if (ask) this.request();
    }
  }

  draw(part) {
    if (part) this[part.kind](part);
  }

  /** Asks about the selected part. A change and the loads after it come first, because people wait for those. */
  async request() {
    const { selected, store, backend } = this.app;
    this.call?.abort();
    this.isWanted = store.busy > 0 || store.loadsPending;
    if (this.isWanted || !selected || selected.bundle !== undefined) return;
    const call = new AbortController();
    this.call = call;
    const { scene } = store;
    const name =
      selected.node ??
      (selected.cable !== undefined ? scene.cablePart(selected.cable) : scene.switchPart(selected.switch));
    try {
      const part = await backend.ask("part", { name }, call.signal);
      if (this.call !== call) return;
      this.part = part;
      this.draw(part);
    } catch (error) {
      if (error.name !== "AbortError" && this.call === call)
        fill(this.element, h("p", { class: "bad" }, error.message));
    }
  }

  /** Returns what the drawing itself knows about a part, in the form of the back end's answer. */
  local({ switch: s, cable: c, node }) {
    const { scene } = this.app.store;
    if (node) return null;
    if (c !== undefined) {
      const end = (t, port) => ({
        switch: scene.names[t],
        guid: scene.guids[t],
        port,
        a2a: null,
        destinations: null,
        sources: null,
      });
      const ends = [end(scene.a[c], scene.portA[c]), end(scene.b[c], scene.portB[c])];
      return { kind: "cable", index: c, part: scene.cablePart(c), speed: null, ends };
    }
    const group = scene.boxes[scene.boxOf[s]].label;
    return {
      kind: "switch",
      index: s,
      name: scene.names[s],
      guid: scene.guids[s],
      lid: null,
      nodes: scene.nodesOf[s],
      group,
      ports: [],
    };
  }

  overview() {
    const { scene, state, loads, condition } = this.app.store;
    const failed = [
      plural(condition.failedCables, "cable"),
      plural(condition.failedSwitches, "switch", "switches"),
    ].join(", ");
    const facts = [
      ["Nodes", count(scene.nodes)],
      ["Switches", count(scene.switchCount)],
      ["Cables between switches", count(scene.cableCount)],
      ["Levels", count(scene.levels)],
      ["Shape", scene.shape ?? "no regular shape"],
      ["Engine", state.engine],
      ["Failed", condition.failedCables + condition.failedSwitches > 0 ? failed : "nothing"],
      state.failed.node_cables?.length > 0 ? ["Failed cables of nodes", count(state.failed.node_cables.length)] : null,
      condition.missingCables > 0 ? ["Missing", plural(condition.missingCables, "cable")] : null,
    ];
    fill(
      this.element,
      h("h2", {}, scene.title),
      state.reference ? h("p", { class: "note-box" }, `Reference: ${state.reference}`) : null,
      list(facts),
      h("h3", {}, "Hottest cables"),
      loads ? this.hottest(loads) : h("p", { class: "faint" }, "The loads are being computed."),
    );
  }

  hottest(loads) {
    const rows = loads.worst.map((one) => ({
      cells: [
        `${one.from}/${one.port} → ${one.to}`,
        loads.measure === "rate" ? `${Math.round(one.value * 100)}%` : number(one.value),
      ],
      label: `Show the cable from ${one.from}, port ${one.port}`,
      onclick: () => this.jump(one.part),
    }));
    return table(
      "Hottest cables",
      [{ title: "Cable" }, { title: loads.measure === "rate" ? "Rate" : "Flows", numeric: true }],
      rows,
    );
  }

  jump(part) {
    const found = this.app.store.scene.find(part);
    if (found) this.app.select(found, { reveal: true });
    else this.app.store.say(`The part ${part} is not drawn.`);
  }

  switch(part) {
    const { scene, condition } = this.app.store;
    const alive = condition.failedSwitch[part.index] === 0;
    const facts = [
      ["GUID", code(part.guid)],
      ["LID", part.lid ?? "–"],
      ["Level", levelName(scene.rank[part.index], scene.levels)],
      ["Group", part.group ?? "–"],
      part.nodes > 0 ? ["Nodes", count(part.nodes)] : null,
      ["State", status(alive)],
    ];
    const rows = part.ports.slice(0, MOST_ROWS).map((port) => ({
      cells: [
        number(port.port),
        [
          port.alive ? null : h("span", { class: "bad", title: "failed" }, "✕ "),
          port.peer,
          port.peer_port ? h("span", { class: "faint" }, ` /${port.peer_port}`) : null,
        ],
        this.loadAt(part, port),
      ],
      label: `Port ${port.port}: ${port.peer}`,
      onclick: () => this.follow(part, port),
    }));
    refill(
      this.element,
      this.head("Switch", part.name),
      list(facts),
      this.actions({ switch: part.index }, alive),
      h("h3", {}, "Ports"),
      table(
        "Ports",
        [{ title: "Port", numeric: true }, { title: "Leads to" }, { title: "Load out", numeric: true }],
        rows,
      ),
    );
  }

  /** Returns the load that leaves a switch by a port, if the port leads to another switch. */
  loadAt(part, port) {
    const { scene, condition } = this.app.store;
    const found = port.peer_kind === "switch" ? scene.find(`${part.guid}/${port.port}`) : null;
    if (!found || !condition.hasLoads || condition.cable[found.cable] !== 0) return "";
    const value = scene.a[found.cable] === part.index ? condition.up[found.cable] : condition.down[found.cable];
    if (Number.isNaN(value)) return "";
    return condition.scale.measure === "rate" ? `${Math.round(value * 100)}%` : number(value);
  }

  follow(part, port) {
    if (port.peer_kind === "switch") this.jump(`${part.guid}/${port.port}`);
    else this.app.select({ node: port.peer_guid, name: port.peer, switch: part.index });
  }

  cable(part) {
    const { condition } = this.app.store;
    const c = part.index;
    const [low, high] = part.ends;
    const alive = condition.cable[c] === WORKS;
    const facts = [
      ["State", h("span", { class: alive ? "good" : "bad" }, alive ? "works" : `✕ ${condition.word(c)}`)],
      part.speed ? ["Speed", part.speed] : null,
    ];
    const ends = part.ends.map((end, k) =>
      h(
        "section",
        { class: "end" },
        h(
          "h3",
          {},
          k === 0 ? "Up, from " : "Down, from ",
          link(end.switch, () => this.jump(end.guid)),
          ` port ${end.port}`,
        ),
        list([
          ["Load shown", load(k === 0 ? condition.up[c] : condition.down[c], condition.scale.measure)],
          ["All-to-all flows", number(end.a2a)],
          ["Destinations", count(end.destinations)],
          ["Sources", count(end.sources)],
        ]),
      ),
    );
    refill(
      this.element,
      this.head("Cable", `${low.switch}/${low.port} – ${high.switch}/${high.port}`),
      list(facts),
      this.actions({ cable: c }, !condition.isFailed({ cable: c })),
      ends,
      h(
        "button",
        {
          type: "button",
          "data-testid": "ask-destinations",
          onclick: () => this.app.panel.open("ask", { cable: part.part, expand: true }),
        },
        "Which destinations use it?",
      ),
    );
  }

  node(part) {
    const facts = [
      ["GUID", code(part.guid)],
      ["LID", part.lid ?? "–"],
      ["Leaf", link(part.switch, () => this.jump(part.switch_guid))],
      ["Port of the leaf", part.switch_port],
      ["State", status(part.alive)],
      ["Number", part.number ?? "–"],
    ];
    refill(
      this.element,
      this.head("Node", part.name),
      list(facts),
      this.nodeActions(part),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", onclick: () => this.app.panel.open("ask", { from: part.name, expand: true }) },
          "Path from here…",
        ),
        h(
          "button",
          { type: "button", onclick: () => this.app.panel.open("ask", { to: part.name, expand: true }) },
          "Path to here…",
        ),
      ),
    );
  }

  /** The cable between a node and its leaf can fail, too; it is not drawn. */
  nodeActions(part) {
    const { store } = this.app;
    if (!store.canChange) return null;
    const cable = [`${part.switch_guid}/${part.switch_port}`];
    const change = part.alive ? { fail: cable, repair: [] } : { fail: [], repair: cable };
    return h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          type: "button",
          class: part.alive ? "danger" : "primary",
          "data-testid": part.alive ? "fail" : "repair",
          onclick: () => store.change("change", change),
        },
        part.alive ? "Fail its cable" : "Repair its cable",
      ),
    );
  }

  bundle(selected) {
    const { store } = this.app;
    const { condition, scene } = store;
    const cables = bundleCables(store, selected);
    const order = (c) => (condition.cable[c] === FAILED ? 0 : condition.cable[c] === MISSING ? 1 : 2);
    cables.sort((c, d) => order(c) - order(d) || (condition.load[d] || 0) - (condition.load[c] || 0));
    const rows = cables.slice(0, MOST_ROWS).map((c) => ({
      cells: [
        [
          condition.cable[c] === 0 ? null : h("span", { class: "bad", title: condition.word(c) }, "✕ "),
          scene.cableName(c),
        ],
        condition.cable[c] === 0 && condition.hasLoads ? number(condition.load[c]) : condition.word(c).split(":")[0],
      ],
      label: `Show the cable ${scene.cableName(c)}`,
      onclick: () => this.app.select({ cable: c }, { reveal: true }),
    }));
    refill(
      this.element,
      this.head("Bundle", bundleName(store, selected)),
      h("p", {}, `${plural(cables.length, "cable")}. The worst come first; click one to see it.`),
      table("Cables of the bundle", [{ title: "Cable" }, { title: "Load", numeric: true }], rows),
      cables.length > MOST_ROWS
        ? h("p", { class: "faint" }, `${count(cables.length - MOST_ROWS)} more cables are not listed.`)
        : null,
    );
  }

  head(kind, name) {
    return h(
      "header",
      { class: "part-head" },
      h("span", { class: "kicker" }, kind),
      h("h2", {}, name),
      h(
        "button",
        { type: "button", class: "close", "aria-label": "Back to the overview", onclick: () => this.app.select(null) },
        "✕",
      ),
    );
  }

  actions(part, works) {
    const { store } = this.app;
    if (!store.canChange) return h("p", { class: "faint" }, "The fabric is followed: it cannot be changed here.");
    return h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          type: "button",
          class: works ? "danger" : "primary",
          "data-testid": works ? "fail" : "repair",
          onclick: () => store.toggle(part),
        },
        works ? "Fail it" : "Repair it",
      ),
      h("button", { type: "button", onclick: () => this.app.view.reveal(part) }, "Show it"),
    );
  }
}

/** Returns facts as a list of terms. */
export function list(facts) {
  return h(
    "dl",
    { class: "facts" },
    facts.filter(Boolean).map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]),
  );
}

/** Returns a button that looks like a link. */
export function link(text, action) {
  const element = h("span", { class: "link", role: "button", tabindex: "0" }, text);
  onPress(element, action);
  return element;
}

function code(text) {
  return h("code", {}, text);
}

function status(alive) {
  return h("span", { class: alive ? "good" : "bad" }, alive ? "works" : "✕ failed");
}
