// What the windows of the chapters draw with: shapes, lines and words in an SVG.
"use strict";

function penOf(drawing) {
  const SVG = "http://www.w3.org/2000/svg";
  function add(kind, look, text = "") {
    const element = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(look)) element.setAttribute(name, value);
    element.textContent = text;
    drawing.append(element);
  }
  return {
    add,
    line: (look, points) => add("polyline", { class: look, points: points.map((p) => p.join(",")).join(" ") }),
    write: (text, x, y, anchor = "middle") => add("text", { x, y, "text-anchor": anchor }, text),
  };
}
