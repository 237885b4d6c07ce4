"""All results there are, by kind; which of them are the papers' own measurement, and how the others are measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.options import Specification
from affscore.survey import load_or_measure
from affscore.survey.store import stored_signatures
from companion.characteristics import torchvision_names, weight_versions
from companion.mini_zoo import hard_task, list_models
from companion.networks import by_printed_reduction, printed_reduction, short_name
from companion.printed import checkpoints, printed_correlations, printed_table, printed_tables
from companion.results import ANALOGUES, FUNCTIONS, NETWORKS, PRINTED, Results
from companion.shipped import RESULTS
from companion.studies import COLUMNS, load_studies, signatures_of, stored_studies, under
from companion.sweeps import sweep

OPTIONS = {"order": "activate-first", "covariance": "ledoit-wolf", "coupling": "exact", "bias": "none", "n": 512}
"""The options of the papers, and of all that is compared with them."""

IMAGENET = "imagenet"
"""The papers' data set: a folder imagenet:DIR."""

ON_MORE_DATA = ("cifar10", "cifar100", "random")
"""The data sets of figure 15 beside ImageNet."""

PAPERS_CHOICE, PUBLISHED_CODE = Specification(), Specification("published")
"""What the papers say that they do, and what gave their numbers; the two differ where channels come last."""

NO_STUDY = pd.DataFrame(columns=[*COLUMNS, "network"])

OF_PAPERS = ("poster", "advantage")
"""The networks of the sibling papers, which a reader trains (python -m companion.studies)."""


@cache
def routes() -> pd.DataFrame:
    """Of which networks each study is, and which part of what is known of them: ``networks`` and ``part``, by name."""
    return pd.read_csv(Path(__file__).parent / "data" / "studies.csv", index_col="study")


def studies_of_papers() -> list[str]:
    """The studies of the sibling papers' networks, which a reader makes.

    >>> studies_of_papers()[0]
    'regions-cifar10'
    """
    return [str(name) for name in routes().index[routes()["networks"].isin(OF_PAPERS)]]


