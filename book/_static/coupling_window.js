// The window of chapter 1: six inputs and six outputs in the plane, which the reader moves. Their pairs as they are
// numbered, and their optimal coupling, with the cost of each.
"use strict";

function permutationsOf(items) {
  if (items.length < 2) return [items];
  return items.flatMap((one, k) =>
    permutationsOf([...items.slice(0, k), ...items.slice(k + 1)]).map((rest) => [one, ...rest]));
}

function drawCouplingWindow(place) {
  const SVG = "http://www.w3.org/2000/svg";
  const ACROSS = 10, UP = 6, UNIT = 44; // of the plane, and how many units of the drawing one is
  const PLANS = permutationsOf([0, 1, 2, 3, 4, 5]);
  const PRESETS = {
    scattered: [[1, 3.4], [1.8, 5.2], [2.4, 1.6], [3.4, 4.4], [4, 2.6], [4.8, 5.6],
      [6.2, 1.4], [8.8, 4.8], [7, 3.2], [7.6, 5.4], [5.6, 4.2], [8.6, 2]],
    stretched: [[1, 2], [1.6, 3.6], [2.4, 1.4], [3, 4.4], [3.6, 2.8], [4.2, 3.8],
      [5.2, 2], [6, 3.6], [7, 1.4], [7.8, 4.4], [8.6, 2.8], [9.4, 3.8]],
    turned: [[1.4, 3], [2.2, 4.6], [2.4, 1.6], [3.2, 3.4], [4, 4.8], [4.2, 2],
      [8.6, 3], [7.8, 1.4], [7.6, 4.4], [6.8, 2.6], [6, 1.2], [5.8, 4]],
    shuffled: [[1, 2], [1.6, 4.6], [2.4, 1], [3, 3.4], [3.6, 5], [4.4, 2.2],
      [8, 3.4], [6, 2], [9.4, 2.2], [6.6, 4.6], [7.4, 1], [8.6, 5]],
  };

  place.innerHTML = `
    <p class="coupling-key"><span class="inputs">inputs</span> <span class="outputs">outputs</span>
      <span class="pairs">pairs 1 to 1, 2 to 2 ...</span> <span class="optimal">optimal coupling</span></p>
    <svg viewBox="0 0 ${ACROSS * UNIT} ${UP * UNIT}" role="group"
      aria-label="Six inputs and six outputs in the plane. Move one with the arrow keys or by dragging it."></svg>
    <p class="coupling-verdict" aria-live="polite"></p>
    <p class="coupling-examples">Try ${Object.keys(PRESETS).map((name) =>
      `<button type="button" data-preset="${name}">${name}</button>`).join(" ")} outputs, or move a point.</p>`;
  const drawing = place.querySelector("svg");
  const verdict = place.querySelector(".coupling-verdict");
  const add = (kind, look, parent = drawing) => {
    const element = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(look)) element.setAttribute(name, value);
    return parent.appendChild(element);
  };

  // lines below, points above: each is a group that takes the focus
  const lines = ["pairs", "optimal"].map((look) => [...Array(6)].map(() => add("line", { class: look })));
  const marks = [...Array(12)].map((_, k) => {
    const mark = add("g", { class: k < 6 ? "inputs" : "outputs", tabindex: 0, role: "button" });
    add(k < 6 ? "circle" : "path", k < 6 ? { r: 11 } : { d: "M0 -14 L13 9 L-13 9 Z" }, mark);
    add("text", { y: 5, "text-anchor": "middle" }, mark).textContent = (k % 6) + 1;
    return mark;
  });
  let points = PRESETS.scattered.map((point) => [...point]);

  const square = (i, j) => (points[i][0] - points[6 + j][0]) ** 2 + (points[i][1] - points[6 + j][1]) ** 2;
  const cost = (plan) => plan.reduce((sum, j, i) => sum + square(i, j), 0) / 6;

  function draw() {
    const given = PLANS[0];
    const best = PLANS.reduce((one, other) => (cost(other) < cost(one) - 1e-9 ? other : one));
    [given, best].forEach((plan, k) => plan.forEach((j, i) => {
      const [x1, y1, x2, y2] = [...points[i], ...points[6 + j]].map((number) => number * UNIT);
      for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) lines[k][i].setAttribute(name, value);
    }));
    marks.forEach((mark, k) => {
      const [x, y] = points[k];
      mark.setAttribute("transform", `translate(${x * UNIT} ${y * UNIT})`);
      const at = `${x.toFixed(1)} across, ${(UP - y).toFixed(1)} up`;
      mark.setAttribute("aria-label", `${k < 6 ? "input" : "output"} ${(k % 6) + 1} at ${at}`);
    });
    Object.assign(place.dataset, { points: JSON.stringify(points), pairs: cost(given), optimal: cost(best) });
    verdict.innerHTML = `Mean squared length: pairs <strong>${cost(given).toFixed(2)}</strong>, optimal coupling
      <strong>${cost(best).toFixed(2)}</strong> = <i>W</i><sub>2</sub><sup>2</sup>.
      ${best === given ? "The pairs are the cheapest plan." : "The distance pairs the points itself."}`;
  }

  function move(k, x, y) {
    const inside = (number, end) => Math.round(10 * Math.min(Math.max(number, 0.4), end - 0.4)) / 10;
    points[k] = [inside(x, ACROSS), inside(y, UP)];
    draw();
  }

  marks.forEach((mark, k) => {
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, -0.2], ArrowDown: [0, 0.2] }[event.key];
      if (!step) return;
      event.preventDefault(); // or the page scrolls
      move(k, points[k][0] + step[0], points[k][1] + step[1]);
    });
    mark.addEventListener("pointerdown", (event) => mark.setPointerCapture(event.pointerId));
    mark.addEventListener("pointermove", (event) => {
      if (!mark.hasPointerCapture(event.pointerId)) return;
      const box = drawing.getBoundingClientRect();
      const unit = box.width / ACROSS;
      move(k, (event.clientX - box.left) / unit, (event.clientY - box.top) / unit);
    });
  });
  place.addEventListener("click", (event) => {
    const preset = PRESETS[event.target.dataset.preset];
    if (!preset) return;
    points = preset.map((point) => [...point]);
    draw();
  });
  draw();
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("coupling-window");
  if (place) drawCouplingWindow(place);
});
