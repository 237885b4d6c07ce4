"""What there is to hold against the papers: finished signatures, sorted by how close they are to what was printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.experiments.sweeps import SWEEPS, sweep
from affscore.network.result import Signature
from affscore.papers.protocol import IMAGENET, measured_alike, not_as_printed
from affscore.papers.reference import printed_table
from affscore.survey.tables import stored_signatures
from affscore.zoo import hard_task, list_models
from affscore.zoo.sources import torchvision_networks

__all__ = ["ON_MORE_DATA", "Evidence"]

ON_MORE_DATA = ("cifar10", "cifar100", "random")
"""The data sets of figure 15 beside ImageNet."""


@dataclass(frozen=True)
class Evidence:
    """Finished signatures and tables that numbers and sentences of the papers are held against.

    Signatures are taken that were measured as the papers measure: 512 images in a batch, activate first, Ledoit and
    Wolf's covariance, and the average over positions. Random weights are evidence only of what the papers say of
    untrained networks: no printed number is about them.

    Attributes:
        signatures: All there are, of the package and of a reader's own store.
        zoo: The table of the small networks (name, family, year, accuracy, parameters, flops, depth, group).
        hard_task: Accuracies and statistics of the small networks on the hard task, a row for each network and seed.
        own: Those of the signatures that are the reader's.
    """

    signatures: Sequence[Signature]
    zoo: pd.DataFrame | None = None
    hard_task: pd.DataFrame | None = None
    own: Sequence[Signature] = ()

    @classmethod
    def gather(cls, results: str | Path | None = None) -> Evidence:
        """All that comes with the package, and the results of a reader.

        Args:
            results: The folder of a store; None for the package's results alone.

        Raises:
            AffscoreError: No such folder, no result in it, or a file that is no result.
        """
        own = [] if results is None else stored_signatures(results)
        return cls([*stored_signatures(), *own], list_models(), hard_task(), own)

    def __post_init__(self) -> None:
        wrong = [type(one).__name__ for one in self.signatures if not isinstance(one, Signature)]
        if wrong:
            raise AffscoreError(f"evidence is made of signatures (affscore.load_signature), got {wrong[0]}")

    @cached_property
    def as_printed(self) -> dict[str, Signature]:
        """The papers' networks on ImageNet, by name: torchvision's default weights, and at least two batches.

        What is the same measurement says :func:`affscore.papers.protocol.not_as_printed`; other weights or another
        reduction are an analogue. Of several the one of most images.
        """
        return self._of_torchvision(IMAGENET)

    @cached_property
    def as_printed_elsewhere(self) -> dict[str, dict[str, Signature]]:
        """For each further data set of figure 15 the papers' networks with torchvision's default weights."""
        return {dataset: self._of_torchvision(dataset) for dataset in ON_MORE_DATA}

    @cached_property
    def mini(self) -> dict[str, Signature]:
        """The small networks on the held-out digits, by the name of the network that they are an analogue of."""
        return self.mini_on("digits")

    def mini_on(self, dataset: str) -> dict[str, Signature]:
        """The small networks on another data set, by name without ``mini:``."""
        chosen = [one for one in self._measured("mean") if _says(one, "dataset") == dataset]
        return _by_name([one for one in chosen if _says(one, "model").startswith("mini:")], "mini:")

    @cached_property
    def mini_untrained(self) -> dict[str, Signature]:
        """The small networks before training on the held-out digits, for what the papers say of untrained networks."""
        random = [
            one
            for one in self.signatures
            if _says(one, "weights") == "random"
            and _says(one, "dataset") == "digits"
            and _says(one, "reduction") == "mean"
        ]
        return _by_name(
            [one for one in random if _says(one, "model").startswith("mini:") and not measured_alike(one)], "mini:"
        )

    @cached_property
    def cifar(self) -> dict[str, Signature]:
        """ResNets and PlainNets that were trained on CIFAR-10, on its test images, by name."""
        return self._of_cifar("activate-first")

    @cached_property
    def cifar_reduce_first(self) -> dict[str, Signature]:
        """The same networks, the average taken before the activation."""
        return self._of_cifar("reduce-first")

    def _of_cifar(self, order: str) -> dict[str, Signature]:
        file, wanted = "cifar_networks.py:", {"dataset": "folder:cifar10-test", "reduction": "mean", "order": order}
        chosen = [one for one in self.signatures if all(_says(one, key) == what for key, what in wanted.items())]
        alike = [one for one in chosen if all(reason.startswith("order") for reason in measured_alike(one))]
        return _by_name(
            [one for one in alike if _says(one, "model").startswith(file) and _says(one, "weights") != "random"], file
        )

    @cached_property
    def other_weights(self) -> dict[str, Signature]:
        """Networks of torchvision on photographs whose weights, reduction or number of images are not the papers'."""
        known = set(torchvision_networks.names())
        taken = {id(one) for one in self.as_printed.values()}
        chosen = [
            one
            for one in self._measured("mean", "published")
            if _says(one, "model") in known and _says(one, "dataset").startswith(("imagenet:", "folder:imagenet"))
        ]
        return _by_name([one for one in chosen if id(one) not in taken])

    @cached_property
    def checkpoints(self) -> dict[str, Signature]:
        """The checkpoints of figure 16 on ImageNet: a file of weights for ResNet-50 that is named as the checkpoint."""
        names = set(printed_table("figure16_checkpoints").index)
        found = {name: self.as_printed[name] for name in names & self.as_printed.keys()}
        for one in sorted(self._measured("mean"), key=_images):
            name = _says(one, "weights").rpartition(".")[0]
            if name in names and _says(one, "model") == "resnet50" and _says(one, "dataset").startswith("imagenet:"):
                found[name] = one
        return found

    @cached_property
    def activations(self) -> dict[str, pd.DataFrame]:
        """Scores of activation functions on random inputs, by the name of the sweep."""
        return {name: sweep(name) for name in SWEEPS}

    def _measured(self, *reductions: str) -> list[Signature]:
        trained = [one for one in self.signatures if _says(one, "weights") != "random" and not measured_alike(one)]
        return [one for one in trained if _says(one, "reduction") in reductions]

    def _of_torchvision(self, dataset: str) -> dict[str, Signature]:
        return _by_name([one for one in self.signatures if not not_as_printed(one, dataset)])

    @cached_property
    def unused(self) -> dict[str, str]:
        """The reader's results that are not the papers' measurement, by what they are of, and why they are not."""
        used = [*self.as_printed.values(), *self.checkpoints.values()]
        used += [found for there in self.as_printed_elsewhere.values() for found in there.values()]
        told = {}
        for one in self.own:
            if not any(one is other for other in used):
                dataset = _says(one, "dataset")
                reasons = not_as_printed(one, dataset if dataset in ON_MORE_DATA else IMAGENET)
                name = f"{_says(one, 'model')}@{_says(one, 'weights')} on {dataset}"
                told[name] = "; ".join(reasons) or "another result of it has more images"
        return told


def _says(one: Signature, key: str) -> str:
    return str(one.metadata.get(key, ""))


def _images(one: Signature) -> int:
    return int(one.metadata.get("images", 0))


def _by_name(signatures: Iterable[Signature], prefix: str = "") -> dict[str, Signature]:
    """By the name of the network; of several the last one with the most images."""
    found: dict[str, Signature] = {}
    for one in signatures:
        name = _says(one, "model").removeprefix(prefix)
        if name not in found or _images(one) >= _images(found[name]):
            found[name] = one
    return found
