"use strict";

// Light to dark, so that it reads the same to everybody and on paper (ColorBrewer's YlOrRd).
const PALETTE = ["ffffcc", "ffeda0", "fed976", "feb24c", "fd8d3c", "fc4e2a", "e31a1c", "bd0026"].map((hex) =>
  [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)),
);
const ABSENT = [128, 128, 128, 40];
const WIDTH = 1080;
const HEIGHT = 900;
const GAP = 2;
const FEW = 24;

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (PALETTE.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, PALETTE.length - 1);
  return PALETTE[low].map((value, i) => Math.round(value + (PALETTE[high][i] - value) * (at - low))).concat(255);
}

// How many lines a level takes: its switches stand in columns side by side, but a few stand in one.
function lines(switches, ports, cell) {
  const beside = Math.max(1, Math.floor((WIDTH / cell + GAP) / (ports + GAP)));
  return Math.max(Math.ceil(switches / beside), Math.min(switches, FEW));
}

// The largest cells with which all levels of a map fit upon a page.
function cellSize(levels) {
  const height = (cell) => levels.reduce((sum, { loads, ports }) => sum + lines(loads.length, ports, cell) * cell, 0);
  const width = Math.max(...levels.map(({ ports }) => ports));
  let cell = 14;
  while (cell > 2 && (height(cell) > HEIGHT || width * cell > WIDTH)) cell--;
  return cell;
}

// Paints one level into an image with a pixel for each port; the page enlarges it. Gives what is under a pixel.
function paint(canvas, level, cell, most) {
  const { ports } = level;
  const rows = lines(level.loads.length, ports, cell);
  if (rows === 0) return () => null;
  canvas.width = Math.ceil(level.loads.length / rows) * (ports + GAP) - GAP;
  canvas.height = rows;
  canvas.style.width = canvas.width * cell + "px";
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  // Down first: neighbours in a list are neighbours in a column.
  level.loads.forEach((loads, s) => {
    const left = Math.floor(s / rows) * (ports + GAP);
    for (let port = 0; port < ports; port++) {
      const load = loads[port] ?? null;
      const pixel = load === null ? ABSENT : colour(most > 0 ? load / most : 0);
      image.data.set(pixel, 4 * ((s % rows) * canvas.width + left + port));
    }
  });
  context.putImageData(image, 0, 0);
  return (x, y) => {
    const [panel, port] = [Math.floor(x / (ports + GAP)), x % (ports + GAP)];
    const s = panel * rows + y;
    if (port >= ports || y >= rows || !level.loads[s]) return null;
    return { name: level.switches[s], port: port + 1, load: level.loads[s][port] ?? null };
  };
}

const hint = document.createElement("div");
hint.className = "hint";
hint.hidden = true;
document.body.append(hint);

function explain(canvas, under, most) {
  canvas.addEventListener("mouseleave", () => (hint.hidden = true));
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) * canvas.width) / box.width);
    const y = Math.floor(((event.clientY - box.top) * canvas.height) / box.height);
    const found = under(x, y);
    hint.hidden = !found;
    if (!found) return;
    const load =
      found.load === null
        ? "leads to no switch"
        : `load ${found.load.toLocaleString("en")} (${((100 * found.load) / (most || 1)).toFixed(0)} % of the maximum)`;
    hint.textContent = `${found.name} · port ${found.port} · ${load}`;
    hint.style.left = Math.min(event.pageX + 14, scrollX + innerWidth - hint.offsetWidth - 20) + "px";
    hint.style.top = event.pageY + 14 + "px";
  });
}

function legend(place, most) {
  const stops = Array.from({ length: 16 }, (_, at) => `rgb(${colour(at / 15).slice(0, 3)})`);
  const bar = document.createElement("i");
  bar.style.background = `linear-gradient(to right, ${stops})`;
  const absent = document.createElement("i");
  absent.className = "absent";
  place.append("0 ", bar, ` ${most.toLocaleString("en")} `, absent, " leads to no switch");
}

JSON.parse(document.getElementById("maps").textContent).forEach((levels, at) => {
  if (!levels) return;
  let most = 0;
  for (const level of levels) {
    // The last port of any of its switches that leads to a switch.
    level.ports = 1;
    for (const row of level.loads) {
      row.forEach((load, at) => {
        if (load === null) return;
        level.ports = Math.max(level.ports, at + 1);
        most = Math.max(most, load);
      });
    }
  }
  const cell = cellSize(levels);
  legend(document.getElementById(`legend${at}`), most);
  levels.forEach((level, i) => {
    const canvas = document.getElementById(`heat${at}-${i}`);
    explain(canvas, paint(canvas, level, cell, most), most);
  });
});

const find = document.getElementById("find");
if (find) {
  const rows = Array.from(document.querySelectorAll("#hosts tbody tr"), (row) => [row, row.textContent.toLowerCase()]);
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const [row, text] of rows) row.hidden = !text.includes(wanted);
  });
}
