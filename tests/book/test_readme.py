"""What the README and the page for one's own network show is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import affscore

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text()
OWN_NETWORK = (REPOSITORY / "book" / "how_to_run_with_your_model.md").read_text()

# A block of Python, and the block without a language that may follow it: what it prints.
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
BLOCKS = [match.groups() for match in PYTHON.finditer(README)]
DOCTESTS = [code for code, _ in PYTHON.findall(OWN_NETWORK) if code.startswith(">>>")]
NUMBER = re.compile(r"\d+\.\d*")


def same(printed: str, shown: str) -> bool:
    """Whether two outputs agree in their words, and in their numbers but for the last digit."""
    numbers, expected = (list(map(float, NUMBER.findall(text))) for text in (printed, shown))
    words, expected_words = (NUMBER.sub("#", text).split() for text in (printed, shown))
    return words == expected_words and numbers == pytest.approx(expected, abs=1.5e-3)


def test_there_are_blocks() -> None:
    assert BLOCKS
    assert DOCTESTS


@pytest.mark.parametrize(("code", "shown"), BLOCKS)
def test_a_block_prints_what_is_shown(code: str, shown: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec", dont_inherit=True), {})
    assert shown is not None
    printed = capsys.readouterr().out
    assert same(printed, shown), printed


@pytest.mark.parametrize("code", DOCTESTS)
@pytest.mark.slow
def test_a_session_of_the_page_prints_what_is_shown(code: str) -> None:
    example = doctest.DocTestParser().get_doctest(code, {"affscore": affscore}, "page", "page.md", 0)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_pages_and_pictures_that_the_readme_links_exist() -> None:
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 600


def test_the_numbers_are_compared() -> None:
    assert same("mean 0.801\n[0.5  0.25]", "mean 0.80\n[0.5 0.251]")
    assert not same("mean 0.80", "mean 0.81")
    assert not same("mean 0.80", "median 0.80")


def test_the_network_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, call = (block for block, _ in PYTHON.findall(OWN_NETWORK) if "my_network" in block)
    monkeypatch.chdir(tmp_path)
    Path("my_network.py").write_text(code)
    namespace: dict[str, affscore.Signature] = {}
    exec(compile(call, "how_to_run_with_your_model.md", "exec", dont_inherit=True), namespace)
    signature = namespace["signature"]
    assert list(signature.table["activation"]) == ["relu", "gelu"]
    assert signature.metadata["model"] == "my_network.py:small"
    assert [note for note in signature.notes if "untrained" not in note and " are few for " not in note] == []
