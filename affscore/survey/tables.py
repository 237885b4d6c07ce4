"""What is in a store: its results as one table or in a file, and a list of them and of what is no result."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pandas as pd

from affscore.errors import AffscoreError, AffscoreWarning
from affscore.network.criteria import COLUMNS
from affscore.network.multiverse_result import Multiverse, load_result
from affscore.network.result import Signature
from affscore.network.table import write_table
from affscore.survey.shipped import MULTIVERSES, SHIPPED
from affscore.survey.store import Store
from affscore.zoo.paths import check_destination

Result = TypeVar("Result", bound=Signature | Multiverse)
_Found: TypeAlias = tuple[Path, Signature | Multiverse]

_SHOWN = ("key", "model", "weights", "dataset", "reduction", "order")


def load_results(path: str | Path | None = None) -> pd.DataFrame:
    """All rows of all signatures in a store (of multiverses there are :func:`stored_multiverses`).

    Args:
        path: The folder of a store; None for the results that come with the package.

    Returns:
        A table with the columns of a signature's (criteria that were not measured are missing, and so is what an older
        version did not measure), a row for each network, data set, activation and batch; ``units`` says whether it is
        of "activations" or of "blocks", and the last column, ``job``, is the key of the result that a row is from.
        Copies of a result, which have the same key, count once.

    Warns:
        AffscoreWarning: There are copies; their names.

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).
    """
    return _as_table(_read_all(path, SHIPPED, Signature))


def stored_signatures(path: str | Path | None = None, required: bool = True) -> list[Signature]:
    """All signatures in a store.

    Args:
        path: The folder of a store; None for the results that come with the package.
        required: Whether it is an error that there are none.

    Returns:
        The signatures, in the order of the names of their files, and once where there are copies (with a warning).

    Raises:
        AffscoreError: No such folder, no result in it, or a file that is no result (the message names it).

    >>> stored_signatures()[0].metadata["model"]
    'alexnet'
    """
    return [*_read_all(path, SHIPPED, Signature, required=required).values()]


def stored_multiverses(path: str | Path | None = None, required: bool = True) -> list[Multiverse]:
    """All multiverses in a store.

    Args:
        path: The folder of a store; None for those that come with the package.
        required: Whether it is an error that there are none.

    Returns:
        The multiverses, in the order of the names of their files.

    Raises:
        AffscoreError: As :func:`stored_signatures`.
    """
    return [*_read_all(path, MULTIVERSES, Multiverse, required=required).values()]


def export(folder: str | Path, file: str | Path) -> Path:
    """Write all rows of a store to one file, those of multiverses, too, which have a row for each specification.

    Args:
        folder: The folder of the store.
        file: A file name that ends in .csv or .parquet; outside the store, where it would be taken for a result.

    Returns:
        The file.

    Raises:
        AffscoreError: As :func:`load_results`; another ending; a place that cannot be written.
    """
    file = Path(file)
    check_destination(file, (".csv", ".parquet"))
    if file.absolute().parent.resolve() == Path(folder).resolve():
        raise AffscoreError(f"{file.name!r} would lie among the results of the store; choose another folder")
    results: dict[str, Signature | Multiverse] = _read_all(folder, SHIPPED, Signature, Multiverse)
    return write_table(_as_table(results), file)


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
    found, errors, copies = _read(store)
    rows, problems = list[dict[str, Any]](), {path: str(error) for path, error in errors.items()}
    for copy, first in copies.items():
        problems[copy] = f"the file {copy.name!r} has the key of {first.name!r}, and counts once with it"
    for path, result in found.values():
        try:
            several = {"reduction": "multiverse", "order": "all"} if isinstance(result, Multiverse) else {}
            row: dict[str, Any] = {name: str({**result.metadata, **several}[name]) for name in _SHOWN}
            row["units"] = _units(result)
            row |= {"n": int(result.metadata["n"]), "images": int(result.metadata["images"])}
            rows.append(row | {"activations": result.rows["index"].nunique(), "mean": _mean_score(result)})
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


def _as_table(results: Mapping[str, Signature | Multiverse]) -> pd.DataFrame:
    """The rows of results by their keys, columns in their order; the last one is the key."""
    parts = [one.rows.assign(units=_units(one), job=key) for key, one in results.items()]
    table = pd.concat(parts, ignore_index=True)
    known = [name for name in COLUMNS if name in table and name != "seconds"]
    others = [name for name in table.columns if name not in {*known, "seconds", "job"}]
    return table[[*known, *others, "seconds", "job"]]


def _read_all(path: str | Path | None, shipped: Path, *kinds: type[Result], required: bool = True) -> dict[str, Result]:
    """The results of these kinds in a store, by their keys."""
    if path is None and not (shipped.is_dir() and Store(shipped).files()):
        if not required:
            return {}
        raise AffscoreError(
            "this version of the package comes without results; give the folder of a store, as written by: "
            "affscore survey ... --store DIR"
        )
    found, problems, copies = _read(Store(shipped if path is None else path))
    for error in problems.values():
        raise AffscoreError(f"{error}; move it out of the store (affscore store verify names all)") from error
    wanted = {key: (file, one) for key, (file, one) in found.items() if isinstance(one, kinds)}
    if required and not wanted:
        what, how = ("multiverse", "--multiverse mean,sample ") if kinds == (Multiverse,) else ("result", "")
        if found and not how:
            what = "signature, only multiverses (affscore.survey.stored_multiverses),"
        raise AffscoreError(
            f"there is no {what} in the folder {str(path)!r}; make some with: affscore survey ... {how}--store {path}"
        )
    files = {file for file, _ in wanted.values()}
    if same := [(copy, first) for copy, first in copies.items() if first in files]:
        pairs = "; ".join(f"{copy.name!r} and {first.name!r}" for copy, first in same)
        text = f"files with the same key are one result, and count once: {pairs}"
        warnings.warn(text, AffscoreWarning, stacklevel=3)
    return {key: one for key, (_, one) in wanted.items()}


def _units(result: Signature | Multiverse) -> str:
    return str(result.metadata.get("units", "activations"))  # of an older version there were no others


def _mean_score(result: Signature | Multiverse) -> float:
    """Of those that there are; of a multiverse under its first specification."""
    scores = result.scores.iloc[:, 0] if isinstance(result, Multiverse) else pd.Series(result.scores)
    return float(scores.mean())


def _read(store: Store) -> tuple[dict[str, _Found], dict[Path, AffscoreError], dict[Path, Path]]:
    """The results of a store by their keys; why other files are none; and copies, with the file that counts."""
    found, problems, copies = dict[str, _Found](), dict[Path, AffscoreError](), dict[Path, Path]()
    for file in store.files():
        try:
            result = load_result(file)
        except AffscoreError as error:
            problems[file] = error
            continue
        key = str(result.metadata.get("key", file.stem))  # a file that no survey wrote has none
        if key in found:
            copies[file] = found[key][0]
        found.setdefault(key, (file, result))
    return found, problems, copies