@dataclass(frozen=True)
class AllResults:
    """Finished signatures and tables with which numbers and sentences of the papers are compared.

    Signatures are taken that were measured as the papers measure: 512 images in a batch, activate first, Ledoit and
    Wolf's covariance, and the average over positions.

    Attributes:
        signatures: All there are, of the package and of a reader's own store.
        zoo: The table of the small networks (name, family, year, accuracy, parameters, flops, depth, group).
        hard_task: Accuracies and statistics of the small networks on the hard task, a row for each network and seed.
        own: Those of the signatures that are the reader's.
        specification: Under which signatures are taken that were not measured as the papers measure
            (:mod:`companion.specifications`); None for the papers' own choice.
        studies: Studies by name (:mod:`companion.studies`), each under every specification; :func:`routes` says
            of which networks they are. Those of a reader are of :data:`OF_PAPERS`.
        unused_studies: The names of a reader's studies that are of other networks.
    """

    signatures: Sequence[Signature]
    zoo: pd.DataFrame | None = None
    hard_task: pd.DataFrame | None = None
    own: Sequence[Signature] = ()
    specification: Specification | None = None
    studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    unused_studies: Sequence[str] = ()

    @classmethod
    def gather(cls, results: str | Path | None = None) -> AllResults:
        """All that comes with the package, and the results of a reader.

        Args:
            results: The folder of a store, with studies in its subfolder ``studies``; None for the package's results
                alone.

        Raises:
            AffscoreError: No such folder, neither a result in it nor a study, or a file that is none.
        """
        theirs = {} if results is None else stored_studies(results)
        own = [] if results is None else stored_signatures(results)
        if results is not None and not own and not theirs:
            raise AffscoreError(
                f"there is no result in {str(results)!r}; make some: affscore survey ... --store {results}"
            )
        taken = studies_of_papers()
        studies = load_studies() | {name: study for name, study in theirs.items() if name in taken}
        unused = [name for name in theirs if name not in taken]
        return cls([*stored_signatures(RESULTS), *own], list_models(), hard_task(), own, None, studies, unused)

    @cached_property
    def kinds(self) -> tuple[Results, ...]:
        """The kinds of results that claims are tested on, the papers' own networks first."""
        tanh = sweep("domain").query("activation == 'tanh'")
        stretched = tanh.assign(activation="sigmoid", mean=2 * tanh["mean"], std=2 * tanh["std"])
        as_in_figures = {name: sweep(name) for name in ("domain", "reductions", "drift")}
        others = {"domain": pd.concat([tanh, stretched]), "wide": sweep("wide"), "correlated": sweep("correlated")}
        printed = {name: printed_table(name) for name in printed_tables()} | {"correlations": printed_correlations()}
        return (
            *self.of_signatures,
            self.poster,
            Results("the networks of Nonlinear Advantage, trained again", tables=self._studies("advantage")),
            Results("activation functions on the inputs of figures 6 and 7", FUNCTIONS, tables=as_in_figures),
            Results("activation functions on other inputs", FUNCTIONS, tables=others),
            Results("the printed numbers", PRINTED, tables=printed),
            self.trained_again,
        )

    @property
    def of_signatures(self) -> tuple[Results, ...]:
        """Those of the kinds that hold signatures, which can be measured under another specification."""
        return (self.as_printed, self.mini, self.pairs, self.cifar, self.other_weights)

    def _asked(self, *own: Specification) -> tuple[Specification, ...]:
        """The specification that was asked for, else the papers' own."""
        return own if self.specification is None else (self.specification,)

    def _named(
        self,
        *own: Specification,
        among: Iterable[Signature] | None = None,
        by: str = "model",
        prefix: str = "",
        **of: str,
    ) -> dict[str, Signature]:
        """Trained networks that were measured as asked for, by name; of several results the one of most images."""

        def as_asked(one: Signature) -> bool:
            name = str(one.metadata["model"])
            options = (each for asked in self._asked(*own) for each in (asked._asdict(), choices_of(asked, name)))
            trained = name.startswith(prefix) and one.metadata["weights"] != "random"
            return trained and any(not _differences(one, {**OPTIONS, **each, **of}) for each in options)

        ordered = sorted(self.signatures if among is None else among, key=lambda one: one.metadata["images"])
        return {one.metadata[by].removeprefix(prefix): one for one in ordered if as_asked(one)}

    def _studies(self, networks: str) -> dict[str, pd.DataFrame]:
        """What is known of some networks, under the specification, by part."""
        found: dict[str, list[pd.DataFrame]] = {}
        for name, part in routes().query("networks == @networks")["part"].items():
            if name in self.studies:
                rows = under(self.studies[str(name)], self.specification or PAPERS_CHOICE)
                found.setdefault(part, []).append(rows)
        tables = {part: pd.concat(rows, ignore_index=True) for part, rows in found.items()}
        return {part: table for part, table in tables.items() if len(table)}

    @cached_property
    def as_printed(self) -> Results:
        """The papers' networks: torchvision's default weights, and at least two batches.

        What is the same measurement says :func:`not_as_printed`; other weights or another reduction are an analogue.
        Of several the one of most images.
        """
        (asked,) = self._asked(PUBLISHED_CODE)
        on_imagenet, *elsewhere = (
            self._named(asked, among=[one for one in self.signatures if not not_as_printed(one, dataset, asked)])
            for dataset in (IMAGENET, *ON_MORE_DATA)
        )
        # the checkpoints of figure 16: a file of weights for ResNet-50 that is named as the checkpoint
        photographs = [one for one in self.signatures if one.metadata["dataset"].startswith(f"{IMAGENET}:")]
        files = self._named(asked, among=photographs, by="weights", model="resnet50")
        measured = on_imagenet | {file.rpartition(".")[0]: one for file, one in files.items()}
        there = {name: measured[name] for name in checkpoints() if name in measured}
        data = dict(zip(ON_MORE_DATA, elsewhere, strict=True))
        return Results("the papers' networks on ImageNet", NETWORKS, "", on_imagenet, data, there)

    @cached_property
    def mini(self) -> Results:
        """The small networks on the held-out digits, by the names of the networks that they are analogues of."""
        studies = self._studies("digits")
        trained = signatures_of(studies.get("other-training", NO_STUDY), *self._asked(PAPERS_CHOICE))
        ways = {"{way}-{seed}".format(**one.table.iloc[0]): one for one in trained}
        networks = self._named(PAPERS_CHOICE, prefix="mini:", dataset="digits")
        return Results("the small networks on digits", ANALOGUES, "mini:", networks, checkpoints=ways, tables=studies)

    @cached_property
    def pairs(self) -> Results:
        """Networks with and without shortcuts, by design: ``resnet20 on digits``, and its twin ``plainnet20 ...``.

        Of a design that was trained several times the scores are means over its trainings.
        """
        found = {}
        rows = self._studies("pairs").get("shortcuts", NO_STUDY)
        means = rows.assign(score=rows.groupby(["network", "index"])["score"].transform("mean"))
        for one in signatures_of(means.drop_duplicates(["network", "index"]), *self._asked(PAPERS_CHOICE)):
            name = one.table["network"].iloc[0].replace("residual", "resnet").replace("plain", "plainnet")
            found[f"{name} on digits"] = one
        on_cifar = self._named(PAPERS_CHOICE, prefix="cifar_networks.py:", dataset="folder:cifar10-test")
        found |= {f"{name} on CIFAR-10": one for name, one in on_cifar.items()}
        return Results("networks with and without shortcuts, on digits and on CIFAR-10", ANALOGUES, signatures=found)

    @cached_property
    def cifar(self) -> Results:
        """ResNets and PlainNets that were trained on CIFAR-10, on its test images and on other data."""
        return Results("networks trained on CIFAR-10, on its test images", ANALOGUES, tables=self._studies("cifar"))

    @cached_property
    def trained_again(self) -> Results:
        """The small networks on the hard task, each trained from several seeds."""
        tables = {} if self.hard_task is None or self.zoo is None else {"trainings": self.hard_task, "zoo": self.zoo}
        return Results("the small networks on a few distorted digits", ANALOGUES, "mini:", tables=tables)

    @cached_property
    def poster(self) -> Results:
        """The networks of the poster on linear regions, which a reader trained (python -m companion.studies)."""
        return Results("the poster's networks on CIFAR, trained again", tables=self._studies("poster"))

    @cached_property
    def other_weights(self) -> Results:
        """Networks of torchvision on photographs whose weights, reduction or number of images are not the papers'."""
        taken, folders = (
            {id(one) for one in self.as_printed.signatures.values()},
            (f"{IMAGENET}:", f"folder:{IMAGENET}"),
        )
        theirs = [one for one in self.signatures if one.metadata["model"] in torchvision_names()]
        others = [one for one in theirs if id(one) not in taken and one.metadata["dataset"].startswith(folders)]
        about, found = "networks with other weights or reductions, on photographs", self._studies("photographs")
        measured = self._named(PAPERS_CHOICE, PUBLISHED_CODE, among=others)
        return Results(about, ANALOGUES, signatures=measured, tables=found)

    @cached_property
    def unused(self) -> dict[str, str]:
        """The reader's results that are not the papers' measurement, by what they are of, and why they are not."""
        ours = self.as_printed
        groups = (ours.signatures, ours.checkpoints, *ours.elsewhere.values())
        used = {id(one) for group in groups for one in group.values()}
        reasons = {}
        for one in self.own:
            if id(one) not in used:
                model, weights, dataset = (one.metadata[key] for key in ("model", "weights", "dataset"))
                why = not_as_printed(one, dataset if dataset in ON_MORE_DATA else IMAGENET)
                reasons[f"{model}@{weights} on {dataset}"] = "; ".join(why) or "another result of it has more images"
        return reasons


