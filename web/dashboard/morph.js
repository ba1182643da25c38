// Makes what is shown like what should be shown and touches nothing else, so that focus, selection, scroll positions and
// opened details outlive every second's news. Elements with the same data-key are the same thing, wherever they stand.

const keyOf = (node) => node?.dataset?.key;
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function attributes(shown, wanted) {
  for (const { name } of [...shown.attributes])
    // What the reader opened stays open.
    if (!wanted.hasAttribute(name) && name !== "open") shown.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
}

function children(shown, wanted) {
  const keyed = new Map([...shown.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let at = shown.firstChild;
  for (const next of [...wanted.childNodes]) {
    const key = keyOf(next);
    const match = key ? keyed.get(key) : at && !keyOf(at) ? at : null;
    if (!match || !alike(match, next)) {
      shown.insertBefore(next, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else shown.insertBefore(match, at);
    morph(match, next);
  }
  while (at) {
    const behind = at.nextSibling;
    at.remove();
    at = behind;
  }
}

export function morph(shown, wanted) {
  if (shown.nodeType === Node.TEXT_NODE) {
    if (shown.data !== wanted.data) shown.data = wanted.data;
    return;
  }
  if (shown.nodeType !== Node.ELEMENT_NODE) return;
  attributes(shown, wanted);
  children(shown, wanted);
}

/// Puts what it is given into `place`, which stays.
export function show(place, ...content) {
  const wanted = place.cloneNode(false);
  wanted.append(...content.flat(Infinity).filter(Boolean));
  morph(place, wanted);
}
