"""Interventions: networks with one part changed, trainings with a control of the penalty, and how they are judged.

A design is the unit of inference: seeds are averaged within it, and levels are compared within it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import stats
from torch import Tensor, nn

from affscore import AffinityPenalty
from affscore.options import DEFAULT, Specification
from companion.mini_zoo.distorted_digits import shifted
from companion.mini_zoo.training import Recipe, accuracy, naming_loss, optimise, recipe_of
from companion.statistics import mean_of
from companion.studies import load_study, under
from companion.studies.trainings import Training

PULLS = {"low": 0.6, "high": 0.95}
"""Targets of the mean score, as in the study "steered"."""

WEIGHT = 20.0
"""Of the penalty."""

DRAWS = 4
"""Of noise on the test images, each with the standard deviation of the pixels of the data."""


@dataclass(frozen=True)
class Intervened(Training):
    """A network of :mod:`companion.studies.intervention_networks`, named after its design and a level.

    Attributes:
        way: "trained", on images as they are.
    """

    @property
    def recipe(self) -> Recipe:
        """The same for all levels of a design."""
        return Recipe(epochs=30 if "attention" in self.network else 20, rate=8e-3, seed=self.seed)

    def fit(self, model: nn.Module, images: Tensor, labels: Tensor, after: Callable[[], Any] = int) -> nn.Module:
        """The network trained on these images, in evaluation mode."""
        naming = naming_loss(model, images, labels, lambda some, _: some)
        return optimise(model, len(images), naming, self.recipe, after)

    def measured(self, model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
        """Mean and standard deviation of what enters the GELUs, of all numbers of a layer, as means over layers."""
        found: list[Tensor] = []
        for module in model.modules():
            if isinstance(module, nn.GELU):
                module.register_forward_hook(lambda _, given, __: found.append(torch.stack(torch.std_mean(given[0]))))
        with torch.inference_mode():
            model(images)
        if not found:
            return {}
        std, mean = torch.stack(found).mean(dim=0).tolist()
        return {"gelu_mean": mean, "gelu_std": std}

    def further(self, folder: Path) -> dict[str, Any]:
        """What the table says of it beside its scores."""
        record = json.loads(self.weights(folder).with_suffix(".json").read_text(encoding="utf-8"))
        design, _, level = self.network.rpartition("_")
        return {"design": design, "level": level, "test_accuracy": record["accuracy"], **record["measured"]}


@dataclass(frozen=True)
class Controlled(Training):
    """A training whose scores are pulled, or that is disturbed as strongly without a look at the scores.

    The control is yoked: at each step its gradient gets a further part, in another random direction each time, that is
    as long as the gradient of the penalty was at that step of its twin, which was pulled from the same weights and saw
    the same images.

    Attributes:
        way: "free"; one of :data:`PULLS`, as "low"; or that and "random", as "low-random": the control.
    """

    @property
    def recipe(self) -> Recipe:
        """The same for all ways; with 12 epochs most networks that were disturbed hardly learned."""
        return replace(recipe_of(self.network), epochs=40, batch_size=128, rate=8e-3, seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """What its result depends on, in the types that JSON knows."""
        return {**super().describe(), "pulls": PULLS, "weight": WEIGHT, "draws": DRAWS}

    def fit(self, model: nn.Module, images: Tensor, labels: Tensor, after: Callable[[], Any] = int) -> nn.Module:
        """The network trained on these images, in evaluation mode."""
        pull, _, control = self.way.partition("-")
        if not control:
            model.load_state_dict(_twin(self)[0].state_dict())
            return model.eval()
        naming, sizes = naming_loss(model, images, labels, shifted), iter(self.sizes(pull))
        weights, draw = list(model.parameters()), torch.Generator().manual_seed(self.seed)

        def disturbed(chosen: Tensor, generator: torch.Generator) -> Tensor:
            ways = [torch.randn(one.shape, generator=draw) for one in weights]
            factor = next(sizes) / torch.cat([way.flatten() for way in ways]).norm()
            # a linear term, whose gradient is the direction with the length of the twin's
            extra = torch.stack([(way * one).sum() for way, one in zip(ways, weights, strict=True)]).sum()
            return naming(chosen, generator) + factor * extra

        return optimise(model, len(images), disturbed, self.recipe, after)

    def sizes(self, pull: str) -> tuple[float, ...]:
        """The length of the penalty's gradient at each step of the twin."""
        return _twin(replace(self, way=pull))[1]

    def measured(self, model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
        """The accuracy under noise."""
        draw = torch.Generator().manual_seed(0)
        noisy = [images + torch.randn(images.shape, generator=draw) for _ in range(DRAWS)]
        return {"accuracy_noise": float(np.mean([accuracy(model, one, labels) for one in noisy]))}

    def further(self, folder: Path) -> dict[str, Any]:
        """What the table says of it beside its scores."""
        record = json.loads(self.weights(folder).with_suffix(".json").read_text(encoding="utf-8"))
        about = {"design": self.network, "level": self.way, "test_accuracy": record["accuracy"]}
        return {**about, **record["measured"]}


def pulled(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, target: float | None) -> tuple[float, ...]:
    """Train a network with a penalty on its mean score, or without; the length of its gradient at each step."""
    naming, sizes = naming_loss(model, images, labels, shifted), list[float]()
    if target is None:
        optimise(model, len(images), naming, recipe)
        return ()
    weights = list(model.parameters())
    with AffinityPenalty(model, target, WEIGHT, coupling="fixed") as penalty:

        def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
            task, term = naming(chosen, generator), penalty()
            own = torch.autograd.grad(term, weights, retain_graph=True, allow_unused=True, materialize_grads=True)
            sizes.append(float(torch.cat([one.flatten() for one in own]).norm()))
            return task + term

        optimise(model, len(images), loss_of, recipe)
    return tuple(sizes)


@lru_cache
def _twin(one: Controlled) -> tuple[nn.Module, tuple[float, ...]]:
    """A training without control, and the length of the penalty's gradient at each step."""
    with torch.random.fork_rng():
        model = one.build()
        return model, pulled(model, *one.images(model, "train"), one.recipe, PULLS.get(one.way))


@dataclass(frozen=True)
class Contrast:
    """A comparison that was planned before the networks were trained.

    Attributes:
        study: Its name.
        outcome: A column of :func:`outcomes`.
        level: The level that is compared.
        reference: With which.
        margin: The smallest effect of interest: with the whole interval nearer to 0 both are equivalent.
        seen: The smallest effect that all designs would show in four of five studies, if designs differed by the
            chance of seeds alone: :func:`would_be_seen`, of the pilot.
    """

    study: str
    outcome: str
    level: str
    reference: str
    margin: float
    seen: float


SEEDS = (1, 2)
"""Of each design and level."""

LEVELS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "attention": (
        ("small_attention", "wide_attention", "deep_attention", "small_attention_after", "wide_attention_after"),
        ("softmax", "identity", "uniform"),
    ),
    "shortcut-strength": (
        ("small_shortcuts", "small_shortcuts_norm", "deep_shortcuts", "deep_shortcuts_norm", "wide_shortcuts_norm"),
        ("0", "0.25", "0.5", "1"),
    ),
    "filters": (
        ("narrow_filters", "narrow_filters_norm", "wide_filters_norm", "two_filters", "two_filters_norm"),
        ("3x6", "5x3", "7x2", "3x2"),
    ),
}
"""Designs and levels of each study. Channels are matched, not parameters: a score depends on the dimension."""

