// What style sheets cannot do: a reader without a mouse reaches what scrolls, and paper shows what is folded.
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

window.addEventListener("load", () => window.MathJax?.startup?.promise.then(markWideFormulas));
window.addEventListener("resize", markWideFormulas);
window.addEventListener("DOMContentLoaded", nameArrows);
window.addEventListener("DOMContentLoaded", freeBibliography);
window.addEventListener("load", letKeysScroll);
window.addEventListener("resize", letKeysScroll);
document.addEventListener("toggle", letKeysScroll, true);
document.addEventListener("click", () => setTimeout(letKeysScroll));

window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("article details:not([open])")) {
    folded.open = true;
    folded.dataset.foldAgain = "";
  }
});
window.addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("article details[data-fold-again]")) folded.open = false;
});
