// Small functions that make and change elements. All text is set as text, never as HTML.

/** el('td', {class: 'n'}, 'text', child) */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ''));
  return element;
}

/** Replaces the children of `place`, unless they would look the same. */
export function put(place, ...children) {
  const fresh = el('div', {}, ...children);
  if (fresh.innerHTML !== place.innerHTML) place.replaceChildren(...fresh.childNodes);
}

/** A table that scrolls inside its box: columns are [heading, class], rows are lists of cells. */
export function table(caption, columns, rows) {
  const head = el('tr', {}, ...columns.map(([name, kind]) => el('th', {scope: 'col', class: kind}, name)));
  const body = rows.map((row) => el('tr', {}, ...row.map((cell, i) =>
    i === 0 ? el('th', {scope: 'row', class: columns[0][1]}, cell) : el('td', {class: columns[i][1]}, cell))));
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    el('table', {}, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, ...body)));
}

/** A bar of parts, each {share, kind, label}; `label` says it all in words. */
export function bar(label, parts) {
  return el('div', {class: 'bar', role: 'img', 'aria-label': label}, ...parts.map((part) =>
    el('i', {class: part.kind, style: `width:${(100 * Math.max(0, Math.min(1, part.share))).toFixed(1)}%`})));
}

export const note = (text) => el('p', {class: 'note'}, text);