PILOT = (101, 102, 103)
"""Seeds of the pilot: of one design of each study."""

PLANNED = (
    Contrast("filters", "score", "3x6", "7x2", 0.02, 0.031),
    Contrast("filters", "score", "3x2", "7x2", 0.02, 0.041),
    Contrast("attention", "score", "identity", "softmax", 0.02, 0.025),
    Contrast("attention", "score", "uniform", "softmax", 0.02, 0.013),
    Contrast("shortcut-strength", "first", "1", "0", 0.02, 0.014),
    Contrast("shortcut-strength", "after-sum", "1", "0", 0.02, 0.018),
    Contrast("shortcut-strength", "score", "1", "0", 0.02, 0.024),
    Contrast("control", "score", "low", "low-random", 0.02, 0.018),
    Contrast("control", "score", "high", "high-random", 0.02, 0.011),
    Contrast("control", "test_accuracy", "low", "low-random", 0.01, 0.017),
    Contrast("control", "test_accuracy", "high", "high-random", 0.01, 0.012),
    Contrast("control", "accuracy_noise", "low", "low-random", 0.02, 0.102),
    Contrast("control", "accuracy_noise", "high", "high-random", 0.02, 0.130),
)
"""All verdicts, each by itself at 5 %. Scores have a margin of 0.02, less than half of what mean scores of trained
networks differ by in chapter 6; accuracy has one point, and two under noise. Where ``seen`` is above the margin, the
designs can hardly show equivalence. ``seen`` is of pilots with one design and 20 epochs, and for "control" of three
(resnet8, vgg8, deep_shortcuts_norm_1) and 40 epochs."""


