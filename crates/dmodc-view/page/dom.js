// Small helpers that build and change elements. Data enters the page as text only: no helper accepts HTML.

/** Returns a new element. `attributes` may hold `class`, `dataset`, `on<event>` functions, properties such as `value`,
 *  and any attribute. Children are elements, strings, numbers, arrays of them, or nothing. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces all children of an element, as `fill` does, but keeps the focus on the control with the same test id. The
 *  buttons "fail" and "repair" take each other's place. */
export function refill(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const { scrollTop } = element.parentElement;
  fill(element, ...children);
  if (!element.hidden) element.parentElement.scrollTop = scrollTop;
  if (!focused) return;
  const test = focused.dataset.testid;
  const same = test
    ? element.querySelector(
        test === "fail" || test === "repair"
          ? '[data-testid="fail"], [data-testid="repair"]'
          : `[data-testid="${test}"]`,
      )
    : null;
  (same ?? element).focus({ preventScroll: true });
}

/** Replaces all children of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Returns the element with this id. The page's markup guarantees that it exists. */
export function byId(id) {
  return document.getElementById(id);
}

/** Returns a table with a caption for screen readers. `columns` are `{title, numeric}`; rows are `{cells, onclick, label}`.
 *  A row that can be clicked has a button in its first cell, for the keyboard. */
export function table(caption, columns, rows, attributes = {}) {
  const head = h(
    "tr",
    {},
    columns.map((column) => h("th", { scope: "col", class: column.numeric ? "numeric" : null }, column.title)),
  );
  const body = rows.map((row) => {
    const line = h("tr", row.onclick ? { class: "clickable", title: row.label, onclick: row.onclick } : {});
    const cells = row.onclick
      ? [h("button", { type: "button", class: "cell-link" }, row.cells[0]), ...row.cells.slice(1)]
      : row.cells;
    line.append(...cells.map((cell, k) => h("td", { class: columns[k].numeric ? "numeric" : null }, cell)));
    return line;
  });
  return h("table", attributes, h("caption", { class: "hidden" }, caption), h("thead", {}, head), h("tbody", {}, body));
}

/** Makes an element answer to a click, Enter and the space bar. */
export function onPress(element, action) {
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    action(event);
  });
}

/** Offers `blob` to the user as a file. */
export function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Says `text` to screen readers through the live region. */
export function announce(text) {
  byId("live").textContent = text;
}
