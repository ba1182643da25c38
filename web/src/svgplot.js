// Small still pictures: points with error bars, lines, bands and bounds on two axes, as SVG whose colours are the page's.
import { svg } from "./dom.js";
import { placed } from "./labels.js";

const W = 720, H = 400, LEFT = 66, RIGHT = 18, TOP = 14, BOTTOM = 50;

function ticks(low, high, about) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) out.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return { out, digits: Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) };
}

const label = (v, digits) => v.toFixed(digits).replace("-", "−");

function span(values, pad = 0.08) {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite), high = Math.max(...finite);
  const by = (high - low || Math.abs(high) * 0.1 || 1) * pad;
  return [low - by, high + by];
}

/// The smallest convex shape around points, the same way round (Andrew's monotone chain).
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

let pictures = 0;

/// points: {x, y, x_low?, x_high?, y_low?, y_high?, what, mark: "plain"|"found"|"chosen"|"later", tone}; lines: {points, tone, dashed,
/// aside: true where the axes need not show all of it}; bands: {points: [{x, y_low, y_high}], tone}, joined one to the next;
/// bounds: {x or y, what}. `describe` is the picture in a sentence, for whoever does not see it.
export function plot({ x, y, points = [], lines = [], bands = [], bounds = [], describe }) {
  const xs = [], ys = [];
  for (const p of points) { xs.push(p.x, p.x_low ?? p.x, p.x_high ?? p.x); ys.push(p.y, p.y_low ?? p.y, p.y_high ?? p.y); }
  for (const l of lines) if (!l.aside) for (const p of l.points) { xs.push(p.x); ys.push(p.y); }
  for (const b of bounds) { if (b.x !== undefined) xs.push(b.x); if (b.y !== undefined) ys.push(b.y); }
  if (!xs.some(Number.isFinite)) return null;
  const [x0, x1] = span(xs);
  // Of what goes on beyond the picture, as much as lies above and below it is shown.
  for (const l of lines) if (l.aside) for (const p of l.points) if (p.x >= x0 && p.x <= x1) ys.push(p.y);
  const [y0, y1] = span(ys);
  const px = (v) => LEFT + ((v - x0) / (x1 - x0)) * (W - LEFT - RIGHT);
  const py = (v) => H - BOTTOM - ((v - y0) / (y1 - y0)) * (H - TOP - BOTTOM);
  const at = (v) => v.toFixed(1);
  const out = [];
  const clip = `picture-${++pictures}`;
  out.push(svg("clipPath", { id: clip }, svg("rect", { x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM })));
  const inside = [];
  for (const b of bands) {
    // Shapes that overlap are one shape, or the band would be darker where it turns back.
    const corners = b.points.map((r) => [[px(r.x), py(r.y_low)], [px(r.x), py(r.y_high)]]);
    const d = corners.slice(1).map((c, i) => `M${hull([...corners[i], ...c]).map(([u, v]) => `${at(u)} ${at(v)}`).join("L")}Z`).join("");
    inside.push(svg("path", { d, class: `band tone-${b.tone ?? 0}` }));
  }
  const xt = ticks(x0, x1, 8), yt = ticks(y0, y1, 6);
  for (const v of xt.out)
    out.push(svg("line", { x1: at(px(v)), x2: at(px(v)), y1: TOP, y2: H - BOTTOM, class: "grid" }),
      svg("text", { x: at(px(v)), y: H - BOTTOM + 18, "text-anchor": "middle" }, label(v, xt.digits)));
  for (const v of yt.out)
    out.push(svg("line", { x1: LEFT, x2: W - RIGHT, y1: at(py(v)), y2: at(py(v)), class: "grid" }),
      svg("text", { x: LEFT - 8, y: at(py(v) + 4), "text-anchor": "end" }, label(v, yt.digits)));
  out.push(svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 10, "text-anchor": "middle", class: "axis" }, x),
    svg("text", { x: 14, y: (H - BOTTOM) / 2, "text-anchor": "middle", class: "axis", transform: `rotate(-90 14 ${(H - BOTTOM) / 2})` }, y));
  for (const b of bounds) {
    const along = b.x !== undefined ? { x1: at(px(b.x)), x2: at(px(b.x)), y1: TOP, y2: H - BOTTOM } : { x1: LEFT, x2: W - RIGHT, y1: at(py(b.y)), y2: at(py(b.y)) };
    out.push(svg("line", { ...along, class: "bound" }));
    const text = b.x !== undefined ? { x: at(px(b.x) - 5), y: TOP + 12, "text-anchor": "end" } : { x: W - RIGHT - 4, y: at(py(b.y) - 5), "text-anchor": "end" };
    out.push(svg("text", { ...text, class: "axis" }, b.what));
  }
  for (const l of lines)
    inside.push(svg("polyline", { points: l.points.map((p) => `${at(px(p.x))},${at(py(p.y))}`).join(" "), class: `line tone-${l.tone ?? 0}${l.dashed ? " dashed" : ""}` }));
  out.push(svg("g", { "clip-path": `url(#${clip})` }, inside));
  for (const p of points) {
    const tone = `tone-${p.tone ?? 0}`;
    const bar = (a, b, c, d) => out.push(svg("line", { x1: at(a), x2: at(b), y1: at(c), y2: at(d), class: `bar ${tone}` }));
    if (p.x_low !== undefined) bar(px(p.x_low), px(p.x_high), py(p.y), py(p.y));
    if (p.y_low !== undefined) bar(px(p.x), px(p.x), py(p.y_low), py(p.y_high));
    const title = svg("title", {}, p.what);
    const cx = px(p.x), cy = py(p.y);
    if (p.mark === "found") out.push(svg("rect", { x: at(cx - 6), y: at(cy - 6), width: 12, height: 12, class: `mark ${tone}` }, title));
    else if (p.mark === "chosen") out.push(svg("path", { d: `M${at(cx)} ${at(cy - 9)}L${at(cx + 9)} ${at(cy)}L${at(cx)} ${at(cy + 9)}L${at(cx - 9)} ${at(cy)}Z`, class: `mark chosen ${tone}` }, title));
    else out.push(svg("circle", { cx: at(cx), cy: at(cy), r: 4.5, class: `mark ${tone}${p.mark === "later" ? " later" : ""}` }, title));
  }
  const marks = points.map((p) => ({ x: px(p.x), y: py(p.y), text: p.label, first: p.mark === "chosen" || p.mark === "found" }));
  for (const l of placed(marks, { left: LEFT, right: W - RIGHT, top: TOP, bottom: H - BOTTOM }))
    out.push(svg("text", { x: at(l.x), y: at(l.y), "text-anchor": l.anchor, class: "label" }, l.text));
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "picture", role: "img", "aria-label": describe }, out);
}
