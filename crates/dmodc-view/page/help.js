// The help dialog: what the drawing means, and all keys.
import { byId, fill, h } from "./dom.js";

const KEYS = [
  ["/", "search by name, GUID or LID"],
  ["← → ↑ ↓", "on the tree: go to the next switch, or to a neighbour above or below"],
  ["Page Up, Page Down", "go to the next pod or plane"],
  ["Home, End", "go to the first or last switch of the row"],
  ["C, Shift+C", "go through the cables of the selected switch"],
  ["Enter", "show the details of the selected part"],
  ["Delete or X", "fail or repair the selected part"],
  ["B", "change between look and break: what a click does"],
  ["U, R", "undo, redo"],
  ["Shift+R", "repair everything"],
  ["+, −, 0", "zoom in, zoom out, show everything"],
  ["Shift + arrows", "pan and zoom the row of the selection"],
  ["1 … 6", "open a panel"],
  ["T", "dark or light"],
  ["Escape", "clear what is highlighted, close a comparison"],
  ["?", "this help"],
];

const MEANING = [
  "Leaves are at the bottom, with their nodes below them; the top switches are at the top. A pod or plane that is far away is one box: each cell in it is a switch.",
  "The colour of a cable is its load, or the worst load of a bundle. The legend says which traffic is meant, and the bound that no routing can beat.",
  "A dashed line with a cross is a failed cable. A dotted line with a ring was never there. A thin dotted line leads to a failed switch.",
  "The wheel or two fingers zoom; dragging pans. The top row zooms on its own, so that all planes stay in sight.",
];

export class HelpDialog {
  constructor() {
    this.dialog = byId("help-dialog");
    const close = h("button", { type: "button", class: "primary", onclick: () => this.dialog.close() }, "Close");
    fill(
      this.dialog,
      h("h2", { id: "help-title" }, "How to use this page"),
      MEANING.map((text) => h("p", {}, text)),
      h("h3", {}, "Keys"),
      h(
        "dl",
        { class: "keys" },
        KEYS.map(([keys, text]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, text)]),
      ),
      close,
    );
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
  }
}
