// The charts of the last minutes: those of the reports, over the time of day, moving on with every second unless the
// reader looks at an earlier stretch.
import { Chart } from "../src/chart.js";
import { h, name } from "../src/dom.js";
import { count, fixed, moment } from "../src/format.js";
import { onTheme } from "../src/theme.js";
import { View } from "../src/view.js";
import { show } from "./morph.js";
import { grid, number } from "./grid.js";

const LEAST_S = 60;
const ROLES = { warmup: "warming up", baseline: "measuring the found setting", trial: "trying a setting", hold: "holding a setting", control: "checking the found setting" };

const two = (n) => String(n).padStart(2, "0");
/// "14:03:05" of seconds since a midnight; with `step` below one also parts of a second.
export function clock(value, step = 1) {
  const whole = Math.floor(value + 1e-6);
  const day = ((whole % 86400) + 86400) % 86400;
  const part = step < 1 ? (value - whole).toFixed(1).slice(1).replace(/^\.10$/, ".9") : "";
  return `${two(Math.floor(day / 3600))}:${two(Math.floor(day / 60) % 60)}:${two(day % 60)}${part}`;
}

class LiveChart extends Chart {
  make() {
    super.make();
    // A time of day instead of a moment of a run.
    this.plot.axes[0].values = (u, splits, i, space, step) => splits.map((v) => clock(v, step));
    this.plot.redraw(false, true);
  }

  tell(u) {
    super.tell(u);
    const at = u.data[0][u.cursor.idx ?? -1];
    const own = at === undefined ? null : moment(at);
    if (own && this.readout.textContent.startsWith(own)) this.readout.textContent = clock(at) + this.readout.textContent.slice(own.length);
  }
}

export class Charts {
  /// `kinds`: [{key, title, unit, digits}]; `tracksOf(key)`: its tracks now; `blocksOf()`: what rubato was doing.
  constructor(kinds, tracksOf, blocksOf = () => []) {
    Object.assign(this, { tracksOf, blocksOf });
    this.view = new View(0, LEAST_S, 5);
    this.charts = kinds.map((kind) => Object.assign(new LiveChart(this.view, { ...kind, tracks: [] }), { key: kind.key }));
    this.off = new Set();
    const { view } = this;
    const button = (label, what, action) => h("button", { type: "button", title: what, "aria-label": what, onclick: action }, label);
    this.where = h("output", { class: "where" });
    this.chooser = h("fieldset", { class: "chooser", hidden: true }, h("legend", {}, "Show"));
    this.roles = h("ul", { class: "roles", "aria-label": "Colours along the upper edge of the charts: what rubato was doing", hidden: true });
    this.figures = h("div", { id: "in-view" });
    this.element = h("div", { class: "timeline" },
      h("div", { class: "toolbar", role: "toolbar", "aria-label": "Stretch of time in view" },
        button("◀", "Earlier", () => view.pan(-0.5)), button("▶", "Later", () => view.pan(0.5)), button("+", "Closer", () => view.zoom(0.5)),
        button("−", "Further", () => view.zoom(2)), button("Now", "All of it, up to now", () => view.reset()), this.where),
      h("p", { id: "keys", class: "note screen" }, "Drag across a chart to look closer, double-click for all of it. On a chart that has the focus: arrow left and right " +
        "move, arrow up and down or + and − zoom, Home shows all; with the wheel, hold Shift or Ctrl. What ends at now moves on with it. Dashed is the limit in force."),
      this.chooser, this.roles, h("div", { class: "charts" }, this.charts.map((chart) => chart.element)), this.figures);
    view.on(() => this.moved(true));
    onTheme(() => this.charts.forEach((chart) => chart.again()));
    this.sight = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const chart = this.charts.find((c) => c.element === entry.target);
        chart.visible = entry.isIntersecting;
        if (chart.visible && chart.stale) chart.refresh();
      }
    }, { rootMargin: "50px" });
    for (const chart of this.charts) this.sight.observe(chart.element);
    new ResizeObserver(() => this.moved(false)).observe(this.element);
    this.told = 0;
  }

  moved(byReader) {
    this.where.textContent = `${clock(this.view.from)} to ${clock(this.view.to)}`;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const chart of this.charts) if (chart.tracks.length > 0) chart.refresh();
      this.tell(byReader);
    });
  }

  // Boxes for the GPUs, from the second on.
  offer(owners) {
    const known = [...this.chooser.querySelectorAll("input")].map((box) => box.dataset.owner);
    if (known.join("\n") === owners.map((o) => o.label).join("\n")) return;
    for (const label of this.chooser.querySelectorAll("label")) label.remove();
    for (const { label, colour } of owners) {
      const box = h("input", { type: "checkbox", checked: !this.off.has(label), "data-owner": label, onchange: () => {
        if (box.checked) this.off.delete(label);
        else this.off.add(label);
        this.draw(this.until);
      } });
      this.chooser.append(h("label", {}, box, h("span", { class: `swatch line-${colour % 8}` }), name(label)));
    }
    this.chooser.hidden = owners.length < 2;
  }

  /// `until`: [first, last] moment that is known.
  draw(until) {
    this.until = until;
    const { view } = this;
    const ended = view.to >= view.whole[1] - 1e-6;
    const all = ended && view.from <= view.whole[0] + 1e-6;
    const length = view.to - view.from;
    view.whole = [Math.min(until[0], until[1] - LEAST_S), until[1]];
    if (all) [view.from, view.to] = view.whole;
    else if (ended) [view.from, view.to] = [until[1] - length, until[1]];
    else if (view.from < view.whole[0]) [view.from, view.to] = [view.whole[0], view.whole[0] + length];
    const blocks = this.blocksOf();
    const roles = [...new Set(blocks.map((block) => block.role))];
    this.roles.hidden = roles.length === 0;
    show(this.roles, roles.map((role) => h("li", {}, h("span", { class: `role role-${role}` }), ROLES[role] ?? role)));
    const owners = new Map();
    for (const chart of this.charts) {
      const tracks = this.tracksOf(chart.key).filter((track) => track?.length > 0);
      for (const track of tracks) {
        if (track.owner) owners.set(track.owner, track.colour);
        track.shown = !this.off.has(track.owner);
      }
      chart.blocks = blocks;
      chart.tracks = tracks;
      chart.element.hidden = tracks.length === 0;
      // A plot knows its lines and colours from the beginning.
      const made = JSON.stringify([chart.shown.map((track) => [track.id, track.colour]), roles]);
      if (chart.made_for !== made) chart.again();
      chart.made_for = made;
    }
    this.offer([...owners].map(([label, colour]) => ({ label, colour })));
    this.moved(false);
  }

  // The same as figures, for whoever does not see the charts; not every second, so that they can be read.
  tell(atOnce) {
    if (!atOnce && Date.now() - this.told < 5000) return;
    const rows = this.charts.flatMap((chart) => chart.shown.map((track) => {
      const s = track.summary(this.view.from, this.view.to);
      const value = (v) => (s ? `${fixed(v, chart.digits)} ${chart.unit}` : null);
      return [chart.title, name(track.label), s ? count(s.samples) : "0", value(s?.mean), value(s?.low), value(s?.high)];
    }));
    if (rows.length > 0) this.told = Date.now();
    show(this.figures, rows.length > 0 && h("details", {}, h("summary", {}, "The same as figures"), grid("in-view-table", "In view", ["quantity", "of", number("readings"), number("mean of readings"), number("lowest"), number("highest")], rows)));
  }
}
