"""All results there are, sorted by how close they are to what was printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.experiments.sweeps import sweep
from affscore.network.result import Signature
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.figure_16 import checkpoints
from affscore.papers.alexnet_to_transformers.table_2 import printed_correlations
from affscore.papers.printed import printed_table, printed_tables
from affscore.papers.protocol import IMAGENET, PAPERS_CHOICE, PUBLISHED_CODE, not_as_printed, options_of, other_options
from affscore.papers.results import CHOICES, Results
from affscore.survey.studies import load_studies, signatures_of, stored_studies, under
from affscore.survey.tables import stored_signatures
from affscore.zoo import hard_task, list_models
from affscore.zoo.sources import torchvision_networks

ON_MORE_DATA = ("cifar10", "cifar100", "random")
"""The data sets of figure 15 beside ImageNet."""

TRAINED_AGAIN = {
    "regions": ("regions-cifar10", "regions-cifar10-resnet18", "regions-cifar100"),
    "advantage": ("advantage-cifar10", "advantage-cifar100", "advantage-wmt14"),
}
"""The studies of the sibling papers' networks, which a reader makes (scripts/make_studies.py), by the name of ours."""

_PARTS = ("", "-paths", "-scores")
"""Endings of the names of a study's tables."""

_OF_KINDS = ("-cifar", "-photographs")
"""Endings of the names of studies of other networks than the small ones."""

_OF_TEXT = "language"
"""The beginning of the names of studies of networks that read text."""


