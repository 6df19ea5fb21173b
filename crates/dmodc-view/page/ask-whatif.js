// What breaks next: every single fault is tried, and the worst are listed. The work runs in the back end, reports its
// progress and can be cancelled.
import { announce, fill, h, table } from "./dom.js";
import { count, number, plural } from "./format.js";

const POLL = 500;

export class WhatIfSection {
  constructor(app) {
    this.app = app;
    this.job = null;
    this.parts = h(
      "select",
      { id: "whatif-parts", "data-testid": "whatif-parts", "aria-label": "Which parts to try" },
      h("option", { value: "all" }, "all parts"),
      h("option", { value: "switches" }, "switches"),
      h("option", { value: "cables" }, "cables"),
    );
    this.start = h(
      "button",
      { type: "button", class: "primary", "data-testid": "whatif", onclick: () => this.run() },
      "Try every fault",
    );
    this.cancel = h(
      "button",
      { type: "button", "data-testid": "whatif-cancel", hidden: true, onclick: () => this.stop() },
      "Cancel",
    );
    this.progress = h("progress", { max: "1", value: 0, hidden: true, "aria-label": "Progress" });
    this.status = h("p", { class: "faint", role: "status" });
    this.answer = h("div", { "data-testid": "whatif-answer" });
    this.element = h(
      "section",
      {},
      h("h3", {}, "What breaks next?"),
      h("p", { class: "faint" }, "Each part that works fails on its own; the worst come first."),
      h("div", { class: "row" }, this.parts, this.start, this.cancel),
      this.progress,
      this.status,
      this.answer,
    );
    app.backend.addEventListener("job", (event) => {
      if (event.detail.job === this.job) this.show(event.detail);
    });
    app.store.addEventListener("state", () => this.stale());
  }

  async run() {
    const { backend, store } = this.app;
    fill(this.answer);
    this.busy(true);
    try {
      const job = await backend.startJob({ kind: "whatif", parts: this.parts.value, limit: 100 });
      this.job = job;
      await this.watch(job);
    } catch (error) {
      store.say(error.message);
      this.busy(false);
    }
  }

  /** Asks until the work has ended. The stream brings progress sooner, but may be interrupted. */
  async watch(number) {
    while (this.job === number) {
      const job = await this.app.backend.job(number);
      if (this.job !== number) return;
      this.show(job);
      if (job.state !== "running") {
        this.finish(job);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  show(job) {
    if (job.total > 0) this.progress.value = job.done / job.total;
    if (job.state === "running")
      this.status.textContent = job.total > 0 ? `${count(job.done)} of ${count(job.total)} tried` : "Being prepared…";
  }

  finish(job) {
    this.job = null;
    this.busy(false);
    if (job.state === "cancelled") this.status.textContent = "Cancelled.";
    else if (job.state === "failed") this.status.textContent = job.error ?? "It failed.";
    else this.result(job.result);
  }

  async stop() {
    const number = this.job;
    try {
      await this.app.backend.cancelJob(number);
    } catch (error) {
      this.app.store.say(error.message);
    }
  }

  busy(isBusy) {
    this.start.disabled = isBusy;
    this.cancel.hidden = !isBusy;
    this.progress.hidden = !isBusy;
    this.progress.value = 0;
    this.status.textContent = isBusy ? "Being prepared…" : "";
  }

  result(result) {
    this.revision = result.revision;
    const text = `${plural(result.tried, "fault was tried", "faults were tried")}; ${count(result.harmless)} are harmless. Now the greatest load is ${number(result.now.a2a)}.`;
    this.status.textContent = text;
    announce(text);
    const columns = [
      { title: "If this fails" },
      { title: "lost", numeric: true },
      { title: "all to all", numeric: true },
      { title: "shift", numeric: true },
      { title: "entries", numeric: true },
    ];
    const rows = result.rows.map((row) => ({
      cells: [
        [
          row.name,
          row.alike > 1
            ? h("span", { class: "faint", title: "Other parts do the same harm." }, ` +${count(row.alike - 1)} alike`)
            : null,
        ],
        row.lost > 0 ? h("b", { class: "bad" }, count(row.lost)) : "0",
        number(row.a2a),
        number(row.sp),
        count(row.entries),
      ],
      label: `Show ${row.name}`,
      onclick: () => this.reveal(row),
    }));
    fill(
      this.answer,
      rows.length === 0
        ? h("p", {}, "No single fault does harm.")
        : table("Faults by harm", columns, rows, { class: "compact" }),
    );
  }

  reveal(row) {
    const found = this.app.store.scene.find(row.part);
    if (!found) return;
    this.app.select(found, { reveal: true, open: false });
    this.app.highlight({ marks: [found] });
  }

  stale() {
    if (
      this.revision !== undefined &&
      this.revision !== this.app.store.state.revision &&
      this.job === null &&
      this.answer.childNodes.length > 0
    ) {
      this.status.textContent = "The fabric has changed since; try again for present figures.";
    }
  }
}
