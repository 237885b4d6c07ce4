"""The scripts behind ``make book``, on a book of one small notebook."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import notebook_files
import pytest
from execute_notebook import PACKAGES, limit_threads
from notebook_files import pair_differs
from stage_book import configuration, status_page, with_set_numbers, write_tree

from tests.book.small_book import REPOSITORY, SmallBook

OUTPUT = Path("_build/executed/mini/notebooks/07_small.ipynb")


def execute() -> subprocess.CompletedProcess[str]:
    arguments = ("notebooks/07_small.py", "--params", "notebooks/params/mini.yml", "--output", OUTPUT)
    command = [sys.executable, REPOSITORY / "scripts" / "execute_notebook.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.notebook
def test_a_notebook_takes_its_parameters_from_the_profile(small_book: SmallBook) -> None:
    small_book.write("\n# %%\nprint(2 * n)\n", params="n: 21\nother: 1\n")
    result = execute()
    assert result.returncode == 0, result.stderr
    executed = nbformat.read(OUTPUT, as_version=4)
    assert executed.cells[-1].outputs[0].text == "42\n"
    ran = executed.metadata["affscore"]
    assert ran["profile"] == "mini"
    assert ran["parameters"] == {"n": 21}
    assert ran["versions"]["numpy"] == version("numpy")
    assert set(ran["versions"]) == {"python", *PACKAGES}
    assert str(small_book.root) not in OUTPUT.read_text()
    slides = [cell.metadata["slideshow"]["slide_type"] for cell in executed.cells]
    assert slides == ["slide", *["skip"] * (len(slides) - 1)]


@pytest.mark.notebook
def test_make_learns_which_modules_a_notebook_used(small_book: SmallBook) -> None:
    for room in ("affscore", "notebooks/companion"):
        (small_book.root / room).symlink_to(REPOSITORY / room)
    assert execute().returncode == 0
    rule, *modules = OUTPUT.with_suffix(".d").read_text().splitlines()
    assert rule.startswith(f"{OUTPUT}: affscore/__init__.py ")
    assert "notebooks/companion/parameters.py" in rule
    assert "affscore/errors.py:" in modules
    assert "linear_regions" not in rule


@pytest.mark.notebook
def test_a_failing_cell_is_named_in_one_message(small_book: SmallBook) -> None:
    small_book.write("\n# %%\n1 / 0\n")
    result = execute()
    assert result.returncode == 1
    failed = OUTPUT.with_suffix(".failed.ipynb")
    # ZeroMQ of the kernel that ends may print a line of its own first
    assert result.stderr.splitlines()[-2:] == [
        "error: notebooks/07_small.ipynb, cell 4 (1 / 0): ZeroDivisionError: division by zero",
        f"    the traceback is in {failed}",
    ]
    assert "Traceback" not in result.stderr
    assert [path.name for path in OUTPUT.parent.iterdir()] == [failed.name]

    small_book.write("")
    later = small_book.script.stat().st_mtime + 10
    os.utime(small_book.script, (later, later))
    assert execute().returncode == 0
    assert not failed.exists()


def test_a_pair_that_differs_is_brought_in_step(small_book: SmallBook, capsys: pytest.CaptureFixture[str]) -> None:
    notebook_files.main(small_book.params)
    assert "differ: running jupytext --sync" in capsys.readouterr().out
    assert not pair_differs(small_book.script)
    notebook_files.main(small_book.params)
    assert capsys.readouterr().out == ""

    small_book.write('\n# %% tags=["hide-input"]\nprint(n)\n')
    later = small_book.script.stat().st_mtime + 10
    os.utime(small_book.script, (later, later))
    assert pair_differs(small_book.script)
    notebook_files.main(small_book.params)
    assert not pair_differs(small_book.script)
    assert "hide-input" in small_book.script.with_suffix(".ipynb").read_text()
    small_book.write("\n# %%\nprint(n)\n")
    assert pair_differs(small_book.script), "a tag makes a difference"


def test_a_profile_with_a_misspelt_name_is_an_error(small_book: SmallBook):
    small_book.write("", params="nn: 1\n")
    with pytest.raises(SystemExit, match=r"mini.yml: no notebook declares 'nn' \(did you mean 'n'\?\)$"):
        notebook_files.main(small_book.params)


def test_the_tree_is_written_where_it_differs(tmp_path: Path) -> None:
    write_tree(tmp_path, {Path("a"): b"1", Path("b/c"): b"2", Path("_build/x"): b"sphinx"})
    os.utime(tmp_path / "a", (1, 1))
    write_tree(tmp_path, {Path("a"): b"1", Path("b/d"): b"3"})
    assert (tmp_path / "a").stat().st_mtime == 1
    assert (tmp_path / "b" / "d").read_bytes() == b"3"
    assert not (tmp_path / "b" / "c").exists()
    assert (tmp_path / "_build" / "x").exists()


def test_the_buttons_follow_the_address_of_the_repository(tmp_path: Path) -> None:
    text = (REPOSITORY / "_config.yml").read_text()
    config = tmp_path / "_config.yml"
    config.write_text(text.replace('url: ""', 'url: "https://example.org/a/b"'))
    assert b"use_repository_button: true" in configuration(config)
    assert b"colab" in configuration(config)
    config.write_text(text.replace('url: "https://example.org/a/b"', 'url: ""'))
    assert b"use_repository_button: true" not in configuration(config)


def test_the_status_page_has_the_versions_of_the_runs(tmp_path: Path) -> None:
    runs = {}
    for name, numpy in (("01_x", "2.0"), ("02_y", "2.1")):
        notebook = nbformat.v4.new_notebook()
        notebook.metadata["affscore"] = {
            "parameters": {"n": 3}, "started": "2026-01-02T03:04:05+00:00", "seconds": 2.5, "peak_mb": 300,
            "device": "cpu", "platform": "Linux x86_64", "versions": {"python": "3.11.9", "numpy": numpy},
        }  # fmt: skip
        runs[Path(f"notebooks/{name}.ipynb")] = notebook
    (tmp_path / "mini.yml").write_text("n: 3\n")
    page = status_page(tmp_path / "mini.yml", runs)
    assert "2 notebooks in 5 seconds" in page
    assert "| {doc}`../notebooks/01_x` | 2026-01-02 03:04:05 | 2.5 |" in page
    assert "| platform | Linux x86_64 |" in page
    assert "| numpy | 2.0, 2.1 |" in page


def test_notebooks_at_the_same_time_have_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", " -j2 --jobserver-auth=3,4")
    for given in ("2", ""):
        monkeypatch.setenv("OMP_NUM_THREADS", given)  # so that monkeypatch takes back what the function sets
        if not given:
            monkeypatch.delenv("OMP_NUM_THREADS")
        limit_threads()
        assert os.environ["OMP_NUM_THREADS"] == (given or "1")


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("-0.5 and (-1), [-2, -.5] or ±-3", "~0.5 and (~1), [~2, -.5] or ±~3"),
        ("1e-5, 3-4, 2026-01-02, a-1, --1, ../-1, fig-5-1", None),
        ("78%, 78 %, 78\xa0% (-3%) %, %d, 100%20 `5%`", "78_%, 78_%, 78_% (~3_%) %, %d, 100%20 `5%`"),
        ("[-1](../notebooks/01-2) and {numref}`fig-1`", "[~1](../notebooks/01-2) and {numref}`fig-1`"),
        ("<style>\n#a { top: -1px }\n</style><code>-1</code><pre>-1 <b>-2</b></pre><p>-1</p>",
         "<style>\n#a { top: -1px }\n</style><code>-1</code><pre>-1 <b>-2</b></pre><p>~1</p>"),
    ],
)  # fmt: skip
def test_negative_numbers_have_a_minus_sign_and_percentages_a_space(shown: str, expected: str | None) -> None:
    found = with_set_numbers(shown)
    assert found == (expected or shown).replace("~", "\N{MINUS SIGN}").replace("_", "\N{NO-BREAK SPACE}")
    assert with_set_numbers(found) == found
