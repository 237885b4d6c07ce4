"""The page on citing has the version of the package, and the entry of the bibliography."""

import re
from pathlib import Path

import affscore

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "book" / "cite.md").read_text(encoding="utf-8")


def entry(text: str, key: str) -> str:
    found = re.search(rf"^@\w+\{{{key},.*?^\}}", text, re.MULTILINE | re.DOTALL)
    assert found
    return " ".join(found.group().split())


def test_the_paper_is_that_of_the_bibliography() -> None:
    bibliography = (REPOSITORY / "book" / "references.bib").read_text(encoding="utf-8")
    assert entry(PAGE, "bouniot2025alexnet") == entry(bibliography, "bouniot2025alexnet")


def test_the_version_is_that_of_the_package() -> None:
    assert f"version = {{{affscore.__version__}}}" in entry(PAGE, "affscore")
