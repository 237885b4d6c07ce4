"""What a class gets: notebooks for students, for the teacher, and for nbgrader."""

from __future__ import annotations

import ast
import builtins
import json
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest
import setup_cell
from classroom import WRITE, chapters_of, for_students, version
from exercise_cells import exercises
from nbformat import NotebookNode
from plain_markdown import plain

from tests.book.small_book import REPOSITORY
from tests.book.small_exercises import small_exercises
from tests.book.test_exercise_cells import CHAPTERS

each_chapter = pytest.mark.parametrize("notebook", CHAPTERS, ids=lambda path: path.stem)
a_quick_chapter = pytest.mark.parametrize("notebook", [path for path in CHAPTERS if path.name.startswith("01_")])


@pytest.fixture
def class_of_one(tmp_path, monkeypatch):
    """Writes a version of the small notebook, and reads it back."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_config.yml").write_text((REPOSITORY / "_config.yml").read_text())
    source = tmp_path / "notebooks" / "03_small.ipynb"

    def write(what, right="0"):
        nbformat.write(jupytext.reads(small_exercises(right), fmt="py:percent"), source)
        WRITE[what](chapters_of([source]), tmp_path / what)
        folder = tmp_path / what / ("source" if what == "assignments" else "")
        (written,) = folder.rglob("03_small.ipynb")
        return nbformat.read(written, as_version=4)

    source.parent.mkdir()
    return write


def text_of(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def students_version(path: Path) -> tuple[NotebookNode, NotebookNode]:
    (chapter,) = chapters_of([path]).values()
    return chapter, version(chapter, for_students)


def test_students_get_stubs_and_checks_and_no_solutions(class_of_one, tmp_path):
    text = text_of(class_of_one("student"))
    first = (tmp_path / "student" / "03_small.ipynb").read_bytes()
    class_of_one("student")
    assert (tmp_path / "student" / "03_small.ipynb").read_bytes() == first  # the same way twice
    assert "SECRET" not in text
    assert "Rubric" not in text
    assert "solution" not in text
    assert text.count("HINT") == 2
    assert 'raise NotImplementedError("Exercise 3.1 How many images?")' in text
    assert '\ncompanion.exercises.check("3.1", answer)' in text
    assert "\n*Your answer:*\n" in text
    assert "### Exercise 3.4 Why so?" in text
    assert not re.search(r"^```\{|\{\w+\}`", text, re.MULTILINE)  # JupyterLab does not read MyST


def test_teachers_get_solutions_rubrics_and_a_table(class_of_one, tmp_path):
    text = text_of(class_of_one("teacher"))
    assert text.count("SECRET") == 4
    assert "**Rubric** (3 points)" in text
    head, *rows = (tmp_path / "teacher" / "exercises.csv").read_text().splitlines()
    assert head == "chapter,exercise,kind,minutes,difficulty,points,marked by,aim"
    assert rows[0].startswith("A small chapter,3.1 How many images?,Compute,10,easy,2,check,")
    assert rows[1] == "A small chapter,3.4 Why so?,Argue,1,hard,3,rubric,write."


def test_a_course_keeps_what_was_submitted(class_of_one, tmp_path):
    class_of_one("assignments")
    kept = tmp_path / "assignments" / "submitted" / "ada" / "chapter_03" / "03_small.ipynb"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    (tmp_path / "assignments" / "nbgrader_config.py").write_text("# mine")
    class_of_one("assignments")
    assert kept.exists()
    assert (tmp_path / "assignments" / "nbgrader_config.py").read_text() == "# mine"


@each_chapter
def test_students_get_no_solution_of_the_book_and_a_stub_for_each_check(notebook):
    chapter, student = students_version(notebook)
    sources = {cell.source.strip() for cell in student.cells}
    solutions = [cell.source for one in exercises(chapter) for cell in one.solution]
    assert not sources & {text.strip() for source in solutions for text in (source, plain(source))}
    assert "**Rubric**" not in text_of(student)
    assert not re.search(r"^(`{3,}|:{3,})\{[\w:-]+\}", text_of(student), re.MULTILINE)
    stubs = [cell.source for cell in student.cells if "raise NotImplementedError" in cell.source]
    checked = [one for one in exercises(chapter) if one.checked]
    for stub, one in zip(stubs, checked, strict=True):
        names = {}
        with pytest.raises(NotImplementedError, match=re.escape(f"Exercise {one.name}")):
            exec(stub, names)
        assert names["answer"] is None
        assert "answer" in compile(one.code, one.number, "exec").co_names
    code = "\n".join(cell.source for cell in student.cells if cell.cell_type == "code")
    assert names_without_origin(code) == set()  # no cell needs a solution: the book runs the same cells
    assert names_without_origin(f"{code}\nonly_in_a_solution + 1") == {"only_in_a_solution"}


def names_without_origin(code: str) -> set[str]:
    """Names that are read somewhere and made nowhere."""
    read, made = set[str](), set(dir(builtins))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            made.add(node.name or "")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            made.update((one.asname or one.name).partition(".")[0] for one in node.names)
    return read - made


@pytest.mark.slow
@pytest.mark.notebook
@a_quick_chapter
def test_a_student_without_answers_sees_only_the_names_of_the_exercises(notebook, tmp_path):
    """All cells run from the student's own folder, with the companion there, and each stub raises."""
    chapters = chapters_of([notebook])
    WRITE["student"](chapters, tmp_path)
    chapter, student = chapters[notebook], nbformat.read(tmp_path / notebook.name, as_version=4)
    student.cells.append(nbformat.v4.new_code_cell("companion.__file__"))
    nbclient.NotebookClient(
        student, allow_errors=True, timeout=600, resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert student.cells.pop().outputs[0].data["text/plain"] == repr(str(tmp_path / "companion" / "__init__.py"))
    raised = [
        (output.ename, output.evalue)
        for cell in student.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    checked = [one for one in exercises(chapter) if one.checked]
    assert raised == [("NotImplementedError", f"Exercise {one.name}") for one in checked]
    assert verdicts(student) == ["Not yet. There is no answer yet"] * len(checked)


@pytest.mark.slow
@pytest.mark.notebook
@a_quick_chapter
def test_with_the_solutions_in_the_stubs_every_check_passes(notebook):
    chapter, student = students_version(notebook)
    checked = {f"Exercise {one.name}": one for one in exercises(chapter) if one.checked}
    for cell in student.cells:
        if match := re.search(r"raise NotImplementedError\((.*)\)  # delete", cell.source):
            cell.source = checked[json.loads(match[1])].code
    nbclient.NotebookClient(student, timeout=600, resources={"metadata": {"path": notebook.parent}}).execute()
    assert verdicts(student) == ["Right!"] * len(checked)


def verdicts(notebook) -> list[str]:
    """The beginnings of what the checks say."""
    texts = [
        output["data"]["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.startswith("companion.exercises.check(")
        for output in cell.outputs
        if "data" in output
    ]
    return [re.match(r"Right!|Not yet\. There is no answer yet|Not yet", text)[0] for text in texts]


def test_the_first_cell_installs_from_the_repository_or_explains(tmp_path):
    text = (REPOSITORY / "_config.yml").read_text()
    config = tmp_path / "_config.yml"
    config.write_text(text)
    cell = setup_cell.setup_cell(config)
    assert "remove-cell" in cell.metadata["tags"]
    assert "pip" not in cell.source
    config.write_text(text.replace('url: ""', 'url: "https://example.org/a/b"'))
    source = setup_cell.setup_cell(config).source
    assert "git+https://example.org/a/b@main" in source
    for other in (source, cell.source):
        exec(compile(other, "cell", "exec"), {})  # with the library it does nothing
        assert all(len(line) <= 78 for line in other.splitlines())


def test_without_the_library_the_first_cell_says_what_to_do():
    command = [sys.executable, "-I", "-S", "-c", setup_cell.EXPLAIN]  # -S: without site-packages
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: this notebook needs affscore and the book's companion" in done.stderr


def test_the_first_cell_is_put_first_and_replaced(small_book, tmp_path, monkeypatch):
    monkeypatch.chdir(small_book.root)
    cell = setup_cell.setup_cell(REPOSITORY / "_config.yml")
    for source in (cell.source, "# another"):
        cell.source = source
        setup_cell.insert(small_book.script, cell)
        notebook = nbformat.read(small_book.script.with_suffix(".ipynb"), as_version=4)
        first, second, *_ = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert first.source == source
        assert second.metadata["tags"] == ["parameters"]
        assert source.splitlines()[0] in small_book.script.read_text()
