"""Studies: many networks, trainings or data sets in one tidy table, under every specification."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.network.columns import ForeignError
from affscore.network.criteria import CRITERIA
from affscore.network.multiverse import Multiverse
from affscore.network.parquet import read_parquet
from affscore.network.result import Signature
from affscore.options import DEFAULT, Specification

STUDIES = Path(__file__).parents[1] / "data" / "studies"
"""The folder of the studies that come with the companion."""

ACTIVATION = ("layer", "call", "activation", "kind", "depth", "width")

COLUMNS = (
    "model", "weights", "dataset", "n", "images", "batches", "accuracy", "index", *ACTIVATION,
    *Specification._fields, "score", "score_std", "mean_std",
)  # fmt: skip
"""The columns of every study; criteria may follow."""


def study_of(results: Iterable[Multiverse | Signature]) -> pd.DataFrame:
    """Finished results as a study: a row for each network, data set, activation and specification.

    Args:
        results: Multiverses, which have several specifications, and signatures, which have one and the criteria that
            were measured with it.

    Returns:
        A table with ``model``, ``weights``, ``dataset``, ``n``, ``images`` and ``batches``; ``accuracy``, the share of
        the images that the network names rightly, missing where that is not known; ``index``, ``layer``,
        ``call``, ``activation``, ``kind``, ``depth`` and ``width`` of the activation; the five words of the
        specification; ``score``, the mean over the batches, and ``score_std``, the standard deviation over them
        (missing for one batch); ``mean_std``, that of the network's mean score, the same in all of its rows; and the
        criteria.

    >>> from affscore import signature
    >>> one = study_of([signature("mini:digitsnet", "digits", n=64, images=128, criteria="cka")])
    >>> len(one), int(one.loc[0, "batches"]), list(one.columns[-3:])
    (9, 2, ['score_std', 'mean_std', 'cka'])
    """
    tables = [_rows(one) for result in results for one in _signatures(result)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(COLUMNS))


def load_study(name: str) -> pd.DataFrame:
    """A study that comes with the companion.

    ``python -m companion.studies --only NAME --out FOLDER`` makes it again: where nothing is trained to about 1e-5
    in a score; a training enlarges how another processor rounds.

    Args:
        name: Of chapter 3 "batch-size", "batch-size-cifar", "batch-size-large-cifar" and "seeds"; of 11 "untrained",
            "untrained-cifar", "seeds" and "seeds-course"; of 5 "shortcuts"; of 12 "other-data", "other-data-cifar",
            "other-data-photographs", "classes", "classes-cifar" and "other-training"; of 15 "regions" and
            "regions-width", and the segments that their networks were followed along, "regions-paths" and
            "regions-width-paths"; of 16 "advantage", "advantage-scores", "advantage-sizes", "advantage-criteria" and
            "advantage-translation"; of 17 "steered", "steered-paths", "steered-targets" and
            "control"; of 8 "attention", "shortcut-strength" and "filters"; of 13 "blocks" and
            "blocks-cifar"; of 14 "language", "language-course", "language-positions", "language-encoder" and
            "language-encoder-positions".

    Returns:
        A table with the columns of :func:`study_of`. Where networks were trained for it also ``network``, ``way`` (how,
        as "supervised") and ``seed``; of subsets ``draw``, the number of a random one and 0 for a class; of blocks
        ``flag`` and the criterion ``affine_fit``, all images being one batch; of a course ``step``, of the optimiser,
        and not all of the others. A study of paths has a row for each segment: ``network``, ``way``, ``seed``,
        ``accuracy``, ``fitted`` (the share of the training labels that the network reproduces), ``path``, ``segment``,
        and the means over logits of :func:`affscore.linear_regions.along_paths`.

        A study of slopes has a row for each training and activation: ``network``, ``task``, ``seed``, ``start`` (the
        part of ordinary training after which slopes were pulled to 1; missing for never), ``omega``; of the training
        ``accuracy`` and ``accuracy_before`` (at the start), ``loss``, ``share`` (of the channels that are not linear),
        ``napl`` and ``width`` (:func:`affscore.nonlinear_advantage.effective_width`); of the activation ``index``,
        ``layer``, ``call``, ``channels``, ``active``, and where it was measured ``score_after`` and ``channel_auc``
        (how likely a channel that stays had a lower score than one that became linear). One of criteria has ``by``,
        ``keep``, ``kept``, and the accuracies before, at once and after some epochs.

        Networks that were pulled to a score have ``task`` and ``target``, and on the test images of their task
        ``test_accuracy``, ``cross_entropy``, ``calibration_error``, ``accuracy_noise_0.5`` and ``accuracy_noise_1``
        (with noise of so many standard deviations), ``accuracy_kept_0.75`` and ``accuracy_kept_0.5`` (with so many
        channels left, the others linear), and ``transfer`` (of a logistic regression on the last features, for the
        other task).

        Language models have ``bits`` (the loss a held-out character, in their course by step), ``by_character`` and
        ``by_pair`` (:func:`companion.language.character_losses`), and ``python`` and ``text``, the version of Python
        and the fingerprint of its docstrings. A study of positions has the columns of
        :func:`companion.language.scores_by_position`.

    Raises:
        AffscoreError: There is no such study.
    """
    file = STUDIES / f"{name}.parquet"
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in STUDIES.glob("*.parquet")))
        raise AffscoreError(f"no study that comes with the companion is called {name!r}; there are: {known}")
    return pd.read_parquet(file)


def load_studies() -> dict[str, pd.DataFrame]:
    """All studies that come with the companion, by name."""
    return {path.stem: pd.read_parquet(path) for path in sorted(STUDIES.glob("*.parquet"))}


def stored_studies(folder: str | Path) -> dict[str, pd.DataFrame]:
    """The studies of a reader, by name: those in the subfolder ``studies`` of a store.

    Args:
        folder: The folder of the store.

    Raises:
        AffscoreError: A file that is no study (the message names it).
    """
    files = sorted((Path(folder) / "studies").glob("*.parquet"))
    return {file.stem: read_parquet(file, "study", _check)[0] for file in files}


def under(study: pd.DataFrame, specification: Specification = DEFAULT) -> pd.DataFrame:
    """The rows of a study under one specification; none where it was not measured.

    >>> rows = pd.DataFrame([Specification(), Specification(order="reduce-first")]).assign(score=[0.5, 0.6])
    >>> under(rows)["score"].tolist()
    [0.5]
    """
    words = list(Specification._fields)
    if not set(words) <= set(study):
        return study  # of paths, which no specification changes
    return study[study[words].eq(pd.Series(specification._asdict())).all(axis=1)].reset_index(drop=True)


def signatures_of(study: pd.DataFrame, specification: Specification = DEFAULT) -> list[Signature]:
    """The signatures in a study under one specification, in the order of its rows.

    They have one batch each, that of the means, and no fingerprints, so they say nothing of the spread over batches.

    >>> from affscore import signature
    >>> measured = signature("mini:digitsnet", "digits", n=64, images=128, criteria=False)
    >>> (found,) = signatures_of(study_of([measured]))
    >>> found.metadata["model"], bool((found.scores == measured.scores).all())
    ('mini:digitsnet', True)
    """
    rows, whole = under(study, specification), ["model", "weights", "dataset", "n", "images"]
    groups = rows.groupby(whole, sort=False)
    return [_signature(table, dict(zip(whole, key, strict=True)), specification) for key, table in groups]


def _check(table: pd.DataFrame, metadata: dict[str, Any]) -> None:
    if "study" not in metadata:
        raise ForeignError("its metadata name no study")


def _signature(rows: pd.DataFrame, about: dict[str, Any], specification: Specification) -> Signature:
    table = rows.assign(batch=0, raw=rows["score"], bound_exceeded=False, flag="")
    table["pairing_optimal"] = pd.Series(None, table.index, dtype="boolean")
    unknown = dict.fromkeys(("created", "fingerprint_weights", "fingerprint_data"), "")
    own = {"seed": 0, "criteria": [], "versions": {}, "accuracy": float(rows["accuracy"].iloc[0]), **unknown}
    return Signature(table, {**own, **about, **specification._asdict()})


def _signatures(result: Multiverse | Signature) -> Iterable[Signature]:
    if isinstance(result, Signature):
        return [result]
    return (result.signature(*choice) for choice in result.choices)


def _rows(one: Signature) -> pd.DataFrame:
    summary, about = one.summary.reset_index(), one.metadata
    words = {name: about.get(name, getattr(DEFAULT, name)) for name in Specification._fields}
    rows = summary.assign(
        **{name: about[name] for name in ("model", "weights", "dataset", "n", "images")},
        batches=one.table["batch"].nunique(),
        mean_std=one.table.groupby("batch")["score"].mean().std(),
        accuracy=float("nan") if about.get("accuracy") is None else about["accuracy"],
        **words,
    )
    criteria = [column.name for name in about["criteria"] for column in CRITERIA[name].columns]
    return rows[[*COLUMNS, *criteria]]


ONE_TRAINING = ["network", "way", "seed"]
"""The columns that tell trainings apart."""


def rates(paths: pd.DataFrame) -> pd.DataFrame:
    """The segments with what they have per unit of length, and as a fraction of the total variation.

    Args:
        paths: A study of linear regions along paths, a row for each segment.

    Returns:
        It with ``crossings_per_length``, ``deviation_per_length``, and ``relative_deviation``, the absolute deviation
        as a fraction of length times total variation; of means over logits.
    """
    per_length = paths["absolute_deviation"] / paths["length"]
    return paths.assign(
        crossings_per_length=paths["crossings"] / paths["length"],
        deviation_per_length=per_length,
        relative_deviation=per_length / paths["total_variation"],
    )


def of_networks(paths: pd.DataFrame) -> pd.DataFrame:
    """Means over the segments of each training, with its test error and the share of fitted training labels."""
    means = ["length", "crossings", "breakpoints", "absolute_deviation", "deviation_upper_bound", "total_variation"]
    groups = rates(paths).groupby(ONE_TRAINING, sort=False)
    table = groups[[*means, "relative_deviation", "accuracy", "fitted"]].mean().reset_index()
    return table.assign(test_error=1 - table["accuracy"])


def with_scores(study: pd.DataFrame, paths: pd.DataFrame) -> pd.DataFrame:
    """The mean score of each training beside its means along paths.

    Args:
        study: Of the signatures of the same trainings, under one specification.
        paths: A row for each segment.
    """
    scores = study.groupby(ONE_TRAINING)["score"].mean().reset_index()
    return of_networks(paths).merge(scores, on=ONE_TRAINING, validate="1:1")
