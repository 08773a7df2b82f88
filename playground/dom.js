// Creation of elements.

/** Creates an HTML element. Attributes `on…` are listeners; `false` and `null` omit an attribute; children are nodes or texts. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Creates an SVG element, with arguments as for `h`. */
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

/** Palette of the report (python/multihop/report/svg.py), which the build inserts. */
export const PALETTE = JSON.parse(document.getElementById("palette").textContent);

/** Returns the colour of the entry at an index. */
export const colour = (index) => PALETTE[index % PALETTE.length];