def choices_of(specification: Specification, name: str) -> dict[str, str]:
    """The options with which a network is measured under a specification, a value for each choice.

    The reduction ``published`` averages over the axes of the published code, which are other ones where channels come
    last; elsewhere it is the mean.

    Args:
        specification: The specification.
        name: The network, without its weights.

    >>> choices_of(Specification("published"), "resnet50")["reduction"]
    'mean'
    """
    reduction = printed_reduction(short_name(name)) if specification.reduction == "published" else None
    return {**specification._asdict(), "reduction": reduction or specification.reduction}


def not_as_printed(
    signature: Signature, dataset: str = IMAGENET, specification: Specification = PUBLISHED_CODE
) -> list[str]:
    """Why a result is not the same measurement as the printed ones: nothing where it is.

    The same are torchvision's networks with their default weights, since the accuracies in figure 4 are theirs
    (:func:`companion.chapter_07.claims.common_characteristics_again`), batches of 512 images, at least two, and the
    reduction that gave the printed numbers: another one moves scores by 0.1 to 0.3.

    Args:
        signature: A finished signature.
        dataset: ``imagenet``, or another data set of figure 15.
        specification: What is asked for instead of the papers' choice, all else being the same.

    Returns:
        The reasons, each in words.
    """
    name, on = (str(signature.metadata.get(key, "")) for key in ("model", "dataset"))
    if name not in torchvision_names():
        return [f"{name} is not torchvision's network"]
    weights = (*weight_versions(name), "trained")[0]
    images = on if dataset == IMAGENET and on.startswith(f"{IMAGENET}:") else dataset
    wanted = {"weights": weights, "dataset": images, **OPTIONS, **choices_of(specification, name)}
    batches = int(signature.table["batch"].nunique())
    few = [f"there is {batches} batch and not at least two"] if batches < 2 else []
    return _differences(signature, wanted) + few


def _differences(signature: Signature, wanted: Mapping[str, Any]) -> list[str]:
    """What is not as wanted, in words."""
    found = {"coupling": "exact", "bias": "none", **signature.metadata}
    words = {"weights": "the weights are", "dataset": "the images are", "reduction": "the reduction is"}
    return [
        f"{words.get(key, f'{key} is')} {found.get(key, '')} and not {f'{value}:DIR' if value == IMAGENET else value}"
        for key, value in wanted.items()
        if str(found.get(key, "")) != str(value)
    ]


def measure_as_printed(models: Iterable[str], dataset: str, store: str | Path, **options: Any) -> dict[str, Signature]:
    """The signatures of networks with the reduction that gave their printed numbers; what is missing is measured.

    Args:
        models: MODEL[@WEIGHTS], each.
        dataset: SPEC.
        store: The folder of the store.
        options: Those of :func:`affscore.survey.load_or_measure`.

    Returns:
        A signature for each of the models, by its name as it was given.

    Raises:
        AffscoreError: As :func:`affscore.survey.load_or_measure`.
    """
    models = list(models)
    found: dict[str, Signature] = {}
    for reduction, networks in by_printed_reduction(models).items():
        found |= load_or_measure(networks, dataset, store, also=[RESULTS], reduction=reduction, **options)
    return {model: found[model] for model in models}
