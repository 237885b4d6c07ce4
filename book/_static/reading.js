// What style sheets cannot do: a reader without a mouse reaches what scrolls, paper shows what is folded, a phone folds code,
// figures and what is said of them stand before code, imports are with the parameters, asides are folded, and tables fit.
"use strict";

function letKeysScroll() {
  const boxes = "article :is(figure, pre, .text_html, .pst-scrollable-table-container, .cell_output, div.math)";
  for (const box of document.querySelectorAll(boxes)) {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible";
    if (scrolls) box.tabIndex = 0;
    else if (box.tabIndex === 0) box.removeAttribute("tabindex");
  }
}

// The arrows that unfold the pages below a page are drawn without words.
function nameArrows() {
  for (const arrow of document.querySelectorAll(".has-children > details > summary")) {
    const page = arrow.closest(".has-children").querySelector("a");
    arrow.setAttribute("aria-label", `Pages of ${page.textContent.trim()}`);
  }
}

// The entries of the bibliography have a role of their own, which a list does not allow.
function freeBibliography() {
  for (const list of document.querySelectorAll(".citation-list")) list.removeAttribute("role");
}

// Formulas in a line that are much wider than a phone show that they scroll.
function markWideFormulas() {
  for (const formula of document.querySelectorAll("article span.math")) {
    formula.classList.toggle("scrolls", formula.clientWidth > 200 && formula.scrollWidth > 1.2 * formula.clientWidth);
  }
}

// Cells without an output that stand right before a figure compute what it shows: the figure comes before them.
function figuresFirst() {
  for (const shown of document.querySelectorAll("article .cell > .cell_output:has(> figure)")) {
    let first = shown.parentElement;
    while (first.previousElementSibling?.matches(".cell:not(:has(.cell_output))")) first = first.previousElementSibling;
    if (first === shown.parentElement) continue;
    const cell = document.createElement("div");
    cell.className = "cell docutils container";
    cell.append(shown);
    first.before(cell);
  }
}

// The imports of a page are in the fold of its parameters.
function foldImports() {
  const fold = document.querySelector("article .cell.tag_parameters > details");
  const imports = document.querySelector("article .cell.tag_parameters + .cell.tag_hide-input > details");
  if (!fold || !imports?.querySelector("summary").textContent.includes("Imports")) return;
  for (const title of fold.querySelectorAll("summary p")) title.textContent = "The parameters and imports of this page";
  fold.append(...imports.querySelectorAll(".cell_input"));
  imports.parentElement.remove();
}

// A section that is called an aside shows its first paragraph.
function foldAsides() {
  for (const heading of document.querySelectorAll("article section > h2")) {
    if (!/^[\d.\s]*Aside:/.test(heading.textContent)) continue;
    const fold = document.createElement("details");
    fold.className = "admonition hide";
    fold.innerHTML = "<summary><p class='admonition-title'>More</p></summary>";
    const first = heading.nextElementSibling;
    while (first?.nextElementSibling) fold.append(first.nextElementSibling);
    first?.after(fold);
  }
}

// A table that is wider than a phone becomes smaller. In a fold it has a width when that is opened.
function fitTables() {
  const narrow = matchMedia("(max-width: 576px)").matches;
  for (const table of document.querySelectorAll("article :is(table.dataframe, .pst-scrollable-table-container table)")) {
    const box = table.closest(".text_html, .pst-scrollable-table-container") ?? table.parentElement;
    table.classList.remove("smaller");
    table.classList.toggle("smaller", narrow && box.scrollWidth > box.clientWidth);
  }
}

// In a fold, too, what a cell shows stands before its code.
function outputsFirst() {
  for (const code of document.querySelectorAll("article .cell > details > .cell_input:has(+ .cell_output)")) {
    code.nextElementSibling.after(code);
  }
}

// What is said of a figure or a table stands before its code, but for what leads to the next one.
function sentencesFirst() {
  const shows = ":scope > .cell_output :is(figure, table.dataframe, .window, #training-window)";
  const parts = "ul, ol, .math, .highlight-sh, .pst-scrollable-table-container, .cell:has(> .cell_output)";
  const leads = (text) => text.textContent.trim().endsWith(":") || text.nextElementSibling?.matches(parts);
  for (const first of document.querySelectorAll("article .cell + p")) {
    const [texts, code] = [[], []];
    for (let text = first; text?.matches("p") && !leads(text); text = text.nextElementSibling) texts.push(text);
    let cell = first.previousElementSibling;
    for (; cell?.matches(".cell:not(:has(.cell_output))"); cell = cell.previousElementSibling) code.unshift(cell);
    if (!texts.length || !cell?.matches(".cell") || !cell.querySelector(shows)) continue;
    const own = document.createElement("div");
    own.className = "cell docutils container";
    own.append(...cell.querySelectorAll(":scope > :is(.cell_input, details)"));
    if (own.children.length) code.unshift(own);
    cell.after(...texts, ...code);
  }
}

// On a phone, where lines of code are cut, cells of more than a few lines begin folded.
function foldCode() {
  if (!matchMedia("(max-width: 576px)").matches) return;
  for (const code of document.querySelectorAll("article .cell > .cell_input")) {
    const lines = code.textContent.trim().split("\n").length;
    if (lines < 5) continue;
    const fold = document.createElement("details");
    fold.className = "admonition hide above-input";
    fold.innerHTML = `<summary><p class="admonition-title">Code, ${lines} lines</p></summary>`;
    code.before(fold);
    fold.append(code);
  }
}

window.addEventListener("load", () => window.MathJax?.startup?.promise.then(markWideFormulas));
window.addEventListener("resize", markWideFormulas);
window.addEventListener("DOMContentLoaded", nameArrows);
window.addEventListener("DOMContentLoaded", freeBibliography);
window.addEventListener("DOMContentLoaded", outputsFirst);
window.addEventListener("DOMContentLoaded", foldCode);
window.addEventListener("DOMContentLoaded", foldImports);
window.addEventListener("DOMContentLoaded", figuresFirst);
window.addEventListener("DOMContentLoaded", sentencesFirst);
window.addEventListener("DOMContentLoaded", foldAsides);
for (const act of [fitTables, letKeysScroll]) {
  window.addEventListener("load", act);
  window.addEventListener("resize", act);
  document.addEventListener("toggle", act, true);
  document.addEventListener("click", () => setTimeout(act));
}

window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("article details:not([open])")) {
    folded.open = true;
    folded.dataset.foldAgain = "";
  }
});
window.addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("article details[data-fold-again]")) folded.open = false;
});
