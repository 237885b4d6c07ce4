"""Bring the notebooks of the book in step, and check that each parameter of a profile is declared by one."""

from __future__ import annotations

import argparse
from pathlib import Path

from notebook_files import book_notebooks, error, read_profile, synchronize, undeclared_keys


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("params", type=Path, help="the parameter file, such as notebooks/params/mini.yml")
    params = parser.parse_args().params
    scripts = book_notebooks()
    for script in scripts:
        synchronize(script)
    sentences = undeclared_keys(read_profile(params), [script.with_suffix(".ipynb") for script in scripts])
    if sentences:
        raise error(f"{params}: " + "; ".join(sentences))


if __name__ == "__main__":
    main()
