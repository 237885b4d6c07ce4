// The window of chapter 10: one signature under each choice of the measure, before that of the published code.
// The numbers are those of the chapter's table: a row for each activation, a column for each specification.
"use strict";

function drawChoicesWindow(place) {
  const table = JSON.parse(place.querySelector("script").textContent);
  const scores = new Map(table.columns.map((words, column) => [words.join(), table.data.map((row) => row[column])]));
  const CHOICES = {
    Reduction: { mean: "average", sample: "one position" },
    Order: { "activate-first": "average after", "reduce-first": "average before" },
    Covariance: { "ledoit-wolf": "shrunk", empirical: "empirical" },
    Coupling: { exact: "exact", paired: "paired" },
  };
  const MARKS = { // of a place, as in the figures of the book
    hidden: ["outside of blocks", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"],
    first: ["first inside a block", "M0 -4.5L4.3 3.5H-4.3z"],
    "after-sum": ["after a sum", "M-1.4 -4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z"],
  };
  const usual = scores.get(Object.values(CHOICES).map((words) => Object.keys(words)[0]).join());
  const across = (index) => 40 + (index / (usual.length - 1)) * 384;
  const up = (score) => 190 - score * 176;

  const set = ([name, words]) => `<fieldset><legend>${name}</legend>${Object.entries(words).map(([word, text], place) =>
    `<label><input type="radio" name="${name}" value="${word}" ${place ? "" : "checked"}>${text}</label>`).join("")}
    </fieldset>`;
  place.innerHTML = `
    <div class="window-controls">${Object.entries(CHOICES).map(set).join("")}</div>
    <p class="window-key">${Object.entries(MARKS).map(([kind, [text, d]]) =>
      `<span><svg class="window-mark" viewBox="-5 -5 10 10" aria-hidden="true"><path class="kind-${kind}" d="${d}"/></svg>${text}</span>`
    ).join("")}<span class="limit">published code</span></p>
    <svg viewBox="0 0 440 232" role="img"></svg>
    <p class="window-says"></p>`;
  const drawing = place.querySelector("svg[role]"), says = place.querySelector(".window-says");

  const { add, line, write } = penOf(drawing);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const onPaper = (values) => values.map((score, index) => [across(index), up(score)]);

  function draw() {
    const words = [...place.querySelectorAll("input:checked")].map((input) => input.value);
    const one = words[0] === "sample"; // for one position both orders are the same
    for (const input of place.querySelectorAll("input[name=Order]")) input.disabled = one;
    if (one) words[1] = "activate-first";
    const shown = scores.get(words.join());
    drawing.replaceChildren();
    line("axis", [[40, up(1)], [40, up(0)], [424, up(0)]]);
    for (const mark of [0, 0.5, 1]) write(mark.toFixed(1), 34, up(mark) + 4, "end");
    for (const index of [0, 18, 36, 54]) write(index + 1, across(index), up(0) + 18);
    write("activation of ResNet-56, in order", 232, up(0) + 38);
    if (shown !== usual) line("course", onPaper(shown)); // under the dashed line it would look like one line
    line("limit", onPaper(usual));
    onPaper(shown).forEach(([x, y], index) => {
      const kind = table.index[index][1];
      add("path", { class: `kind-${kind}`, d: MARKS[kind][1], transform: `translate(${x} ${y})` });
    });
    const text = `Mean score ${mean(shown).toFixed(2)}; under the choices of the published code ${mean(usual).toFixed(2)}.`;
    says.textContent = one ? `${text} For one position both orders are the same.` : text;
    drawing.setAttribute("aria-label", `The scores of the activations of ResNet-56. ${text}`);
  }

  place.addEventListener("input", draw);
  draw();
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("choices-window");
  if (place) drawChoicesWindow(place);
});
