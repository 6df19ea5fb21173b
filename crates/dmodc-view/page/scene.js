// The fabric as it is drawn: typed arrays made once from the answer of `/scene`.
//
// A *box* is a run of switches of one rank that can be drawn as one thing when it is far away. Boxes are the groups of
// the scene; a group of more than 128 switches is split, because a box must stay readable. A *bundle* is the set of
// cables between two boxes. Each bundle keeps its cables in two orders, by lower and by upper switch, so that either end
// can be open (one line for each switch) while the other end is one box.

const LARGEST_BOX = 128;

export class Scene {
  constructor(raw) {
    this.number = raw.scene;
    this.title = raw.title ?? "fabric";
    this.nodes = raw.nodes;
    this.shape = raw.shape;
    this.engines = raw.engines ?? [];
    this.groups = raw.groups;
    this.readSwitches(raw.switches);
    this.readCables(raw.cables);
    this.makeBoxes();
    this.makeBundles();
  }

  readSwitches(switches) {
    this.names = switches.name;
    this.guids = switches.guid;
    this.switchCount = this.names.length;
    this.rank = Int16Array.from(switches.rank);
    this.group = Int32Array.from(switches.group);
    this.givenX = Float32Array.from(switches.x);
    this.nodesOf = Int32Array.from(switches.nodes);
    this.levels = this.rank.reduce((most, rank) => Math.max(most, rank + 1), 1);
    this.mostNodes = this.nodesOf.reduce((most, n) => Math.max(most, n), 0);
  }

  readCables(flat) {
    const n = flat.length / 4;
    this.cableCount = n;
    this.a = new Int32Array(n);
    this.b = new Int32Array(n);
    this.portA = new Uint16Array(n);
    this.portB = new Uint16Array(n);
    for (let c = 0; c < n; c++) {
      this.a[c] = flat[4 * c];
      this.portA[c] = flat[4 * c + 1];
      this.b[c] = flat[4 * c + 2];
      this.portB[c] = flat[4 * c + 3];
    }
    const degree = new Int32Array(this.switchCount + 1);
    for (let c = 0; c < n; c++) {
      degree[this.a[c] + 1]++;
      degree[this.b[c] + 1]++;
    }
    for (let s = 0; s < this.switchCount; s++) degree[s + 1] += degree[s];
    this.cablesStart = degree;
    this.cablesOfSwitch = new Int32Array(2 * n);
    const next = degree.slice();
    for (let c = 0; c < n; c++) {
      this.cablesOfSwitch[next[this.a[c]]++] = c;
      this.cablesOfSwitch[next[this.b[c]]++] = c;
    }
  }

  /** Returns the cables of a switch as a view of a shared array. */
  cablesOf(s) {
    return this.cablesOfSwitch.subarray(this.cablesStart[s], this.cablesStart[s + 1]);
  }

  makeBoxes() {
    const members = new Map();
    for (let s = 0; s < this.switchCount; s++) {
      const key = `${this.rank[s]} ${this.rank[s] < 0 ? -1 : this.group[s]}`;
      if (!members.has(key)) members.set(key, []);
      members.get(key).push(s);
    }
    this.boxes = [];
    const byX = (s, t) => this.givenX[s] - this.givenX[t] || s - t;
    const lists = [...members.values()].map((list) => list.sort(byX));
    for (let rank = -1; rank < this.levels; rank++) {
      const row = lists.filter((list) => this.rank[list[0]] === rank);
      if (rank >= 0 && row.length > 1 && row.every((list) => list.length === 1)) this.joinSingles(row.flat().sort(byX));
      else row.forEach((list) => this.splitIntoBoxes(list));
    }
    this.boxes.sort((p, q) => p.rank - q.rank || p.x0 - q.x0);
    this.boxOf = new Int32Array(this.switchCount);
    this.slotOf = new Int32Array(this.switchCount);
    this.rows = Array.from({ length: this.levels }, () => []);
    this.strays = [];
    this.boxes.forEach((box, index) => {
      box.index = index;
      box.members.forEach((s, slot) => {
        this.boxOf[s] = index;
        this.slotOf[s] = slot;
      });
      (box.rank < 0 ? this.strays : this.rows[box.rank]).push(box);
    });
    this.switchesOfRow = this.rows.map((row) => row.reduce((sum, box) => sum + box.members.length, 0));
  }

  /** Makes boxes of the switches of one group. */
  splitIntoBoxes(list) {
    const group = this.rank[list[0]] < 0 ? null : this.groups[this.group[list[0]]];
    let x0 = group ? group.x0 : 0;
    let x1 = group ? group.x1 : list.length;
    if (!(x1 > x0)) [x0, x1] = [x0 - list.length / 2, x0 + list.length / 2];
    this.addBoxes(list, x0, x1, group?.label ?? "cut off");
  }

