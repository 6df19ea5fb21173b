// Where rows, boxes, switches and cells are in the pixels of one view. The level of detail is decided here: a box whose
// switches would be narrower than a few pixels is closed and shows its switches as a matrix of cells.

const OPEN_AT = 7;
const OPEN_ALONE_AT = 2;

export class Geometry {
  /** `head` is the height in pixels that tools above the tree need. */
  constructor(scene, camera, head) {
    this.head = head;
    this.scene = scene;
    this.camera = camera;
    const n = scene.boxes.length;
    this.x0 = new Float32Array(n);
    this.x1 = new Float32Array(n);
    this.open = new Uint8Array(n);
    this.seen = new Uint8Array(n);
    this.width = 0;
    this.height = 0;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.small = width < 520;
    this.boxHeight = Math.min(64, Math.max(22, height * 0.085));
    this.nodeHeight = this.small ? 12 : 16;
    const top = (this.small ? this.head + 12 : this.head) + this.boxHeight / 2;
    const strays = this.scene.strays.length > 0 ? this.boxHeight + 30 : 0;
    const bottom = height - (this.small ? 20 : 26) - this.nodeHeight - this.boxHeight / 2 - strays;
    const gaps = Math.max(1, this.scene.levels - 1);
    this.rowY = Array.from({ length: this.scene.levels }, (_, rank) =>
      this.scene.levels === 1 ? (top + bottom) / 2 : bottom - ((bottom - top) * rank) / gaps,
    );
    this.strayY = height - this.boxHeight / 2 - 20;
  }

  y(rank) {
    return rank < 0 ? this.strayY : this.rowY[rank];
  }

  /** Computes all boxes for the present camera. */
  update() {
    const { scene, camera } = this;
    for (const box of scene.boxes) {
      const lane = camera.lane(box.rank);
      const left = this.width / 2 + (box.x0 - lane.centre) * lane.scale;
      const right = this.width / 2 + (box.x1 - lane.centre) * lane.scale;
      const gap = Math.min(6, (right - left) * 0.08);
      this.x0[box.index] = left + gap / 2;
      this.x1[box.index] = right - gap / 2;
      const slot = (right - left) / box.members.length;
      const alone = (box.rank < 0 ? scene.strays : scene.rows[box.rank]).length === 1;
      this.open[box.index] = slot >= (alone ? OPEN_ALONE_AT : OPEN_AT) ? 1 : 0;
      this.seen[box.index] = right > -2 && left < this.width + 2 ? 1 : 0;
    }
  }

  boxWidth(b) {
    return this.x1[b] - this.x0[b];
  }

  slotWidth(b) {
    return (this.x1[b] - this.x0[b]) / this.scene.boxes[b].members.length;
  }

  /** Returns the width of the drawn switches of an open box. */
  switchWidth(b) {
    const slot = this.slotWidth(b);
    return Math.min(slot - Math.min(8, slot * 0.18), 132);
  }

  switchHeight(b) {
    return Math.min(this.boxHeight - 4, this.slotWidth(b) < 24 ? 16 : 24);
  }

  /** Returns the middle of a switch: in its open box, or its cell in a closed one. */
  switchCentre(s) {
    const b = this.scene.boxOf[s];
    const slot = this.scene.slotOf[s];
    const y = this.y(this.scene.rank[s]);
    if (this.open[b]) return { x: this.x0[b] + (slot + 0.5) * this.slotWidth(b), y };
    const cells = this.cells(b);
    return {
      x: cells.x + ((slot % cells.columns) + 0.5) * cells.size,
      y: cells.y + (Math.floor(slot / cells.columns) + 0.5) * cells.size,
    };
  }

  /** Returns the matrix of cells of a closed box: the largest cells that fit. */
  cells(b) {
    const n = this.scene.boxes[b].members.length;
    const width = Math.max(1, this.x1[b] - this.x0[b] - 4);
    const height = this.boxHeight - 6;
    let size = Math.min(14, Math.sqrt((width * height) / n));
    let columns = 1;
    for (;;) {
      columns = Math.max(1, Math.floor(width / size));
      if (Math.ceil(n / columns) * size <= height + 0.01 || size < 0.4) break;
      size *= 0.96;
    }
    columns = Math.min(columns, n);
    const rows = Math.ceil(n / columns);
    const middle = (this.x0[b] + this.x1[b]) / 2;
    return {
      size,
      columns,
      rows,
      x: middle - (columns * size) / 2,
      y: this.y(this.scene.boxes[b].rank) - (rows * size) / 2,
    };
  }

  /** Returns the lane under a height in pixels: the lane of the nearest row, where the crown reaches half its gap. */
  laneAt(y) {
    const { camera, scene } = this;
    if (scene.strays.length > 0 && y > this.strayY - this.boxHeight) return camera.lost;
    if (scene.levels < 2) return camera.body;
    const [top, next] = [this.rowY[scene.levels - 1], this.rowY[scene.levels - 2]];
    return y < top + (next - top) * 0.35 ? camera.crown : camera.body;
  }
}
