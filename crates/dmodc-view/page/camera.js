// Where the user looks. The tree is far wider than high, so only the horizontal axis zooms; rows always use the full
// height. The rows below the top move together (the *body*). The top row (the *crown*) has a place of its own, so that
// a user who zooms into one pod still sees every plane that the pod is cabled to. Switches that were cut off have a
// third place. Two views can share one camera: they then pan and zoom together.

const MARGIN = 28;
const OVERSCROLL = 160;
const WIDEST_SWITCH = 170;
const DURATION = 260;

class Lane {
  constructor(rows) {
    const boxes = rows.flat();
    this.x0 = Math.min(...boxes.map((box) => box.x0));
    this.x1 = Math.max(...boxes.map((box) => box.x1));
    this.narrowest = Math.min(...boxes.map((box) => (box.x1 - box.x0) / box.members.length));
    this.centre = (this.x0 + this.x1) / 2;
    this.scale = 1;
    this.fitted = true;
    this.move = null;
  }

  fitScale(width) {
    return Math.min((width - 2 * MARGIN) / (this.x1 - this.x0), this.greatest());
  }

  greatest() {
    return WIDEST_SWITCH / this.narrowest;
  }

  clamp(width) {
    const least = this.fitScale(width);
    this.scale = Math.min(Math.max(this.scale, least), Math.max(this.greatest(), least));
    this.fitted = this.scale <= least * 1.0001;
    const half = Math.max(0, (width / 2 - OVERSCROLL) / this.scale);
    const [from, to] = [this.x0 + half, this.x1 - half];
    this.centre = this.fitted || from >= to ? (this.x0 + this.x1) / 2 : Math.min(Math.max(this.centre, from), to);
  }
}

export class Camera extends EventTarget {
  constructor(scene) {
    super();
    this.width = 800;
    this.reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.frame = 0;
    this.setScene(scene);
  }

  setScene(scene) {
    const body = scene.levels > 1 ? scene.rows.slice(0, -1) : scene.rows;
    this.body = new Lane(body);
    this.crown = scene.levels > 1 ? new Lane(scene.rows.slice(-1)) : this.body;
    this.lost = scene.strays.length > 0 ? new Lane([scene.strays]) : this.body;
    this.top = scene.levels - 1;
    this.lanes = [...new Set([this.body, this.crown, this.lost])];
    this.fit(false);
  }

  /** Returns the lane that the row of this rank moves with. */
  lane(rank) {
    if (rank < 0) return this.lost;
    return rank === this.top ? this.crown : this.body;
  }

  toX(rank, x) {
    const lane = this.lane(rank);
    return this.width / 2 + (x - lane.centre) * lane.scale;
  }

  toWorld(lane, pixel) {
    return lane.centre + (pixel - this.width / 2) / lane.scale;
  }

  resize(width) {
    if (width === this.width) return;
    this.width = width;
    for (const lane of this.lanes) {
      if (lane.fitted) lane.scale = lane.fitScale(width);
      lane.clamp(width);
    }
    this.changed();
  }

  /** Shows everything. */
  fit(animate = true) {
    for (const lane of this.lanes) this.go(lane, (lane.x0 + lane.x1) / 2, lane.fitScale(this.width), animate);
  }

  get isFitted() {
    return this.lanes.every((lane) => lane.fitted);
  }

  zoom(lane, factor, pixel) {
    lane.move = null;
    const world = this.toWorld(lane, pixel);
    lane.scale *= factor;
    lane.clamp(this.width);
    lane.centre = world - (pixel - this.width / 2) / lane.scale;
    lane.clamp(this.width);
    this.changed();
  }

  pan(lane, pixels) {
    lane.move = null;
    lane.centre -= pixels / lane.scale;
    lane.clamp(this.width);
    this.changed();
  }

  /** Zooms in steps from the keyboard or a button, smoothly, about the middle. */
  step(lane, factor) {
    const from = lane.move?.scale ?? lane.scale;
    this.go(lane, lane.move?.centre ?? lane.centre, from * factor, true);
  }

  /** Shows a box, open and almost as wide as the view. */
  showBox(box, animate = true) {
    const lane = this.lane(box.rank);
    const most = 120 / ((box.x1 - box.x0) / box.members.length);
    this.go(
      lane,
      (box.x0 + box.x1) / 2,
      Math.min(((this.width - 2 * MARGIN) / (box.x1 - box.x0)) * 0.94, most),
      animate,
    );
  }

  /** Moves so that slot `slot` of a box is open and in sight; does not move if it is already. */
  showSwitch(box, slot, animate = true, openAt = 14) {
    const lane = this.lane(box.rank);
    const width = (box.x1 - box.x0) / box.members.length;
    const x = box.x0 + (slot + 0.5) * width;
    const pixel = this.width / 2 + (x - lane.centre) * lane.scale;
    const inSight = pixel > MARGIN && pixel < this.width - MARGIN;
    if (inSight && lane.scale * width >= openAt && !lane.move) return;
    const fits = (box.x1 - box.x0) * lane.scale < this.width - 2 * MARGIN;
    if (lane.scale * width < openAt) this.showBox(box, animate);
    else this.go(lane, fits ? (box.x0 + box.x1) / 2 : x, lane.scale, animate);
  }

  go(lane, centre, scale, animate) {
    const probe = Object.assign(Object.create(Lane.prototype), lane, { centre, scale });
    probe.clamp(this.width);
    if (!animate || this.reduced.matches || document.hidden) {
      Object.assign(lane, { centre: probe.centre, scale: probe.scale, fitted: probe.fitted, move: null });
      this.changed();
      return;
    }
    lane.move = {
      start: performance.now(),
      centre0: lane.centre,
      scale0: lane.scale,
      centre: probe.centre,
      scale: probe.scale,
    };
    if (!this.frame) this.frame = requestAnimationFrame((time) => this.tick(time));
  }

  get isMoving() {
    return this.lanes.some((lane) => lane.move !== null);
  }

  tick(time) {
    this.frame = 0;
    for (const lane of this.lanes) {
      const move = lane.move;
      if (!move) continue;
      const t = Math.min(1, Math.max(0, (time - move.start) / DURATION));
      const eased = 1 - (1 - t) ** 3;
      lane.scale = move.scale0 * (move.scale / move.scale0) ** eased;
      // The centre follows the scale, so that the target seems to grow from where it is.
      const part =
        move.scale === move.scale0 ? eased : (1 / move.scale0 - 1 / lane.scale) / (1 / move.scale0 - 1 / move.scale);
      lane.centre = move.centre0 + (move.centre - move.centre0) * part;
      if (t === 1) {
        lane.move = null;
        lane.centre = move.centre;
        lane.scale = move.scale;
        lane.clamp(this.width);
      }
    }
    this.changed();
    if (this.isMoving) this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  /** Ends every movement at its target at once. */
  settle() {
    for (const lane of this.lanes) {
      if (!lane.move) continue;
      Object.assign(lane, { centre: lane.move.centre, scale: lane.move.scale, move: null });
      lane.clamp(this.width);
    }
    this.changed();
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }
}
