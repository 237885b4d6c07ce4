"""What the README and pages of the book show is what happens: their Python, commands, links, and the entry to cite."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import affscore
from affscore.cli import app
from tests.book.small_book import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
OWN_NETWORK = (REPOSITORY / "book" / "how_to_run_with_your_model.md").read_text()

# A block of Python, and the block without a language that may follow it: what it prints.
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
BLOCKS = PYTHON.findall(README)
NUMBER = re.compile(r"\d+\.\d*")

PAGES = [REPOSITORY / "README.md", *(REPOSITORY / "book").glob("*.md"), *(REPOSITORY / "notebooks").glob("*.py")]
COMMAND = re.compile(r"^(?:# )?(?:\$ )?(?:srun )?(affscore (?:.*\\\n)*.*)$", re.MULTILINE)


def same(printed: str, shown: str) -> bool:
    """Whether two outputs agree in their words, and in their numbers but for the last digit."""
    numbers, expected = (list(map(float, NUMBER.findall(text))) for text in (printed, shown))
    words, expected_words = (NUMBER.sub("#", text).split() for text in (printed, shown))
    return words == expected_words and numbers == pytest.approx(expected, abs=1.5e-3)


def test_the_readme_is_short_and_its_blocks_print_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(README.split()) <= 600
    assert BLOCKS
    for code, shown in BLOCKS:
        exec(compile(code, "README.md", "exec", dont_inherit=True), {})
        printed = capsys.readouterr().out
        assert same(printed, shown), printed
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert targets
    assert [target for target in targets if not (REPOSITORY / target).exists()] == []


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


@pytest.mark.slow
def test_surveys_and_comparisons_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [block for block in PYTHON.findall(OWN_NETWORK) if "mini:digitsnet" in block[0]]
    assert len(blocks) == 2
    for code, shown in blocks:
        exec(compile(code, "how_to_run_with_your_model.md", "exec", dont_inherit=True), {})
        printed = capsys.readouterr().out
        assert not shown or same(printed, shown), printed
    assert (tmp_path / "two.svg").exists()


def commands(path: Path) -> list[list[str]]:
    """The commands of a page, as the shell would split them."""
    found = (match.replace("\\\n#", "\\\n").replace("\\\n", " ") for match in COMMAND.findall(path.read_text()))
    return [shlex.split(command, comments=True) for command in found if not command.startswith("affscore `")]


def test_the_options_of_commands_exist() -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    found = [(path.name, words) for path in PAGES for words in commands(path)]
    assert len(found) > 8
    for page, words in found:
        if len(words) < 2 or words[1] not in known:
            assert words[1:2] in (["--version"], []), f"{page}: {words} is no command"
            continue
        command = known[words[1]]
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
        assert given <= options | {"--help"}, f"{page}, {words}: {given - options}"


def test_what_to_cite_is_the_paper_of_the_bibliography_and_the_version_of_the_package() -> None:
    entries = {}
    for page in ("cite.md", "references.bib"):
        text = (REPOSITORY / "book" / page).read_text(encoding="utf-8")
        found = re.findall(r"^@\w+\{(\w+),(.*?)^\}", text, re.MULTILINE | re.DOTALL)
        entries[page] = {key: " ".join(entry.split()) for key, entry in found}
    assert entries["cite.md"]["bouniot2025alexnet"] == entries["references.bib"]["bouniot2025alexnet"]
    assert f"version = {{{affscore.__version__}}}" in entries["cite.md"]["affscore"]


def test_spelling() -> None:
    """``[tool.codespell]`` in pyproject.toml says what it reads, and which words it does not know."""
    command = [sys.executable, "-m", "codespell_lib"]
    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert found.stdout == ""
    assert found.returncode == 0, found.stderr
