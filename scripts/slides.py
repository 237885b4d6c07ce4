"""A deck of slides for each chapter: its findings and its figures, one a slide, in an HTML file that stands alone.

    python scripts/slides.py --executed _build/executed/mini --out _build/slides

Arrow keys, space and clicks turn the pages; printing gives a slide a page. Formulas are MathML, which browsers draw.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator
from pathlib import Path

from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode
from notebook_files import book_notebooks
from plain_markdown import Plain, plain, read

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; font: 2.6vmin/1.4 system-ui, sans-serif; color: #222; background: #fff; }}
section {{ box-sizing: border-box; height: 100vh; padding: 4vmin 6vmin; display: flex; flex-direction: column;
  justify-content: center; align-items: center; break-after: page; scroll-snap-align: start; }}
html {{ scroll-snap-type: y mandatory; }}
h1 {{ font-size: 6vmin; text-align: center; }}
h2 {{ font-size: 4vmin; margin: 0 0 2vmin; }}
img {{ min-height: 0; max-width: 100%; object-fit: contain; flex: 0 1 auto; }}
p {{ max-width: 130vmin; margin: 2vmin 0 0; }}
li {{ margin: 2vmin 0; font-size: 3.4vmin; max-width: 120vmin; }}
</style>
</head>
<body>
{slides}
<script>
const slides = [...document.querySelectorAll("section")];
const here = () => Math.round(scrollY / innerHeight);
const go = (k) => slides[Math.max(0, Math.min(k, slides.length - 1))].scrollIntoView();
addEventListener("keydown", (event) => {{
  const next = ["ArrowRight", "ArrowDown", "PageDown", " "].includes(event.key);
  const step = next - ["ArrowLeft", "ArrowUp", "PageUp"].includes(event.key);
  if (step) {{ event.preventDefault(); go(here() + step); }}
}});
addEventListener("click", () => go(here() + 1));
</script>
</body>
</html>
"""


def deck(notebook: NotebookNode, title: str, words: Plain) -> str:
    """The slides of an executed notebook."""
    markdown = MarkdownIt().use(dollarmath_plugin, renderer=formula)
    slides = [f"<h1>{html.escape(title)}</h1>"]
    for cell in notebook.cells:
        if "findings" in cell.metadata.get("tags", []):
            found = [output.get("data", {}).get("text/markdown", "") for output in cell.get("outputs", [])]
            slides.insert(1, "<h2>What we found</h2>\n" + markdown.render(words.text("".join(found))))
        options = cell.metadata.get("mystnb", {})
        images = list(images_of(cell, options.get("image", {}).get("alt", "")))
        if "caption" in options.get("figure", {}) and images:
            caption = f"**{words.figures[options['figure']['name']]}.** {words.text(options['figure']['caption'])}"
            slides.append("\n".join(images) + markdown.render(caption))
    body = "\n".join(f"<section>\n{slide}\n</section>" for slide in slides)
    return PAGE.format(title=html.escape(title), slides=body)


def images_of(cell: NotebookNode, alt: str) -> Iterator[str]:
    """The images among the outputs of a cell, within the page."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/svg+xml" in data:
            yield "".join(data["image/svg+xml"])
        elif "image/png" in data:
            yield f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{"".join(data["image/png"].split())}">'


def formula(tex: str, options: dict[str, bool]) -> str:
    """A formula in MathML; as it is written where docutils cannot read it."""
    try:
        return str(tex2mathml(tex, as_block=options["display_mode"]))
    except (SyntaxError, ValueError, KeyError, IndexError):
        return f"<code>{html.escape(tex)}</code>"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executed", type=Path, required=True, help="where the executed notebooks lie")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    arguments = parser.parse_args()
    notebooks = read([arguments.executed / script.with_suffix(".ipynb") for script in book_notebooks()])
    words = plain(notebooks, others=Path("book").glob("*.md"))
    words.pages = frozenset()  # a slide links nowhere
    arguments.out.mkdir(parents=True, exist_ok=True)
    for path, notebook in notebooks.items():
        slides = deck(notebook, words.titles[path.stem], words)
        (arguments.out / f"{path.stem}.html").write_text(slides, encoding="utf-8")
    print(f"{len(notebooks)} decks are in {arguments.out}")


if __name__ == "__main__":
    main()
