"""What the page of surveys shows is what happens, and every command of the book has the options that it is given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from affscore.cli import app
from tests.book.test_readme import PYTHON, same

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "book" / "surveys.md").read_text()
PAGES = [
    REPOSITORY / "README.md",
    *sorted((REPOSITORY / "book").glob("*.md")),
    *(REPOSITORY / "notebooks").glob("*.py"),
]
COMMAND = re.compile(r"^(?:# )?(?:\$ )?(?:srun )?(affscore (?:.*\\\n)*.*)$", re.MULTILINE)


@pytest.mark.slow
def test_the_python_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = PYTHON.findall(PAGE)
    assert len(blocks) >= 3
    for code, shown in blocks:
        exec(compile(code, "surveys.md", "exec", dont_inherit=True), {})
        printed = capsys.readouterr().out
        if shown:
            assert same(printed, shown), printed
    assert (tmp_path / "two.svg").exists()


def commands(path: Path) -> list[list[str]]:
    """The commands of a page, as the shell would split them."""
    found = (match.replace("\\\n#", "\\\n").replace("\\\n", " ") for match in COMMAND.findall(path.read_text()))
    return [shlex.split(command, comments=True) for command in found if not command.startswith("affscore `")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_options_of_commands_exist(path: Path) -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for words in commands(path):
        if len(words) < 2 or words[1] not in known:
            assert words[1:2] in (["--version"], []), f"{words} is no command"
            continue
        command = known[words[1]]
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
        assert given <= options | {"--help"}, f"{words}: {given - options}"


def test_commands_are_found() -> None:
    assert sum(len(commands(path)) for path in PAGES) > 15
