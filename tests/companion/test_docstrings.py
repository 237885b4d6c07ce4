"""The docstrings of Python's library as a text."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from affscore import AffscoreError, load_data
from affscore.models import TextPreprocessing
from companion import docstrings as module
from companion.docstrings import all_docstrings, docstrings, fingerprint_of_docstrings, is_held_out

LETTERS = TextPreprocessing(lambda text: [ord(letter) for letter in text], length=64, vocabulary=128)


@pytest.mark.slow
def test_each_docstring_is_one_of_the_library_and_there_once_whoever_reads():
    texts = all_docstrings()
    assert len(set(texts)) == len(texts)
    assert all(text.isascii() and text.strip() for text in texts)
    tree = ast.parse(Path(textwrap.__file__).read_text(encoding="utf-8"))
    own = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert {text for text in own if text} <= set(texts)
    assert sum(map(len, texts)) <= module.MOST
    code = "from companion.docstrings import *; print(fingerprint_of_docstrings())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == fingerprint_of_docstrings()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Another standard library, in a folder."""
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path))
    all_docstrings.cache_clear()
    yield tmp_path
    all_docstrings.cache_clear()


def write(library, word, count):
    (library / "abc.py").write_text("\n".join(f'def f{n}():\n    """{word} f{n}, and more."""' for n in range(count)))
    all_docstrings.cache_clear()


def test_the_parts_share_no_docstring_and_the_test_part_is_the_data_in_windows(library):
    write(library, "Of", 999)
    texts = all_docstrings()
    held_out = [text for text in texts if is_held_out(text)]
    assert docstrings("test") == "\n\n".join(held_out)
    assert docstrings("train") == "\n\n".join(text for text in texts if text not in held_out)
    assert 0.08 < len(held_out) / len(texts) < 0.17
    data, text = load_data("docstrings", LETTERS), docstrings("test")
    assert (data.name, data.length) == ("docstrings", len(text) // 64)
    assert "".join(map(chr, data[1].tolist())) == text[64:128]
    version, dropped = data.notes
    assert f"({fingerprint_of_docstrings()}); other versions have others" in version
    assert dropped.startswith("dropped ")


def test_which_docstrings_count(library, monkeypatch):
    (library / "json").mkdir()
    (library / "json" / "__init__.py").write_text('"""Of the package."""\ndef f():\n    """Of f."""\n')
    (library / "abc.py").write_text('class A:\n    """Of A."""\n    def g(self):\n        """Of f."""\n')
    (library / "cgi.py").write_text('"""caf\u00e9"""\ndef tab():\n    """a\\x0cb"""\n')
    (library / "ast.py").write_text("def broken(:\n")
    (library / "json" / "tests").mkdir()
    for hidden in ("json/tests/a.py", "numpy.py", "idlelib.py"):
        (library / hidden).write_text('"""Hidden."""')
    assert all_docstrings() == ("Of A.", "Of f.", "Of the package.")
    all_docstrings.cache_clear()
    monkeypatch.setattr(module, "MOST", 15)
    assert all_docstrings() == ("Of A.", "Of f.")


def test_a_python_without_sources(library):
    with pytest.raises(AffscoreError, match=r"came without the sources .* give a text of yours as text:FILE"):
        load_data("docstrings", LETTERS)


def test_a_store_knows_the_text_by_its_content(library):
    write(library, "Of", 99)
    one = [*load_data("docstrings").content(5, 0)]
    assert one == [docstrings("test").encode()]
    write(library, "By", 99)
    assert [*load_data("docstrings").content(5, 0)] != one