def outcomes(study: pd.DataFrame) -> pd.DataFrame:
    """What is judged of each training: ``score``, the mean score, and where the table has it, the other outcomes.

    Args:
        study: Under one specification.

    Returns:
        A row for each ``design``, ``level`` and ``seed``, with ``score``, those of the ReLUs that are ``first`` of a
        block and ``after-sum``, ``test_accuracy``, ``accuracy_noise``, ``gelu_mean`` and ``gelu_std``.
    """
    training = ["design", "level", "seed"]
    table = study.groupby(training)["score"].mean().to_frame()
    kinds = study.pivot_table("score", training, "kind").reindex(columns=["first", "after-sum"])
    more = [name for name in ("test_accuracy", "accuracy_noise", "gelu_mean", "gelu_std") if name in study]
    return table.join(kinds).join(study.groupby(training)[more].first()).dropna(axis=1, how="all").reset_index()


def differences(table: pd.DataFrame, contrast: Contrast, by: str = "design") -> pd.Series:
    """Level less reference for each design (seeds averaged), or for each seed.

    >>> table = pd.DataFrame({"design": list("aabb"), "level": ["1", "0"] * 2, "score": [0.9, 0.5, 0.7, 0.6]})
    >>> differences(table, Contrast("", "score", "1", "0", 0.02, 0.0)).round(2).to_dict()
    {'a': 0.4, 'b': 0.1}
    """
    means = table.pivot_table(contrast.outcome, by, "level")
    return means[contrast.level] - means[contrast.reference]


def would_be_seen(deviation: float, designs: int) -> float:
    r"""The smallest effect that a two-sided t test of 5 % finds with a power of about 80 %.

    .. math:: (t_{0.975} + t_{0.8})\, s / \sqrt k \qquad\text{with } k - 1 \text{ degrees of freedom.}

    Args:
        deviation: s, of the difference of one design.
        designs: Their number, k.

    >>> round(would_be_seen(0.02, 6), 3)
    0.028
    """
    return float(np.sum(stats.t.ppf([0.975, 0.8], designs - 1)) * deviation / designs**0.5)


def verdict(table: pd.DataFrame, contrast: Contrast) -> dict[str, Any]:
    """The mean difference over designs with Student's 95 % interval, and what follows.

    Returns:
        ``difference``, ``low``, ``high``, ``p``, and ``verdict``: "effect" where 0 is not in the interval,
        "equivalent" where the whole interval is within the margin (also where 0 is not in it: an effect too small to
        matter), else "undecided".

    >>> table = pd.DataFrame({"design": list("abcabc"), "level": ["1"] * 3 + ["0"] * 3, "seed": 1})
    >>> table["score"] = [0.9, 0.8, 0.7, 0.7, 0.61, 0.49]
    >>> verdict(table, Contrast("", "score", "1", "0", 0.02, 0.0))["verdict"]
    'effect'
    """
    mean = mean_of(differences(table, contrast))
    low, high = mean.interval()
    word = "equivalent" if max(-low, high) < contrast.margin else "undecided" if low <= 0 <= high else "effect"
    return {"difference": mean.value, "low": low, "high": high, "p": mean.chance_of(0.0), "verdict": word}


def holm(p: pd.Series) -> pd.Series:
    """Holm's p-values: where one is below 5 %, that effect stands with all of them judged at once.

    >>> holm(pd.Series([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    ordered = p.sort_values()
    return (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1.0).reindex(p.index)


OUTCOMES = {"first": " (first in a block)", "after-sum": " (after a sum)", "test_accuracy": " (accuracy)"}
OUTCOMES |= {"score": "", "accuracy_noise": " (accuracy under noise)"}

WORDS = {"shortcut-strength": ("shortcuts", "with", "without"), "control": ("penalty", "", "control")}


_STUDIED = [one.study for one in PLANNED]


def _in_words(one: Contrast) -> str:
    part, level, reference = WORDS.get(one.study, (one.study, "", ""))
    return f"{part}: {level or one.level} \N{MINUS SIGN} {reference or one.reference}{OUTCOMES[one.outcome]}"


def judged(*names: str, specification: Specification = DEFAULT) -> pd.DataFrame:
    """The verdicts that were planned of shipped studies, a row for each comparison.

    Args:
        names: Of the studies, in the order of the rows.
        specification: Of the scores; the plan is of the default.

    Returns:
        The columns of :func:`verdict`, ``margin`` and ``seen`` as of :class:`Contrast`, and ``holm``: :func:`holm` over
        all that was planned; by comparison.
    """
    tables = {name: outcomes(under(load_study(name), specification)) for name in dict.fromkeys(_STUDIED)}
    rows = pd.DataFrame([verdict(tables[one.study], one) for one in PLANNED])
    rows = rows.assign(margin=[one.margin for one in PLANNED], seen=[one.seen for one in PLANNED], holm=holm(rows["p"]))
    rows.index = pd.Index(map(_in_words, PLANNED), name="comparison")
    return pd.concat([rows[[study == name for study in _STUDIED]] for name in names]).drop(columns="p")