@dataclass(frozen=True)
class AllResults:
    """Finished signatures and tables with which numbers and sentences of the papers are compared.

    Signatures are taken that were measured as the papers measure: 512 images in a batch, activate first, Ledoit and
    Wolf's covariance, and the average over positions. Those of random weights say something only of what the papers
    say of untrained networks: no printed number is about them.

    Attributes:
        signatures: All there are, of the package and of a reader's own store.
        zoo: The table of the small networks (name, family, year, accuracy, parameters, flops, depth, group).
        hard_task: Accuracies and statistics of the small networks on the hard task, a row for each network and seed.
        own: Those of the signatures that are the reader's.
        specification: Under which signatures are taken that were not measured as the papers measure
            (:mod:`affscore.papers.specifications`); None for the papers' own choice.
        studies: Studies by name (:mod:`affscore.survey.studies`), each under every specification. They are of the small
            networks on digits, unless the name ends with ``-cifar`` (networks trained on CIFAR-10) or ``-photographs``
            (networks of torchvision), or begins with ``language`` (networks that read text).
        own_studies: Those of a reader, by name; of them those of :data:`TRAINED_AGAIN` are taken, with all parts.
    """

    signatures: Sequence[Signature]
    zoo: pd.DataFrame | None = None
    hard_task: pd.DataFrame | None = None
    own: Sequence[Signature] = ()
    specification: Specification | None = None
    studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    own_studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def gather(cls, results: str | Path | None = None) -> AllResults:
        """All that comes with the package, and the results of a reader.

        Args:
            results: The folder of a store, with studies in its subfolder ``studies``; None for the package's results
                alone.

        Raises:
            AffscoreError: No such folder, neither a result in it nor a study, or a file that is none.
        """
        studies = {} if results is None else stored_studies(results)
        own = [] if results is None else stored_signatures(results, required=not studies)
        every = [*stored_signatures(), *own]
        return cls(every, list_models(), hard_task(), own, studies=load_studies(), own_studies=studies)

    def __post_init__(self) -> None:
        wrong = [type(one).__name__ for one in self.signatures if not isinstance(one, Signature)]
        if wrong:
            raise AffscoreError(f"results are signatures (affscore.load_signature), got {wrong[0]}")

    @cached_property
    def kinds(self) -> tuple[Results, ...]:
        """The kinds of results that claims are tested on, the papers' own networks first."""
        tanh = sweep("domain").query("activation == 'tanh'")
        stretched = tanh.assign(activation="sigmoid", mean=2 * tanh["mean"], std=2 * tanh["std"])
        functions = Results(
            "activation functions on the inputs of figures 6 and 7",
            "independent normal coordinates",
            sweeps={name: sweep(name) for name in ("domain", "reductions", "drift")},
        )
        printed = Results(
            "the printed numbers",
            "as the papers print them, rounded",
            correlations=printed_correlations(),
            printed={name: printed_table(name) for name in printed_tables()},
        )
        other_inputs = Results(
            "activation functions on other inputs",
            analogue=True,
            sweeps={"domain": pd.concat([tanh, stretched]), "wide": sweep("wide"), "correlated": sweep("correlated")},
        )
        networks = (
            self.mini, self.trained_again, self.seeds, self.matched, self.cifar, self.other_weights, self.language
        )  # fmt: skip
        return (self.as_printed, self.poster, self.advantage, functions, printed, other_inputs, *networks)

    @property
    def of_signatures(self) -> tuple[Results, ...]:
        """Those of the kinds that hold signatures, which can be measured under another specification."""
        kinds = (self.as_printed, self.mini, self.seeds, self.matched, self.cifar, self.other_weights)
        return (*kinds, self.language)

    def _asked(self, *own: Specification) -> tuple[Specification, ...]:
        """The specification that was asked for, else the papers' own."""
        return own if self.specification is None else (self.specification,)

    def _studies(self, ending: str = "", start: str = "") -> dict[str, pd.DataFrame]:
        """The studies of a kind, whose names begin or end so, under the specification, by name without that end."""
        rest = not ending and not start
        found = {
            name.removesuffix(ending): under(study, self.specification or PAPERS_CHOICE)
            for name, study in self.studies.items()
            if name.startswith(start)
            and name.endswith(ending)
            and not (rest and (name.endswith(_OF_KINDS) or name.startswith(_OF_TEXT)))
        }
        return {name: study for name, study in found.items() if len(study)}

    @cached_property
    def as_printed(self) -> Results:
        """The papers' networks: torchvision's default weights, and at least two batches.

        What is the same measurement says :func:`affscore.papers.protocol.not_as_printed`; other weights or another
        reduction are an analogue. Of several the one of most images.
        """
        (asked,) = self._asked(PUBLISHED_CODE)
        on_imagenet, *elsewhere = (
            _by_name((one for one in self.signatures if not not_as_printed(one, dataset, asked)), [asked])
            for dataset in (IMAGENET, *ON_MORE_DATA)
        )
        # the checkpoints of figure 16: a file of weights for ResNet-50 that is named as the checkpoint
        photographs = (one for one in self.signatures if one.metadata["dataset"].startswith(f"{IMAGENET}:"))
        files = _by_name(photographs, [asked], by="weights", model="resnet50")
        measured = on_imagenet | {file.rpartition(".")[0]: one for file, one in files.items()}
        return Results(
            "the papers' networks on ImageNet",
            "torchvision's default weights, activate first, the reduction of the published code",
            signatures=on_imagenet,
            elsewhere=dict(zip(ON_MORE_DATA, elsewhere, strict=True)),
            checkpoints={name: measured[name] for name in checkpoints() if name in measured},
        )

    @cached_property
    def poster(self) -> Results:
        """The networks of the poster on linear regions, which a reader trained (scripts/make_studies.py)."""
        return Results("the poster's networks on CIFAR, trained again", CHOICES, studies=self._trained_again("regions"))

    @cached_property
    def advantage(self) -> Results:
        """The networks of "Nonlinear Advantage", which a reader trained (scripts/make_studies.py)."""
        return Results(
            "the networks of Nonlinear Advantage, trained again",
            "by our recipes",
            studies=self._trained_again("advantage"),
        )

    def _trained_again(self, name: str) -> dict[str, pd.DataFrame]:
        """The studies of a reader that are the papers' own of this name, with their parts, under the specification."""
        found = {
            f"{name}{part}": [
                under(self.own_studies[f"{one}{part}"], self.specification or PAPERS_CHOICE)
                for one in TRAINED_AGAIN[name]
                if f"{one}{part}" in self.own_studies
            ]
            for part in _PARTS
        }
        return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items() if tables}

    @cached_property
    def mini(self) -> Results:
        """The small networks on the held-out digits, by the names of the networks that they are analogues of."""
        small = partial(_by_name, self.signatures, self._asked(PAPERS_CHOICE), prefix="mini:")
        return Results(
            "the small networks on digits",
            CHOICES,
            analogue=True,
            signatures=small(dataset="digits"),
            untrained=small(dataset="digits", trained=False),
            elsewhere={dataset: small(dataset=dataset) for dataset in ON_MORE_DATA},
            checkpoints=self._of_study("other-training", "{way}-{seed}"),
            studies=self._studies(),
        )

    @cached_property
    def trained_again(self) -> Results:
        """The small networks on the hard task, each trained from several seeds."""
        return Results(
            "the small networks on a few distorted digits",
            f"one batch of 512 each, {CHOICES}",
            analogue=True,
            trainings=self.hard_task,
            zoo=self.zoo,
        )

    @cached_property
    def matched(self) -> Results:
        """Small networks with and without shortcuts, a name for each training: ``resnet20-1``, ``plainnet20-1``."""
        found = self._of_study("shortcuts", "{network}-{seed}").items()
        return Results(
            "small networks with and without shortcuts, on digits",
            CHOICES,
            analogue=True,
            signatures={name.replace("residual", "resnet").replace("plain", "plainnet"): one for name, one in found},
        )

    @cached_property
    def seeds(self) -> Results:
        """A small VGG-16 before and after training, a name for each seed: ``vgg16-1``."""
        return Results(
            "a small VGG-16 from nine seeds, on digits",
            CHOICES,
            analogue=True,
            signatures=self._of_study("seeds", "{network}-{seed}"),
            untrained=self._of_study("untrained", "{network}-{seed}"),
        )

    def _of_study(self, name: str, called: str) -> dict[str, Signature]:
        """The signatures of a study under the specification that is asked for, called by columns of its table."""
        if name not in self.studies:
            return {}
        found = signatures_of(self.studies[name], *self._asked(PAPERS_CHOICE))
        return {called.format(**one.table.iloc[0]): one for one in found}

    @cached_property
    def cifar(self) -> Results:
        """ResNets and PlainNets that were trained on CIFAR-10, on its test images."""
        asked = self._asked(PAPERS_CHOICE)
        return Results(
            "networks trained on CIFAR-10, on its test images",
            CHOICES,
            analogue=True,
            signatures=_by_name(self.signatures, asked, prefix="cifar_networks.py:", dataset="folder:cifar10-test"),
            studies=self._studies("-cifar"),
        )

    @cached_property
    def other_weights(self) -> Results:
        """Networks of torchvision on photographs whose weights, reduction or number of images are not the papers'."""
        networks, taken = set(torchvision_networks.names()), {id(one) for one in self.as_printed.signatures.values()}
        photographs = (f"{IMAGENET}:", f"folder:{IMAGENET}")
        return Results(
            "networks with other weights or reductions, on photographs",
            "activate first",
            analogue=True,
            signatures=_by_name(
                (
                    one
                    for one in self.signatures
                    if id(one) not in taken
                    and one.metadata["model"] in networks
                    and one.metadata["dataset"].startswith(photographs)
                ),
                self._asked(PAPERS_CHOICE, PUBLISHED_CODE),
            ),
            studies=self._studies("-photographs"),
        )

    @cached_property
    def language(self) -> Results:
        """Small language models, before and after training."""
        return Results(
            "small language models on the docstrings of Python",
            f"windows of 128 characters, {CHOICES}",
            analogue=True,
            studies=self._studies(start=_OF_TEXT),
        )

    @property
    def unused_studies(self) -> list[str]:
        """The names of the reader's studies that are not of the papers' networks."""
        taken = {f"{one}{part}" for names in TRAINED_AGAIN.values() for one in names for part in _PARTS}
        return [name for name in self.own_studies if name not in taken]

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


def _by_name(
    signatures: Iterable[Signature],
    asked: Sequence[Specification],
    *,
    by: str = "model",
    prefix: str = "",
    trained: bool = True,
    **wanted: str,
) -> dict[str, Signature]:
    """Those of one of some specifications and what else is wanted, by network; of several the one of most images."""

    def as_asked(one: Signature) -> bool:
        options = (each for choice in asked for each in (choice._asdict(), options_of(choice, one.metadata["model"])))
        return any(not other_options(one, **{**each, **wanted}) for each in options)

    return {
        one.metadata[by].removeprefix(prefix): one
        for one in sorted(signatures, key=lambda one: one.metadata["images"])
        if one.metadata["model"].startswith(prefix)
        and (one.metadata["weights"] != "random") == trained
        and as_asked(one)
    }
