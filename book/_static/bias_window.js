// The window of chapter 3: the score of a ReLU over the number of images, with and without shrinkage, against its limit.
// The numbers are those of the chapter's table.
"use strict";

function drawBiasWindow(place) {
  const table = JSON.parse(place.querySelector("script").textContent);
  const sizes = table.index.slice(0, -1), limits = table.data.at(-1); // the last row has the limits
  const LEFT = 52, RIGHT = 414, BOTTOM = 200, LOW = 0.5, HIGH = 0.9;
  const across = (step) => LEFT + (step / (sizes.length - 1)) * (RIGHT - LEFT);
  const up = (score) => BOTTOM - ((score - LOW) / (HIGH - LOW)) * (BOTTOM - 16);

  place.innerHTML = `
    <div class="window-controls">
      <label>Images <input type="range" name="n" min="0" max="${sizes.length - 1}" step="1" value="2"></label>
      <label>Channels <select name="inputs">
        <option value="0">independent</option>
        <option value="2">most variance in few directions</option>
      </select></label>
    </div>
    <p class="window-key"><span class="one">empirical covariance</span> <span class="two">with shrinkage</span>
      <span class="limit">infinitely many images</span></p>
    <svg viewBox="0 0 440 244" role="img"></svg>
    <p class="window-says"></p>`;
  const slider = place.querySelector("input"), inputs = place.querySelector("select");
  const drawing = place.querySelector("svg"), says = place.querySelector(".window-says");

  const { add, line, write } = penOf(drawing);

  function draw() {
    const step = Number(slider.value), first = Number(inputs.value), limit = limits[first];
    const [empirical, shrunk] = table.data[step].slice(first, first + 2);
    drawing.replaceChildren();
    line("axis", [[LEFT, up(HIGH)], [LEFT, BOTTOM], [RIGHT, BOTTOM]]);
    for (const mark of [0.5, 0.6, 0.7, 0.8, 0.9]) write(mark.toFixed(1), LEFT - 6, up(mark) + 4, "end");
    sizes.forEach((n, place) => write(n, across(place), BOTTOM + 18));
    write("images, for 128 channels", (LEFT + RIGHT) / 2, BOTTOM + 40);
    line("limit", [[LEFT, up(limit)], [RIGHT, up(limit)]]);
    ["one", "two"].forEach((look, column) => {
      line(look, sizes.map((n, place) => [across(place), up(table.data[place][first + column])]));
      add("circle", { class: look, cx: across(step), cy: up(table.data[step][first + column]), r: 5 });
    });
    const numbers = `${empirical.toFixed(2)} with the empirical covariance and ${shrunk.toFixed(2)} with shrinkage`;
    const text = `With ${sizes[step]} images a ReLU scores ${numbers}; its limit is ${limit.toFixed(2)}.`;
    says.textContent = text;
    drawing.setAttribute("aria-label", text);
    slider.setAttribute("aria-valuetext", `${sizes[step]} images`);
  }

  place.addEventListener("input", draw);
  draw();
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("bias-window");
  if (place) drawBiasWindow(place);
});
