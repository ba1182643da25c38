// Where the labels of points stand so that none lies on another or on a point.

const LETTER = 6, LINE = 12, AWAY = 10;

/// `marks`: {x, y, text, first: true for those that matter most}. A label that finds no room is left out: the point says
/// it when it is pointed at, and the table always does.
export function placed(marks, { left, right, top, bottom }) {
  const taken = marks.map(({ x, y }) => ({ x0: x - 5, x1: x + 5, y0: y - 5, y1: y + 5 }));
  const out = [];
  const order = marks.map((mark, own) => ({ mark, own })).sort((a, b) => Number(b.mark.first) - Number(a.mark.first));
  for (const { mark: { x, y, text }, own } of order) {
    if (!text) continue;
    const wide = text.length * LETTER;
    const choices = [[AWAY, -6, "start"], [AWAY, LINE + 2, "start"], [-AWAY, -6, "end"], [-AWAY, LINE + 2, "end"], [0, -AWAY - 2, "middle"], [0, LINE + AWAY, "middle"]];
    for (const [dx, dy, anchor] of choices) {
      const begin = x + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
      const box = { x0: begin, x1: begin + wide, y0: y + dy - LINE + 3, y1: y + dy + 3 };
      if (box.x0 < left || box.x1 > right || box.y0 < top || box.y1 > bottom) continue;
      if (taken.some((t, i) => i !== own && box.x0 < t.x1 && box.x1 > t.x0 && box.y0 < t.y1 && box.y1 > t.y0)) continue;
      taken.push(box);
      out.push({ x: x + dx, y: y + dy, anchor, text });
      break;
    }
  }
  return out;
}
