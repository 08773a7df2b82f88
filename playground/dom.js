// Elements, made in one call.

/** An HTML element. Attributes `on…` are listeners; `false` and `null` leave one out; children are nodes or texts. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** The report's palette (python/multihop/report/svg.py), which the build puts in. */
export const PALETTE = JSON.parse(document.getElementById("palette").textContent);

/** The colour of the i-th of a list. */
export const colour = (index) => PALETTE[index % PALETTE.length];
