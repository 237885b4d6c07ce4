/* Names of the points of a chart: a label beside the point under the pointer, the finger or the focus. A chart is one
   stop of the tab key; arrow keys move over its points. */

(() => {
  const label = document.createElement("div");
  label.className = "explorer-label";
  label.hidden = true;
  label.setAttribute("aria-hidden", "true"); // the point itself has the name
  document.body.append(label);

  function show(point) {
    const box = point.getBoundingClientRect();
    label.textContent = point.getAttribute("aria-label");
    label.hidden = false;
    const left = Math.min(box.left + box.width / 2 + 8, document.documentElement.clientWidth - label.offsetWidth - 4);
    const below = box.top < label.offsetHeight + 10;
    label.style.left = `${Math.max(left, 4)}px`;
    label.style.top = `${below ? box.bottom + 6 : box.top - label.offsetHeight - 6}px`;
  }

  const hide = () => (label.hidden = true);

  /* How far a place is from a point, 0 on it. */
  function distance(point, x, y) {
    const box = point.getBoundingClientRect();
    return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
  }

  function follow(chart) {
    const points = [...chart.querySelectorAll(".point")];
    points.forEach((point, number) => point.setAttribute("tabindex", number ? -1 : 0));
    const near = (event) => {
      const [at, point] = points
        .map((point) => [distance(point, event.clientX, event.clientY), point])
        .reduce((one, other) => (other[0] < one[0] ? other : one), [12, null]);
      return point;
    };
    chart.addEventListener("pointermove", (event) => {
      const point = near(event);
      point ? show(point) : hide();
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("click", (event) => near(event)?.focus({ preventScroll: true }));
  }

  /* The point that an event is of, and all points of its chart. */
  function of(event) {
    const point = event.target.closest?.(".explorer-chart .point");
    return [point, point ? [...point.closest("svg").querySelectorAll(".point")] : []];
  }

  // on the document: browsers give an SVG that listens to the focus a stop of its own
  document.addEventListener("focusin", (event) => {
    const [point, points] = of(event);
    points.forEach((other) => other.setAttribute("tabindex", other === point ? 0 : -1));
    if (point) show(point);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    const [point, points] = of(event);
    if (!point) return;
    const ends = { Home: 0, End: points.length - 1 };
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const next = points[ends[event.key] ?? points.indexOf(point) + (steps[event.key] ?? NaN)];
    if (event.key === "Escape") hide();
    if (!next) return;
    event.preventDefault();
    next.focus();
  });

  window.affscoreFollow = follow;
  document.addEventListener("scroll", hide, { passive: true, capture: true });
})();
