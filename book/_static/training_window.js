// The window of chapter 11: the reader moves through the steps of a training and sees the signature of the network at
// each. The page has the numbers, as JSON behind the window: steps, accuracy, and scores (a row for each step).
"use strict";

function drawTrainingWindow(place, { steps, accuracy, scores }) {
  const WIDTH = 440, LOWEST = 0.2; // of the drawing, and of the axis of scores
  const count = scores[0].length;
  const acrossX = (activation) => 52 + (activation / (count - 1)) * (WIDTH - 64);
  const upY = (score) => 14 + ((1 - score) / (1 - LOWEST)) * 200;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const percent = (share) => `${Math.round(100 * share)} %`;

  place.innerHTML = `
    <label class="training-controls">Steps of the optimiser
      <input type="range" min="0" max="${steps.length - 1}" step="1" value="${steps.length - 1}"></label>
    <p class="training-key"><span class="start">before training</span> <span class="now">at this step</span></p>
    <svg viewBox="0 0 ${WIDTH} 262" role="img"></svg>
    <p class="training-verdict"></p>`;
  const slider = place.querySelector("input");
  const drawing = place.querySelector("svg");
  const verdict = place.querySelector(".training-verdict");

  const { add, line, write } = penOf(drawing);
  const signature = (values) => values.map((score, activation) => [acrossX(activation), upY(score)]);

  function draw() {
    const at = Number(slider.value), now = signature(scores[at]);
    drawing.replaceChildren();
    for (const mark of [0.2, 0.4, 0.6, 0.8, 1]) {
      line("grid", [[acrossX(0), upY(mark)], [acrossX(count - 1), upY(mark)]]);
      write(mark, acrossX(0) - 10, upY(mark) + 4, "end");
    }
    for (let activation = 0; activation < count; activation += 2) write(activation + 1, acrossX(activation), 234);
    write("activation, from the first to the last", acrossX((count - 1) / 2), 256);
    add("text", { transform: `translate(12 ${upY(0.6)}) rotate(-90)`, "text-anchor": "middle" }, "score");
    line("start", signature(scores[0]));
    line("now", now);
    for (const [cx, cy] of now) add("circle", { class: "now", cx, cy, r: 4 });

    const level = mean(scores[at]).toFixed(2);
    const says = `step ${steps[at]} of ${steps.at(-1)}: mean score ${level}, accuracy ${percent(accuracy[at])}`;
    place.dataset.score = mean(scores[at]);
    verdict.innerHTML = `<strong>${level}</strong> is the mean score at step ${steps[at]} of ${steps.at(-1)};
      ${percent(accuracy[at])} of the held-out digits are named right.`;
    drawing.setAttribute("aria-label", `Scores of ${count} activations at ${says}.`);
    slider.setAttribute("aria-valuetext", says);
  }

  slider.addEventListener("input", draw);
  draw();
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("training-window");
  if (place) drawTrainingWindow(place, JSON.parse(place.nextElementSibling.textContent));
});
