// One drawing of the tree: two canvases, a shared camera, a condition, and what is highlighted. It draws at most once a
// frame, and reports hovers and presses as events: "hover" and "press" with `detail = {hit, x, y}`.
import { palette } from "./colours.js";
import { connectPointer } from "./pointer.js";
import { drawBands, drawSwitches } from "./draw-switches.js";
import { drawLines } from "./draw-lines.js";
import { drawHotter, drawOverlay } from "./draw-overlay.js";
import { Geometry } from "./geometry.js";
import { Lines } from "./lines.js";

const FLASH = 2200;

export class TreeView extends EventTarget {
  /** `host` is an element with a size of its own; both canvases fill it. `head` is the height that tools need above. */
  constructor(host, camera, theme, head = 128) {
    super();
    this.head = head;
    this.host = host;
    this.camera = camera;
    this.theme = theme;
    this.base = document.createElement("canvas");
    this.over = document.createElement("canvas");
    this.base.setAttribute("aria-hidden", "true");
    this.over.setAttribute("aria-hidden", "true");
    host.append(this.base, this.over);
    this.lines = new Lines();
    this.shown = { hover: null, selected: null, routes: [], marks: [] };
    this.pending = false;
    this.drawn = { revision: -1, milliseconds: 0, lines: 0 };
    this.onCamera = () => this.draw();
    camera.addEventListener("change", this.onCamera);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    connectPointer(this.over, this);
    theme.addEventListener("change", this.onCamera);
  }

  /** Stops listening. Used when a comparison is closed. */
  close() {
    this.camera.removeEventListener("change", this.onCamera);
    this.theme.removeEventListener("change", this.onCamera);
    this.observer.disconnect();
    this.base.remove();
    this.over.remove();
    this.condition = null;
  }

  setScene(scene) {
    this.scene = scene;
    this.geometry = new Geometry(scene, this.camera, this.head);
    this.shown = { hover: null, selected: null, routes: [], marks: [] };
    this.resize();
  }

  setCondition(condition) {
    this.condition = condition;
    this.draw();
  }

  /** Changes what is highlighted. */
  show(changes) {
    Object.assign(this.shown, changes);
    this.drawOver();
  }

  resize() {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    if (width === 0 || height === 0 || !this.geometry) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.geometry.resize(width, height);
    this.camera.resize(width);
    this.drawNow();
  }

  /** Asks for a frame in which everything is drawn again. */
  draw() {
    this.dirty = true;
    this.request();
  }

