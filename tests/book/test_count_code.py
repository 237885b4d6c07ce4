"""What counts as a line of code."""

from pathlib import Path

from count_code import count

MODULE = '''"""What it is for."""

import os
from math import (
    pi,
)

# a comment
AREA = [pi]


def area(radius):
    """Of a circle."""
    text = """two
    lines"""
    return AREA[0] * radius**2  # and a comment
'''


def test_docstrings_comments_blanks_and_imports_are_no_code_and_folders_are_counted_apart(tmp_path: Path):
    (tmp_path / "top" / "inner" / "deep").mkdir(parents=True)
    for name in ("one.py", "inner/two.py", "inner/deep/three.py", "inner/data.csv"):
        (tmp_path / "top" / name).write_text(MODULE)
    assert count(tmp_path / "top") == {
        "top": {"files": 1, "lines": 16, "code": 5},
        "top/inner": {"files": 2, "lines": 32, "code": 10},
    }
