"""By hand, after a change: files, lines, and lines of code by folder, without docstrings, comments, blanks, imports.

python scripts/count_code.py [FOLDER ...]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

FOLDERS = ("affscore", "scripts", "notebooks", "benchmarks")
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


def lines_of_code(source: str) -> int:
    """How many lines of a module hold code: a statement that is neither an import nor a docstring."""
    left_out: set[int] = set()
    for node in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)):
        docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            used.update(range(token.start[0], token.end[0] + 1))
    return len(used - left_out)


def count(folder: Path) -> dict[str, Counter[str]]:
    """Files, lines and lines of code of a folder: of each folder in it, and of the modules that lie beside these."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).parts
        name = f"{folder.name}/{place[0]}" if len(place) > 1 else folder.name
        source = path.read_text(encoding="utf-8")
        found.setdefault(name, Counter()).update(files=1, lines=len(source.splitlines()), code=lines_of_code(source))
    return found


def main(folders: list[str]) -> None:
    """Print a line for each folder, and the sum."""
    total: Counter[str] = Counter()
    print(f"{'':28s} {'files':>6s} {'lines':>7s} {'code':>7s}")
    for folder in folders or FOLDERS:
        for name, numbers in count(Path(folder)).items():
            total.update(numbers)
            print(f"{name:28s} {numbers['files']:6d} {numbers['lines']:7d} {numbers['code']:7d}")
    print(f"{'all':28s} {total['files']:6d} {total['lines']:7d} {total['code']:7d}")


if __name__ == "__main__":
    main(sys.argv[1:])
