// Charts over time that move together, the buttons that move them, and the figures of what is in view.
import { Chart } from "./chart.js";
import { h, table, name } from "./dom.js";
import { count, fixed, moment } from "./format.js";
import { onTheme } from "./theme.js";
import { View } from "./view.js";

const SETTLED_MS = 150;

export class Timeline {
  constructor(from, to, roles = []) {
    this.view = new View(from, to);
    this.charts = [];
    this.owners = new Map();
    this.roles = roles;
    this.where = h("output", { class: "where" });
    this.state = h("p", { class: "note", role: "status" }, "Unpacking the samples …");
    this.chooser = h("fieldset", { class: "chooser", hidden: true }, h("legend", {}, "Show"));
    this.places = h("div", { class: "charts" });
    this.figures = h("div", { id: "in-view" });
    const button = (label, what, action) => h("button", { type: "button", title: what, "aria-label": what, onclick: action }, label);
    const { view } = this;
    this.element = h("div", { class: "timeline" },
      h("div", { class: "toolbar", role: "toolbar", "aria-label": "Stretch of time in view" },
        button("◀", "Earlier", () => view.pan(-0.5)), button("▶", "Later", () => view.pan(0.5)),
        button("+", "Closer", () => view.zoom(0.5)), button("−", "Further", () => view.zoom(2)),
        button("Whole run", "Whole run", () => view.reset()), this.where),
      h("p", { id: "keys", class: "note screen" }, "Drag across a chart to look closer, double-click for the whole run. On a chart that has the focus: arrow left and right move, " +
        "arrow up and down or + and − zoom, Home shows the whole run; with the wheel, hold Shift or Ctrl. A line is the mean of what a pixel " +
        "covers, the band around it goes from the lowest to the highest sample."),
      this.chooser, this.legend(), this.state, this.places, this.figures);
    this.pending = this.coming = false;
    view.on(() => this.refresh());
    onTheme(() => this.charts.forEach((chart) => chart.again()));
    this.sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const chart = this.charts.find((c) => c.element === entry.target);
        chart.visible = entry.isIntersecting;
        if (chart.visible && chart.stale) chart.refresh();
      }
    }, { rootMargin: "50px" });
    new ResizeObserver(() => this.refresh()).observe(this.places);
    addEventListener("beforeprint", () => this.drawAll());
    this.tell();
  }

  legend() {
    if (this.roles.length === 0) return null;
    const shown = [...new Set(this.roles.map((block) => block.role))];
    return h("ul", { class: "roles", "aria-label": "Colours along the upper edge of the charts: what rubato was doing" },
      shown.map((role) => h("li", {}, h("span", { class: `role role-${role}` }), role)));
  }

  /// Puts a track into the chart of `key`, which is made with the first.
  put(key, options, track) {
    if (track.length === 0) return;
    let chart = this.charts.find((c) => c.key === key);
    if (!chart) {
      chart = new Chart(this.view, { ...options, tracks: [], blocks: this.roles });
      chart.key = key;
      chart.order = options.order ?? 100;
      const next = this.charts.find((c) => c.order > chart.order);
      this.charts.push(chart);
      this.charts.sort((a, b) => a.order - b.order);
      this.places.insertBefore(chart.element, next?.element ?? null);
      this.sight.observe(chart.element);
    }
    track.shown = this.owners.get(track.owner)?.checked ?? true;
    if (track.owner) this.offer(track.owner, track);
    chart.put(track);
    this.drawStale();
  }

  /// What is in sight, without waiting for a frame: the parser is busy with the samples behind the script.
  drawNow() {
    for (const chart of this.charts) {
      chart.visible = chart.element.getBoundingClientRect().top < innerHeight;
      if (chart.visible) chart.refresh();
    }
  }

  // Once a frame, however much came meanwhile.
  drawStale() {
    if (this.coming) return;
    this.coming = true;
    requestAnimationFrame(() => {
      this.coming = false;
      for (const chart of this.charts) if (chart.visible && chart.stale) chart.refresh();
    });
  }

  // A box for each GPU or meter, from the second on.
  offer(owner, track) {
    if (this.owners.has(owner)) return;
    const box = h("input", { type: "checkbox", checked: true, onchange: () => {
      for (const chart of this.charts) {
        for (const t of chart.tracks) if (t.owner === owner) t.shown = box.checked;
        chart.again();
      }
      this.tell();
    } });
    this.owners.set(owner, box);
    this.chooser.append(h("label", {}, box, h("span", { class: `swatch line-${track.colour % 8}` }), name(owner)));
    this.chooser.hidden = this.owners.size < 2;
  }

  refresh() {
    this.where.textContent = `${moment(this.view.from)} to ${moment(this.view.to)}`;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const chart of this.charts) chart.refresh(true);
    });
    clearTimeout(this.settled);
    this.settled = setTimeout(() => {
      for (const chart of this.charts) chart.refresh();
      this.tell();
    }, SETTLED_MS);
  }

  drawAll() {
    for (const chart of this.charts) {
      const was = chart.visible;
      chart.visible = true;
      if (chart.stale || !chart.plot) chart.refresh();
      chart.visible = was;
    }
  }

  // The same as figures, for whoever does not see the charts, and for whoever wants them exact.
  tell() {
    const { from, to } = this.view;
    this.where.textContent = `${moment(from)} to ${moment(to)}`;
    const rows = [];
    for (const chart of this.charts) {
      for (const track of chart.shown) {
        const s = track.summary(from, to);
        const value = (v) => (s ? `${fixed(v, chart.digits)} ${chart.unit}` : null);
        rows.push([chart.title, name(track.label), s ? count(s.samples) : "0", value(s?.mean), value(s?.low), value(s?.high)]);
      }
    }
    const number = (head) => ({ head, number: true });
    this.figures.replaceChildren(...[table("In view", ["quantity", "of", number("samples"), number("mean of samples"), number("lowest"), number("highest")], rows)].filter(Boolean));
  }

  /// Nothing more comes.
  done(text = "") {
    this.state.textContent = text;
    this.state.hidden = text === "";
    this.tell();
  }
}
