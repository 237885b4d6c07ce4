"""A number of networks that were measured: its value, and how much it depends on which images were in the batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from affscore.network.result import Signature
from companion.analysis.batches import Statistic, error_over_batches, values_of
from companion.papers.printed import OurNumber

Array: TypeAlias = NDArray[np.float64]

NO_VALUE = "it has no value: a score is missing, or does not vary"


def number_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, criterion: str = "score", **words: str
) -> OurNumber | None:
    """A number of several networks with its error over batches.

    Args:
        signatures: Of networks by name.
        names: Which; None is returned where one is missing, or has not this criterion.
        statistic: The number.
        criterion: As of :func:`without_each_batch`.
        words: ``how`` and ``why`` of :class:`~companion.papers.printed.OurNumber`.
    """
    found = analogue_of(signatures, names, statistic, "", criterion)
    if found is None:
        return None
    value, how = found[0], "; ".join(filter(None, [words.pop("how", ""), few_images(signatures, names)]))
    error = error_over_batches(statistic, {name: signatures[name] for name in names}, criterion)
    undefined = "" if np.isfinite(value) else NO_VALUE
    return OurNumber(value, error, undefined=undefined, how=how, why=words.get("why", ""))


def analogue_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, about: str, criterion: str = "score"
) -> tuple[float, str] | None:
    """The same without its error, and what it is of.

    Args:
        signatures: As of :func:`number_of`.
        names: The same.
        statistic: The same.
        about: What it is of; words in braces are looked up in the metadata of the first of the networks.
        criterion: The same.
    """
    if not set(names) <= signatures.keys():
        return None
    values = {name: values_of(signatures[name], criterion) for name in names}
    missing = any(np.isnan(one[1]).all() for one in values.values())
    return None if missing else (statistic(values), about.format(**signatures[names[0]].metadata))


def few_images(signatures: Mapping[str, Signature], names: list[str]) -> str:
    """That networks were not measured on all images of the validation set, in words; nothing where they were."""
    counts = sorted({int(signatures[name].metadata.get("images", 0)) for name in names})
    return "; ".join(f"on {count} of the 50,000 images" for count in counts if count < 49_000)
