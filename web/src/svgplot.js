// Small still pictures: points with error bars, lines and bounds on two axes, as SVG whose colours are the page's.
import { svg } from "./dom.js";

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

/// points: {x, y, x_low?, x_high?, y_low?, y_high?, what, mark: "plain"|"found"|"chosen"|"later", tone}; lines: {points, tone, dashed};
/// bounds: {x or y, what}. `describe` is the picture in a sentence, for whoever does not see it.
export function plot({ x, y, points = [], lines = [], bounds = [], describe }) {
  const xs = [], ys = [];
  for (const p of points) { xs.push(p.x, p.x_low ?? p.x, p.x_high ?? p.x); ys.push(p.y, p.y_low ?? p.y, p.y_high ?? p.y); }
  for (const l of lines) for (const p of l.points) { xs.push(p.x); ys.push(p.y); }
  for (const b of bounds) { if (b.x !== undefined) xs.push(b.x); if (b.y !== undefined) ys.push(b.y); }
  const span = (values) => {
    const finite = values.filter(Number.isFinite);
    const low = Math.min(...finite), high = Math.max(...finite);
    const pad = (high - low || Math.abs(high) * 0.1 || 1) * 0.08;
    return [low - pad, high + pad];
  };
  if (!xs.some(Number.isFinite)) return null;
  const [x0, x1] = span(xs), [y0, y1] = span(ys);
  const px = (v) => LEFT + ((v - x0) / (x1 - x0)) * (W - LEFT - RIGHT);
  const py = (v) => H - BOTTOM - ((v - y0) / (y1 - y0)) * (H - TOP - BOTTOM);
  const at = (v) => v.toFixed(1);
  const out = [];
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
    out.push(svg("polyline", { points: l.points.map((p) => `${at(px(p.x))},${at(py(p.y))}`).join(" "), class: `line tone-${l.tone ?? 0}${l.dashed ? " dashed" : ""}` }));
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
    if (p.label) out.push(svg("text", { x: at(cx + 10), y: at(cy - 8), class: "label" }, p.label));
  }
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "picture", role: "img", "aria-label": describe }, out);
}