  /** Makes boxes of switches that are each alone in their group: as boxes of their own they would only be frames. */
  joinSingles(list) {
    const [first, last] = [list[0], list[list.length - 1]];
    const pitch = (this.givenX[last] - this.givenX[first]) / (list.length - 1) || 1;
    const label = `${this.groups[this.group[first]].label} – ${this.groups[this.group[last]].label}`;
    this.addBoxes(list, this.givenX[first] - pitch / 2, this.givenX[last] + pitch / 2, label);
  }

  addBoxes(list, x0, x1, label) {
    const rank = this.rank[list[0]];
    const parts = Math.ceil(list.length / LARGEST_BOX);
    for (let k = 0; k < parts; k++) {
      const from = Math.floor((k * list.length) / parts);
      const to = Math.floor(((k + 1) * list.length) / parts);
      this.boxes.push({
        rank,
        label: parts === 1 ? label : `${label}, part ${k + 1}`,
        x0: x0 + ((x1 - x0) * from) / list.length,
        x1: x0 + ((x1 - x0) * to) / list.length,
        members: Int32Array.from(list.slice(from, to)),
      });
    }
  }

  makeBundles() {
    const total = this.boxes.length;
    const found = new Map();
    this.bundles = [];
    this.bundleOf = new Int32Array(this.cableCount);
    for (let c = 0; c < this.cableCount; c++) {
      const [p, q] = [this.boxOf[this.a[c]], this.boxOf[this.b[c]]];
      const key = p * total + q;
      let index = found.get(key);
      if (index === undefined) {
        index = this.bundles.length;
        found.set(key, index);
        this.bundles.push({ index, lower: p, upper: q, cables: [], byUpper: null, lowerPlace: 0.5, upperPlace: 0.5 });
      }
      this.bundleOf[c] = index;
      this.bundles[index].cables.push(c);
    }
    const slot = this.slotOf;
    for (const bundle of this.bundles) {
      bundle.byUpper = Int32Array.from(bundle.cables).sort(
        (c, d) => slot[this.b[c]] - slot[this.b[d]] || slot[this.a[c]] - slot[this.a[d]] || c - d,
      );
      bundle.cables = Int32Array.from(bundle.cables).sort(
        (c, d) => slot[this.a[c]] - slot[this.a[d]] || slot[this.b[c]] - slot[this.b[d]] || c - d,
      );
    }
    this.placeBundles();
    this.placeCables();
  }

  /** Spreads the bundles of a box over its width, in the order of their other ends, so that lines do not cross there. */
  placeBundles() {
    const up = this.boxes.map(() => []);
    const down = this.boxes.map(() => []);
    for (const bundle of this.bundles) {
      up[bundle.lower].push(bundle);
      down[bundle.upper].push(bundle);
    }
    up.forEach((list) => spread(list, (bundle) => this.boxes[bundle.upper].x0, "lowerPlace"));
    down.forEach((list) => spread(list, (bundle) => this.boxes[bundle.lower].x0, "upperPlace"));
  }

  /** Spreads the cables of a switch over its width: `placeA` and `placeB` are from 0 to 1. */
  placeCables() {
    this.placeA = new Float32Array(this.cableCount);
    this.placeB = new Float32Array(this.cableCount);
    const order = (s) => this.boxes[this.boxOf[s]].x0 * 4096 + this.slotOf[s];
    for (let s = 0; s < this.switchCount; s++) {
      const all = Array.from(this.cablesOf(s));
      const up = all
        .filter((c) => this.a[c] === s)
        .sort((c, d) => order(this.b[c]) - order(this.b[d]) || this.portA[c] - this.portA[d]);
      const down = all
        .filter((c) => this.b[c] === s)
        .sort((c, d) => order(this.a[c]) - order(this.a[d]) || this.portB[c] - this.portB[d]);
      up.forEach((c, k) => (this.placeA[c] = (k + 0.5) / up.length));
      down.forEach((c, k) => (this.placeB[c] = (k + 0.5) / down.length));
    }
  }

  /** Returns the name of a part for requests: a switch's GUID. */
  switchPart(s) {
    return this.guids[s];
  }

  /** Returns the name of a part for requests: a cable's lower end. */
  cablePart(c) {
    return `${this.guids[this.a[c]]}/${this.portA[c]}`;
  }

  /** Returns a cable as people write it: both ends with their ports. */
  cableName(c) {
    return `${this.names[this.a[c]]}/${this.portA[c]} – ${this.names[this.b[c]]}/${this.portB[c]}`;
  }

  /** Returns `{switch}`, `{cable}` or null for the name of a part. */
  find(part) {
    const [guid, port] = part.split("/");
    this.byGuid ??= new Map(this.guids.map((text, s) => [text, s]));
    const s = this.byGuid.get(guid);
    if (s === undefined) return null;
    if (port === undefined) return { switch: s };
    for (const c of this.cablesOf(s)) {
      if ((this.a[c] === s && this.portA[c] === +port) || (this.b[c] === s && this.portB[c] === +port))
        return { cable: c };
    }
    return null;
  }
}

function spread(list, key, field) {
  list.sort((p, q) => key(p) - key(q));
  list.forEach((bundle, k) => (bundle[field] = (k + 0.5) / list.length));
}
