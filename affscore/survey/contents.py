"""What is in a store, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.survey.store import Store
from affscore.survey.tables import read_all

_SHOWN = ("key", "model", "weights", "dataset", "reduction", "order")


def contents(folder: str | Path) -> tuple[pd.DataFrame, list[str], list[str]]:
    """What is in a store.

    Args:
        folder: The folder of the store.

    Returns:
        A table with a row for each result; a sentence for each file that is none, or a copy of another; a line for
        each job that is not finished.

    Raises:
        AffscoreError: No such folder.
    """
    store = Store(folder)
    found, errors, copies = read_all(store)
    rows, problems = list[dict[str, Any]](), {path: str(error) for path, error in errors.items()}
    for copy, first in copies.items():
        problems[copy] = f"the file {copy.name!r} has the key of {first.name!r}, and counts once with it"
    for path, result in found.values():
        try:
            row: dict[str, Any] = {name: str(result.metadata[name]) for name in _SHOWN}
            row |= {"n": int(result.metadata["n"]), "images": int(result.metadata["images"])}
            rows.append(row | {"activations": len(result), "mean": float(result.scores.mean())})
        except (KeyError, TypeError, ValueError) as error:
            problems[path] = f"the file {path.name!r} is no result of a survey ({type(error).__name__}: {error})"
    unfinished = []
    for key, parts in store.unfinished().items():
        if key not in {row["key"] for row in rows}:
            count = parts.count()
            running = ", running" if store.is_running(key) else ""
            unfinished.append(f"not finished: {key}, {count} {'batch' if count == 1 else 'batches'}{running}")
    return pd.DataFrame(rows), [problems[path] for path in sorted(problems)], unfinished


def find(folder: str | Path, name: str) -> Path:
    """The file of a result by its name or the beginning of its key.

    Args:
        folder: The folder of the store.
        name: The name of a file, with or without its ending, or a key or the beginning of one.

    Raises:
        AffscoreError: No such result, or several whose key begins like that.
    """
    files = Store(folder).files()
    wanted = Path(name).name
    found = [path for path in files if wanted in (path.name, path.stem)]
    found = found or [path for path in files if wanted and path.stem.rpartition("-")[2].startswith(wanted)]
    if len({path.stem.rpartition("-")[2] for path in found}) == 1:
        return found[0]  # or a copy of it
    if found:
        raise AffscoreError(f"{len(found)} results have a key that begins with {wanted!r}; give more of it")
    raise AffscoreError(f"there is no result {name!r} in {str(folder)!r}; affscore store ls shows what there is")
