// One quantity over time: for each track its mean as a line, and the extremes around it as a band.
import uPlot from "uplot";
import { h } from "./dom.js";
import { fixed, moment } from "./format.js";
import { drawn } from "./track.js";
import { ink } from "./theme.js";

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
  7200, 14400, 21600, 43200, 86400, 172800, 604800];
const HEIGHT = 190;
const COLOURS = 8;
const WIDTH = 1.5;
// Pixels in a column while the view moves.
const MOVING = 4;

/// So many that two ticks never read the same.
const digitsOf = (step) => [0, 1, 2, 3].find((n) => Math.abs(step * 10 ** n - Math.round(step * 10 ** n)) < 1e-6) ?? 4;
const colour = (track) => ink(`--line-${track.colour % COLOURS}`);
const faint = (track) => `${colour(track)}44`;

export class Chart {
  constructor(view, { title, unit, digits = 1, tracks, blocks = [] }) {
    Object.assign(this, { view, title, unit, digits, tracks, blocks });
    this.place = h("div", { class: "plot", "aria-hidden": "true" });
    this.readout = h("p", { class: "readout", "aria-hidden": "true" }, " ");
    this.element = h("div", { class: "chart", tabindex: 0, role: "group", "aria-label": `${title}, ${unit}, over time`,
      "aria-describedby": "keys", onkeydown: (event) => { if (view.key(event)) event.preventDefault(); } },
      h("h3", {}, title, " ", h("span", { class: "unit" }, unit)), this.place, this.readout);
    this.visible = this.moving = false;
    this.stale = true;
    this.plot = null;
  }

  get shown() { return this.tracks.filter((track) => track.shown && track.length > 0); }

  /// Columns of the canvas that hold data.
  columns() { return Math.max(100, Math.floor((this.plot?.over.clientWidth || this.place.clientWidth - 70) || 600)); }

