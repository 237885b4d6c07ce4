"""What a claim was tested on, in words that are read off the results and not written down beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from affscore.network.result import Signature
    from affscore.papers.results import Results

TRAINING = ("way", "task", "target", "seed", "start", "omega")
"""The columns that tell trainings of a network apart, of a study that has them."""


def counted(count: int, one: str) -> str:
    """A number of things, one in words.

    >>> counted(1, "network"), counted(2, "batch"), counted(4, "task")
    ('one network', '2 batches', '4 tasks')
    """
    return f"one {one}" if count == 1 else f"{count} {one}{'es' if one.endswith('ch') else 's'}"


def trainings_of(trainings: int, networks: int) -> str:
    """How many trainings of how many networks, which have as many each if these can be divided so.

    >>> trainings_of(9, 1), trainings_of(15, 5), trainings_of(5, 5), trainings_of(7, 2)
    ('9 trainings of one network', '3 trainings of each of 5 networks', 'one training of each of 5 networks', \
'7 trainings of 2 networks')
    """
    if networks == 1 or trainings % networks:
        return f"{counted(trainings, 'training')} of {counted(networks, 'network')}"
    return f"{counted(trainings // networks, 'training')} of each of {networks} networks"


def trainings_of_each(networks: Iterable[str]) -> str:
    """The same of the network of each training.

    >>> trainings_of_each(["vgg8", "vgg8", "resnet8", "resnet8"]), trainings_of_each(["a", "a", "a", "b"])
    ('2 trainings of each of 2 networks', '4 trainings of 2 networks')
    """
    trainings = Counter(networks)
    if len(set(trainings.values())) > 1:
        return f"{trainings.total()} trainings of {len(trainings)} networks"
    return trainings_of(trainings.total(), len(trainings))


def batches_of(sizes: Iterable[int], counts: Iterable[int]) -> str:
    """How many batches of how many samples, for each network.

    Args:
        sizes: Samples in a batch; of several sizes the number of batches is left out.
        counts: Batches of a network.

    >>> batches_of([512], [1]), batches_of([512], [2, 19]), batches_of([32, 64, 256], [2, 18])
    ('one batch of 512', '2 to 19 batches of 512', 'batches of 32 to 256')
    """
    (least, most), (fewest, many) = ((min(some), max(some)) for some in (set(sizes), set(counts)))
    if least < most:
        return f"batches of {least} to {most}"
    return f"{counted(many, 'batch') if fewest == many else f'{fewest} to {many} batches'} of {least}"


def batches_of_signatures(signatures: Iterable[Signature]) -> str:
    """How many batches of how many samples signatures are of."""
    some = list(signatures)
    return batches_of([int(one.metadata["n"]) for one in some], [one.table["batch"].nunique() for one in some])


def signatures_tested(signatures: Iterable[Signature]) -> str:
    """The trainings of how many networks signatures are of, and their batches."""
    some = list(signatures)
    trainings = trainings_of_each(str(one.metadata["model"]) for one in some)
    return f"{trainings}, {batches_of_signatures(some)}"


def batches_of_study(study: pd.DataFrame) -> str:
    """How many batches of how many samples a study is of; rows with ``n`` and ``batches``.

    >>> batches_of_study(pd.DataFrame({"n": [128, 1024], "batches": [78, 9]}))
    'batches of 128 to 1024'
    """
    return batches_of(map(int, study["n"]), map(int, study["batches"]))


def trainings_of_study(study: pd.DataFrame) -> str:
    """How many trainings of how many networks, and on how many tasks, a study is of.

    Args:
        study: Rows with ``network``, or else ``model``, and those of :data:`TRAINING` that there are.

    >>> rows = pd.DataFrame({"network": "vgg8", "task": ["digits", "digits", "hard"], "seed": [1, 2, 1], "score": 0.5})
    >>> trainings_of_study(rows), trainings_of_study(rows.drop(columns="task"))
    ('3 trainings of one network on 2 tasks', '2 trainings of one network')
    """
    name = "network" if "network" in study else "model"
    trainings = study[[name, *(column for column in TRAINING if column in study)]].drop_duplicates()
    tasks = trainings["task"].nunique() if "task" in trainings else 1
    return trainings_of_each(trainings[name]) + (f" on {tasks} tasks" if tasks > 1 else "")


def study_tested(study: pd.DataFrame) -> str:
    """The trainings of a study, and its batches.

    >>> study_tested(pd.DataFrame({"model": ["a", "b"], "n": 512, "batches": 1, "score": 0.5}))
    'one training of each of 2 networks, one batch of 512'
    """
    return f"{trainings_of_study(study)}, {batches_of_study(study)}"


def inputs_of(sweep: pd.DataFrame) -> str:
    """On how many samples of which normal inputs activation functions were tried.

    Args:
        sweep: Rows with ``activation``, ``mean``, ``std`` and ``draw``.

    >>> rows = pd.DataFrame({"activation": "relu", "mean": [-20.0, 20.0], "std": [1.0, 2.0], "draw": [0, 1]})
    >>> inputs_of(rows)
    'means from -20 to 20 and deviations from 1 to 2, 2 samples of each'
    """
    ranges: dict[str, list[str]] = {}
    for name, rows in sweep.groupby("activation", sort=False):
        (low, high), (least, most) = ((rows[column].min(), rows[column].max()) for column in ("mean", "std"))
        means = f"means from {low:g} to {high:g}" if low < high else f"the mean {low:g}"
        deviations = f"deviations from {least:g} to {most:g}" if least < most else f"the deviation {least:g}"
        ranges.setdefault(f"{means} and {deviations}", []).append(str(name))
    listed = ranges if len(ranges) == 1 else [f"{words} ({', '.join(names)})" for words, names in ranges.items()]
    return f"{'; '.join(listed)}, {counted(sweep['draw'].nunique(), 'sample')} of each"


def dimensions_of(sweep: pd.DataFrame) -> str:
    """In how many dimensions, and with how many points, activation functions were tried.

    Args:
        sweep: Rows with ``width``, ``points``, ``exponent`` and ``repeat``.

    >>> rows = pd.DataFrame({"width": [125, 1125], "points": 250, "exponent": 1.5, "repeat": 0})
    >>> dimensions_of(rows)
    '125 to 1125 correlated dimensions (a spectrum that falls as k^-1.5), 250 points, one sample of each'
    """
    points, exponent = int(sweep["points"].max()), float(sweep["exponent"].max())
    kind = f"correlated dimensions (a spectrum that falls as k^-{exponent:g})" if exponent else "independent dimensions"
    samples = counted(sweep["repeat"].nunique(), "sample")
    return f"{sweep['width'].min()} to {sweep['width'].max()} {kind}, {points} points, {samples} of each"


def measured(results: Results, networks: int) -> str:
    """What a claim was tested on that rests on the signatures of some networks, or on statistics of their trainings.

    Args:
        results: Of one kind.
        networks: How many the claim is about: of signatures each training counts, of ``trainings`` each network.
    """
    if results.printed:
        return f"printed numbers of {counted(networks, 'network')}"
    if results.trainings is not None:
        return trainings_of(networks * results.trainings["seed"].nunique(), networks)
    if not results.signatures or not networks:
        return counted(networks, "network") if networks else ""
    models = Counter(str(one.metadata["model"]) for one in results.signatures.values())
    (each, *others) = set(models.values())
    uneven = others or networks % each
    trainings = counted(networks, "training") if uneven else trainings_of(networks, networks // each)
    return f"{trainings}, {batches_of_signatures(results.signatures.values())}"
