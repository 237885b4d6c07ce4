// The window of the front page: inputs that are evenly spread from one number to another meet a ReLU. The reader slides
// and widens them, and sees the affine map that fits best and the affinity score.
"use strict";

// The score of relu on inputs evenly spread over [low, high]. On a line the optimal coupling sorts, relu does not
// decrease, so x is paired with relu(x), and T(x) = E y + (s_y / s_x)(x - E x):
//   1 - W2(T X, Y) / sqrt(2 var y) = 1 - sqrt(1 - corr(x, y)).
function reluOnWindow(low, high) {
  const width = high - low;
  const top = Math.max(high, 0) ** 2 - Math.max(low, 0) ** 2;
  const top3 = Math.max(high, 0) ** 3 - Math.max(low, 0) ** 3;
  const meanX = (low + high) / 2, sdX = width / Math.sqrt(12);
  const meanY = top / (2 * width), squareY = top3 / (3 * width); // E y^2, which is E xy, too
  const sdY = Math.sqrt(Math.max(squareY - meanY ** 2, 0));
  if (high <= 0) return { score: 1, slope: 0, meanX, meanY }; // a constant is affine
  if (low >= 0) return { score: 1, slope: 1, meanX, meanY };
  const correlation = (squareY - meanX * meanY) / (sdX * sdY);
  return { score: 1 - Math.sqrt(Math.max(1 - correlation, 0)), slope: sdY / sdX, meanX, meanY };
}

function drawReluWindow(place) {
  const LIMIT = 20, WIDTH = 440; // of the horizontal axis, and of the drawing
  const acrossX = (x) => 36 + ((x + LIMIT) / (2 * LIMIT)) * (WIDTH - 48);
  const upY = (y) => 148 - y * 6;
  const upScore = (score) => 290 - score * 80;
  const signed = (x) => String(Math.round(x * 10) / 10).replace("-", "\u2212");

  place.innerHTML = `
    <div class="relu-controls">
      <label>Middle of the inputs <input type="range" name="middle" min="-10" max="10" step="0.5" value="0"></label>
      <label>Width <input type="range" name="width" min="4" max="20" step="1" value="20"></label>
    </div>
    <p class="relu-key"><span class="inputs">inputs</span> <span class="outputs">outputs of ReLU</span>
      <span class="fit">affine map of the score</span></p>
    <svg viewBox="0 0 ${WIDTH} 318" role="img"></svg>
    <p class="relu-verdict"></p>
    <p class="relu-examples">Try <button type="button" data-window="-10 20">outputs all zero</button>
      <button type="button" data-window="-8 20">just past the bend</button>
      <button type="button" data-window="0 20">half on each side</button></p>`;
  const [middle, width] = place.querySelectorAll("input");
  const drawing = place.querySelector("svg");
  const verdict = place.querySelector(".relu-verdict");

  const { add, line: lineOf, write } = penOf(drawing);
  const line = (look, ...points) => lineOf(look, points);
  const onGraph = (x) => [acrossX(x), upY(Math.max(x, 0))];

  function draw() {
    const centre = Number(middle.value), wide = Number(width.value);
    const low = centre - wide / 2, high = centre + wide / 2;
    const { score, slope, meanX, meanY } = reluOnWindow(low, high);
    const fit = (x) => [acrossX(x), upY(meanY + slope * (x - meanX))];
    drawing.replaceChildren();

    // above: the function, the inputs on its axis and the outputs on its graph, the affine map
    add("rect", { class: "window", x: acrossX(low), y: 18, width: acrossX(high) - acrossX(low), height: 144 });
    line("axis", [acrossX(-LIMIT), upY(0)], [acrossX(LIMIT), upY(0)]);
    line("graph", onGraph(-LIMIT), onGraph(0), onGraph(LIMIT));
    line("outputs", onGraph(low), ...(low < 0 && high > 0 ? [onGraph(0)] : []), onGraph(high));
    line("fit", fit(low), fit(high));
    line("inputs", [acrossX(low), 162], [acrossX(high), 162]);
    for (const x of [-20, -10, 0, 10, 20]) write(signed(x), acrossX(x), 182);

    // below: the score of such windows wherever their middle is
    const curve = [];
    for (let x = -10; x <= 10; x += 0.05) {
      curve.push([acrossX(x), upScore(reluOnWindow(x - wide / 2, x + wide / 2).score)]);
    }
    line("axis", [acrossX(-10), upScore(0)], [acrossX(10), upScore(0)]);
    for (const mark of [0, 0.5, 1]) write(mark, acrossX(-10) - 6, upScore(mark) + 4, "end");
    line("curve", ...curve);
    add("circle", { class: "here", cx: acrossX(centre), cy: upScore(score), r: 5 });
    write("score", acrossX(-10) - 36, upScore(0.5) + 4, "end");
    write("middle of the inputs, \u221210 to 10", acrossX(0), 310);

    const range = `inputs spread evenly from ${signed(low)} to ${signed(high)}`;
    const says = score === 1
      ? `ReLU is ${high <= 0 ? "constant" : "the identity"} there, an affine map.`
      : high < wide / 2
        ? `ReLU sets most to zero: the ${Math.round((100 * high) / wide)} % above 0 carry all variation that is left.`
        : "ReLU sets those below 0 to zero.";
    place.dataset.score = score;
    verdict.innerHTML = `<strong>${score.toFixed(2)}</strong> on ${range}: ${says}`;
    drawing.setAttribute("aria-label", `The graph of ReLU with ${range}; its affinity score is ${score.toFixed(2)}.`);
    middle.setAttribute("aria-valuetext", `${signed(centre)}, score ${score.toFixed(2)}`);
    width.setAttribute("aria-valuetext", `${wide}, score ${score.toFixed(2)}`);
  }

  place.addEventListener("input", draw);
  place.addEventListener("click", (event) => {
    if (!event.target.dataset.window) return;
    [middle.value, width.value] = event.target.dataset.window.split(" ");
    draw();
  });
  draw();
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("relu-window");
  if (place) drawReluWindow(place);
});