  make() {
    this.plot?.destroy();
    const tracks = this.shown;
    const axis = { stroke: ink("--muted"), grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid"), width: 1 },
      font: `12px ${ink("--font")}` };
    // What is set, and not what wavers, is that until it is read otherwise.
    const series = [{}, ...tracks.map((track) => ({ label: track.label, stroke: colour(track), width: WIDTH,
      dash: track.dashed ? [6, 4] : undefined, points: { size: 4, filter: () => (this.moving ? [] : null) }, paths: track.steps ? uPlot.paths.stepped({ align: 1 }) : undefined }))];
    this.fills = tracks.map(faint);
    this.inks = Object.fromEntries([...new Set(this.blocks.map((block) => block.role))].map((role) => [role, ink(`--role-${role}`) || ink("--muted")]));
    const { view } = this;
    this.made = this.place.clientWidth;
    this.plot = new uPlot({
      width: Math.max(240, this.made), height: HEIGHT, series,
      legend: { show: false },
      scales: { x: { time: false, range: () => [view.from, view.to] },
        y: { range: () => this.range() } },
      axes: [{ ...axis, incrs: STEPS, space: 90, values: (u, splits, i, space, step) => splits.map((v) => moment(v, step)) },
        { ...axis, size: 62, values: (u, splits, i, space, step) => splits.map((v) => fixed(v, digitsOf(step))) }],
      cursor: { sync: { key: "rubato" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      hooks: {
        setSelect: [(u) => {
          if (u.select.width < 3) return;
          const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          view.set(from, to);
        }],
        setCursor: [(u) => this.tell(u)],
        drawClear: [(u) => { this.bands(u); this.roles(u); }],
      },
    }, this.data(), this.place);
    const over = this.plot.over;
    over.addEventListener("dblclick", () => view.reset());
    over.addEventListener("wheel", (event) => {
      // A page that scrolls under the pointer would lose its reader: only with a modifier key, or where nothing scrolls.
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const at = this.plot.posToVal(event.offsetX, "x");
      view.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, at);
    }, { passive: false });
    this.stale = false;
  }

  /// While the view moves, every fourth pixel has to do.
  data(moving = false) {
    const columns = this.columns();
    this.made_of = drawn(this.shown, this.view.from, this.view.to, Math.ceil(columns / (moving ? MOVING : 1)), 2 * columns, moving);
    this.place.dataset.single = this.made_of.single;
    this.place.dataset.read = this.made_of.read;
    return [this.made_of.x, ...this.made_of.means];
  }

  range() {
    const { means, lows, highs, single } = this.made_of;
    let low = Infinity, high = -Infinity;
    for (const values of single ? means : [...lows, ...highs])
      for (const v of values) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    if (low > high) return [0, 1];
    const pad = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
    return [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
  }

  // From the lowest to the highest sample of each column, in one shape as long as nothing is missing.
  bands(u) {
    const { x, lows, highs } = this.made_of;
    const { ctx, bbox } = u;
    const sx = bbox.width / (this.view.to - this.view.from), ox = bbox.left - this.view.from * sx;
    const { min, max } = u.scales.y;
    const sy = -bbox.height / (max - min), oy = bbox.top + bbox.height - min * sy;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    lows.forEach((low, k) => {
      const high = highs[k];
      ctx.fillStyle = this.fills[k];
      ctx.beginPath();
      for (let i = 0; i < x.length; ) {
        // Columns between two samples are passed over, holes end the shape.
        let end = i;
        const at = [];
        while (end < x.length && this.made_of.means[k][end] !== null) {
          if (low[end] === low[end]) at.push(end);
          ++end;
        }
        at.forEach((j, n) => (n === 0 ? ctx.moveTo(ox + x[j] * sx, oy + high[j] * sy) : ctx.lineTo(ox + x[j] * sx, oy + high[j] * sy)));
        for (let n = at.length - 1; n >= 0; --n) ctx.lineTo(ox + x[at[n]] * sx, oy + low[at[n]] * sy);
        i = end + 1;
      }
      ctx.fill();
    });
    ctx.restore();
  }

  // What the governor was doing, along the upper edge.
  roles(u) {
    if (this.blocks.length === 0) return;
    const { ctx, bbox } = u;
    for (const block of this.blocks) {
      if (block.end_s < this.view.from || block.begin_s > this.view.to) continue;
      const left = Math.max(bbox.left, u.valToPos(block.begin_s, "x", true));
      const right = Math.min(bbox.left + bbox.width, u.valToPos(block.end_s, "x", true));
      ctx.fillStyle = this.inks[block.role];
      ctx.fillRect(left, bbox.top, right - left + 1, 5 * devicePixelRatio);
    }
  }

  tell(u) {
    const i = u.cursor.idx;
    if (i === null || i === undefined || (u.cursor.left ?? -1) < 0) {
      this.readout.textContent = "\u00a0";
      return;
    }
    const parts = this.shown.map((track, k) => {
      const mean = u.data[k + 1]?.[i], low = this.made_of.lows[k]?.[i], high = this.made_of.highs[k]?.[i];
      if (mean === null || mean === undefined) return null;
      const band = high > low ? ` (${fixed(low, this.digits)} to ${fixed(high, this.digits)})` : "";
      return `${track.label} ${fixed(mean, this.digits)}${band}`;
    }).filter(Boolean);
    this.readout.textContent = `${moment(u.data[0][i])}: ${parts.join(" · ") || "nothing was read"}`;
  }

  /// Draws where somebody can see it; elsewhere it is drawn when it comes into sight.
  refresh(moving = false) {
    if (!this.visible) {
      this.stale = true;
      return;
    }
    if (!this.plot || this.place.clientWidth !== this.made) {
      this.make();
      return;
    }
    this.moving = moving;
    // A line of one pixel is drawn in a fraction of the time.
    for (const series of this.plot.series) series.width = moving ? 1 : WIDTH;
    this.plot.setData(this.data(moving), true);
    this.stale = false;
  }

  /// Adds a track, or puts one in the place of that with the same id: the same series, better known.
  put(track) {
    const was = this.tracks.findIndex((t) => t.id === track.id);
    if (was < 0) {
      this.tracks.push(track);
      this.plot?.destroy();
      this.plot = null;
    } else {
      track.shown = this.tracks[was].shown;
      this.tracks[was] = track;
    }
    this.stale = true;
  }

  /// After a change of colours or of the tracks shown.
  again() {
    if (this.plot) this.make();
  }
}