  /** Asks for a frame in which only the overlay is drawn again. */
  drawOver() {
    this.request();
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.dirty) this.drawNow();
      else this.drawOverNow();
    });
  }

  drawNow() {
    this.dirty = false;
    if (!this.condition || !this.geometry || !this.geometry.width) return;
    const start = performance.now();
    const { geometry, condition, lines } = this;
    const colours = palette(this.theme.name);
    geometry.update();
    lines.collect(this.scene, geometry, condition);
    const context = this.context(this.base);
    context.fillStyle = colours.background;
    context.fillRect(0, 0, geometry.width, geometry.height);
    drawBands(context, geometry, colours);
    drawLines(context, lines, colours, condition.scale, geometry.width);
    drawSwitches(context, geometry, condition, colours);
    if (this.shown.hover && this.shown.hover.kind !== "switch") this.shown.hover = null;
    this.drawOverNow();
    this.drawn = { revision: condition.revision, milliseconds: performance.now() - start, lines: lines.length };
    this.dispatchEvent(new CustomEvent("drawn", { detail: this.drawn }));
  }

  /** Shows for a moment which cables carry more than before the last change: where the traffic went. */
  flash() {
    this.flashed = performance.now();
    clearTimeout(this.flashEnd);
    const reduced = this.camera.reduced.matches;
    this.flashEnd = setTimeout(() => this.drawOver(), FLASH + 20);
    const step = () => {
      this.drawOver();
      if (performance.now() - this.flashed < FLASH && !reduced) requestAnimationFrame(step);
    };
    step();
  }

  /** Returns how strong the flash is now, from 1 to 0. */
  get flashStrength() {
    const part = (performance.now() - (this.flashed ?? -FLASH)) / FLASH;
    if (part >= 1) return 0;
    return this.camera.reduced.matches ? 1 : 1 - part ** 3;
  }

  drawOverNow() {
    if (!this.condition || !this.geometry || !this.geometry.width) return;
    const context = this.context(this.over);
    context.clearRect(0, 0, this.geometry.width, this.geometry.height);
    const strength = this.shown.hotter ? 0.9 : this.flashStrength;
    if (strength > 0) drawHotter(context, this.lines, palette(this.theme.name), strength);
    drawOverlay(context, this.lines, this.geometry, palette(this.theme.name), this.shown);
  }

  context(canvas) {
    const context = canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return context;
  }

  /** Returns what is at a point: `{kind: "switch" | "box" | "cable" | "bundle", …}` or null. */
  hit(x, y, reach) {
    const { geometry, scene, lines } = this;
    if (!geometry || !this.condition) return null;
    for (const box of scene.boxes) {
      const b = box.index;
      if (!geometry.seen[b] || x < geometry.x0[b] - 1 || x > geometry.x1[b] + 1) continue;
      const away = y - geometry.y(box.rank);
      const below = box.rank === 0 ? geometry.nodeHeight + 4 : 0;
      if (away < -geometry.boxHeight / 2 - 2 || away > geometry.boxHeight / 2 + below + 2) continue;
      if (!geometry.open[b]) return { kind: "box", box };
      const slot = Math.min(
        box.members.length - 1,
        Math.max(0, Math.floor((x - geometry.x0[b]) / geometry.slotWidth(b))),
      );
      if (Math.abs(away) <= geometry.switchHeight(b) / 2 + 3 || away > geometry.boxHeight / 2)
        return { kind: "switch", switch: box.members[slot] };
    }
    const k = lines.nearest(x, y, reach);
    if (k < 0) return null;
    const common = {
      line: k,
      bundle: scene.bundles[lines.bundle[k]],
      lower: lines.lower[k],
      upper: lines.upper[k],
      count: lines.count[k],
      failed: lines.failed[k],
      missing: lines.missing[k],
      load: lines.load[k],
    };
    return lines.cable[k] >= 0 ? { kind: "cable", cable: lines.cable[k], ...common } : { kind: "bundle", ...common };
  }

  hover(x, y, reach) {
    if (this.camera.isMoving) return;
    const hit = this.hit(x, y, reach);
    this.over.classList.toggle("pointing", hit !== null);
    this.shown.hover = hit;
    this.drawOver();
    this.dispatchEvent(new CustomEvent("hover", { detail: { hit, x, y } }));
  }

  leave() {
    this.shown.hover = null;
    this.drawOver();
    this.dispatchEvent(new CustomEvent("hover", { detail: { hit: null, x: 0, y: 0 } }));
  }

  press(x, y, reach) {
    this.host.focus({ preventScroll: true });
    this.dispatchEvent(new CustomEvent("press", { detail: { hit: this.hit(x, y, reach), x, y } }));
  }

  /** Moves the camera until a switch, a cable or a box is open and in sight. */
  reveal({ switch: s, cable, box }, animate = true) {
    const { scene, camera } = this;
    const showSwitch = (t, openAt) => camera.showSwitch(scene.boxes[scene.boxOf[t]], scene.slotOf[t], animate, openAt);
    if (box !== undefined) camera.showBox(scene.boxes[box], animate);
    if (s !== undefined) showSwitch(s, 14);
    if (cable !== undefined) {
      showSwitch(scene.a[cable], 14);
      showSwitch(scene.b[cable], 14);
    }
  }

  /** Moves the camera until a whole list of switches is in sight, if that is possible with open boxes. */
  revealAll(switches, animate = true) {
    const { scene, camera } = this;
    for (const lane of camera.lanes) {
      const boxes = [
        ...new Set(switches.filter((s) => camera.lane(scene.rank[s]) === lane).map((s) => scene.boxOf[s])),
      ].map((b) => scene.boxes[b]);
      if (boxes.length === 0) continue;
      const x0 = Math.min(...boxes.map((box) => box.x0));
      const x1 = Math.max(...boxes.map((box) => box.x1));
      camera.go(lane, (x0 + x1) / 2, ((camera.width - 60) / (x1 - x0)) * 0.94, animate);
    }
  }
}
