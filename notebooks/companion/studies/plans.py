"""Which networks each study trains and measures, on which data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from companion.networks import study_models
from companion.studies.cifar import CifarTraining
from companion.studies.interventions import LEVELS, Controlled, Intervened
from companion.studies.interventions import SEEDS as TWO
from companion.studies.language import LanguageTraining
from companion.studies.slopes import Slopes
from companion.studies.steered import RECIPES, Steered
from companion.studies.study import Study
from companion.studies.trainings import Training
from companion.studies.ways import REGION_WAYS, WAYS

MATCHED = "examples/matched_networks.py"
REGIONS = "examples/region_networks.py"
INTERVENTIONS = "notebooks/companion/studies/intervention_networks.py"
LANGUAGE = "examples/language_networks.py"
TRANSLATORS = "notebooks/companion/studies/translation_networks.py"

SEEDS = range(1, 10)
"""As many as figure 8 of the paper has."""

DEPTHS = (14, 20, 32, 18, 34)
"""Of the matched networks: three of He et al.'s kind for CIFAR-10, two of their kind for ImageNet."""


ONE_OF_A_KIND = ("digitsnet", "alexnet", "vgg16", "resnet18", "mobilenet_v2", "vit_b_16", "swin_t", "convnext_tiny")
"""Small networks of eight kinds."""

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""Of CIFAR-10."""

ON_CIFAR, ON_IMAGENET = "folder:{images}/cifar10-test", "folder:{images}/imagenet-sample"


def _cifar(*depths: int) -> list[str]:
    """Networks that were trained on CIFAR-10, with and without shortcuts."""
    names = [f"{kind}net{depth}" for depth in depths for kind in ("res", "plain")]
    return [f"examples/cifar_networks.py:{name}@{{weights}}/cifar10/{name}.pt" for name in names]


THREE, FIVE = range(1, 4), range(1, 6)
"""Seeds: of what stands beside the comparison of early and late, and of this."""

TWO_TASKS = ("digits", "sum")
OTHER_TASKS = ("larger", "few", "noise")

SIZES = [f"{MATCHED}:{name}" for name in ("residual8", "residual8_wide")]
"""Of half the depth of residual14; and of twice the width, too."""

CONTROLLED = (
    *(f"{REGIONS}:{name}" for name in ("vgg8", "vgg8_12", "resnet8")),
    *(f"{INTERVENTIONS}:{name}_1" for name in ("small_shortcuts_norm", "deep_shortcuts_norm")),
    *(f"{INTERVENTIONS}:{name}_3x2" for name in ("two_filters_norm", "wide_filters_norm")),
    f"{INTERVENTIONS}:small_attention_softmax",
)
PULLED = ("free", "low", "low-random", "high", "high-random")

EARLY, LATE, NEVER = 0.0, 1.0, None

OMEGAS: dict[tuple[str, float | None], tuple[float, ...]] = {
    ("digits", EARLY): (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    ("larger", EARLY): (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    ("larger", LATE): (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    ("few", EARLY): (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02),
    ("noise", EARLY): (0.002, 0.005, 0.007, 0.01, 0.014, 0.02, 0.05),
    ("noise", LATE): (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1),
    ("sum", EARLY): (0.001, 0.002, 0.003, 0.004, 0.005, 0.007, 0.01),
    ("sum", 0.2): (0.005, 0.02, 0.04, 0.08),
    ("sum", LATE): (0.002, 0.005, 0.01, 0.02, 0.05, 0.07, 0.1),
    ("numbers", EARLY): (0.0001, 0.0003, 0.001, 0.003, 0.01),
}
"""Weights of the penalty for each task and start, from hardly any channel linear to nearly all.

Those of a start that is not here are those of the one before it.
"""

OF_THE_PAPER = (0.0001, 0.0003, 0.001, 0.003, 0.01)
"""The same for the tasks of the paper, whose own are not known."""


def _omegas(task: str, start: float | None) -> tuple[float, ...]:
    """The weights of the penalty for a task and a start."""
    if start is NEVER:
        return (0.0,)
    known = [one for name, one in OMEGAS if name == task and one is not None and one <= start]
    return OMEGAS[task, max(known)] if known else OF_THE_PAPER


def _pulled(
    models: Sequence[str],
    tasks: Sequence[str],
    starts: Sequence[float | None],
    seeds: Iterable[int] = FIVE,
    every: int = 1,
    **more: Any,
) -> list[Slopes]:
    """Trainings of each network on each task, from each seed and start, with every so many-th weight of the penalty."""
    return [
        Slopes(model, task, seed, start, _omegas(task, start)[::every], **more)
        for seed in seeds
        for model in models
        for task in tasks
        for start in starts
    ]


STUDIES = {
    "seeds": Study([Training("mini:vgg16", "supervised", seed, every=19) for seed in SEEDS], criteria=True),
    "untrained": Study([Training("mini:vgg16", "untrained", seed) for seed in SEEDS]),
    "shortcuts": Study(
        [
            Training(f"{MATCHED}:{kind}{depth}", "supervised", seed)
            for depth in DEPTHS
            for seed in range(1, 4)
            for kind in ("residual", "plain")
        ]
    ),
    "batch-size": Study(
        models=[f"mini:{name}" for name in ONE_OF_A_KIND], n=(32, 64, 128, 256, 597), bias="extrapolated"
    ),
    "batch-size-cifar": Study(
        models=_cifar(20, 56), datasets=(ON_CIFAR,), n=(128, 256, 512, 1024), bias="extrapolated", whole=True
    ),
    "batch-size-large-cifar": Study(models=_cifar(20), datasets=(ON_CIFAR,), n=(5000,)),
    "untrained-cifar": Study(
        models=[name.partition("@")[0] for name in _cifar(20, 32, 44, 56)], datasets=(ON_CIFAR,), images=512, norms=512
    ),
    "blocks": Study(models=study_models("mini:"), blocks=(597, 298)),
    "blocks-cifar": Study(models=_cifar(20, 32, 44, 56), datasets=(ON_CIFAR,), blocks=(1000, 500)),
    "other-training": Study(
        # no two have a seed in common: networks of different ways must not begin alike and see the same batches
        [Training("mini:resnet18", way, 3 * number + seed) for number, way in enumerate(WAYS) for seed in (1, 2, 3)],
        criteria=True,
    ),
    "regions": Study(
        [
            Training(f"{REGIONS}:{name}", way, seed)
            for name in ("vgg8", "resnet8")
            for way in REGION_WAYS
            for seed in (1, 2, 3)
        ],
        paths=16,
    ),
    "regions-width": Study(
        [
            Training(f"{REGIONS}:vgg8_{width}", "noise-0.2", seed)
            for width in (1, 2, 3, 4, 6, 8, 12, 16, 24)
            for seed in (1, 2, 3)
        ],
        paths=16,
    ),
    "advantage": Study(
        slopes=[
            *_pulled([f"{MATCHED}:residual14"], [*TWO_TASKS, *OTHER_TASKS], (NEVER, EARLY)),
            *_pulled([f"{MATCHED}:residual14"], [*TWO_TASKS, *OTHER_TASKS], (LATE,), scored=True),
            *_pulled([f"{MATCHED}:residual14"], TWO_TASKS, (0.2, 0.5), THREE),
        ]
    ),
    "advantage-sizes": Study(
        slopes=[
            *_pulled(SIZES, TWO_TASKS, (NEVER, EARLY, LATE), THREE, every=2),
            *_pulled([f"{MATCHED}:plain1_wide"], ["digits"], (NEVER,), THREE),  # it sees three pixels at a time
            *_pulled([f"{MATCHED}:plain{depth}_wide" for depth in (3, 5, 7)], TWO_TASKS, (NEVER,)),
        ]
    ),
    "advantage-criteria": Study(
        slopes=[
            Slopes(f"{MATCHED}:residual14", task, seed, LATE, (0.0, 0.001), criteria=True)
            for seed in FIVE
            for task in TWO_TASKS
        ]
    ),
    "advantage-translation": Study(
        slopes=_pulled([f"{TRANSLATORS}:number_translator"], ["numbers"], (NEVER, EARLY, LATE))
    ),
    "steered": Study(
        [
            Steered(f"{REGIONS}:{network}", f"{task}-{target}", seed)
            for network in ("vgg8", "resnet8")
            for task in RECIPES
            for target in ("free", "low", "high")
            for seed in FIVE
        ],
        paths=8,
    ),
    "steered-targets": Study(
        [
            Steered(f"{REGIONS}:{network}", f"digits-{target}", seed)
            for network in ("vgg8", "resnet8")
            for target in ("paired", "as-vit", "as-resnet")
            for seed in FIVE
        ]
    ),
    **{
        name: Study(
            [
                Intervened(f"{INTERVENTIONS}:{design}_{level}", "trained", seed)
                for design in designs
                for seed in TWO
                for level in levels
            ]
        )
        for name, (designs, levels) in LEVELS.items()
    },
    "control": Study([Controlled(model, way, seed) for model in CONTROLLED for seed in TWO for way in PULLED]),
    "other-data": Study(
        models=study_models("mini:"),
        datasets=("digits", "digits-noisy", "digits-inverted", "digits-shuffled", "random"),
        images=512,
        halves=True,
    ),
    "other-data-cifar": Study(
        models=_cifar(20, 32, 44, 56), datasets=(ON_CIFAR, ON_IMAGENET, "random"), images=512, halves=True
    ),
    "other-data-photographs": Study(
        models=[f"{name}@{{weights}}/{name}.pth" for name in ("mobilenet_v2", "squeezenet1_0", "squeezenet1_1")],
        datasets=(ON_IMAGENET, ON_CIFAR, "random"),
        images=512,
        halves=True,
    ),
    "classes": Study(
        models=[f"mini:{name}" for name in ONE_OF_A_KIND],
        datasets=[f"digits:{digit}" for digit in range(10)],
        n=(58,),  # the fewest that there are of a digit
        images=58,
        subsets="digits",
    ),
    "classes-cifar": Study(
        models=_cifar(20, 56),
        datasets=[f"{ON_CIFAR}/{name}" for name in CLASSES],
        n=(250,),
        images=250,
        subsets=ON_CIFAR,
    ),
    "language": Study(
        [
            LanguageTraining(f"{LANGUAGE}:{network}", way, seed, every=0 if way == "untrained" else 25)
            for network in ("char_gpt", "gated_char_gpt")
            for seed in THREE
            for way in ("untrained", "language")
        ],
        datasets=("docstrings",),
        at=(0, 1, 2, 4, 8, 16, 32, 64, 127),
    ),
    "language-encoder": Study(
        models=["hf:{weights}/all-MiniLM-L6-v2"],
        datasets=("docstrings",),
        images=1024,
        at=(0, 1, 2, 4, 6, -1),
        sentences=64,
    ),
}
"""By the names of their tables (:func:`companion.studies.load_study`)."""

STUDIES_OF_PAPERS = {
    **{
        name: Study(
            [CifarTraining(f"{REGIONS}:{network}", way, seed) for way in REGION_WAYS for seed in (1, 2, 3)],
            datasets=("cifar10",),
            paths=1024,
        )
        for name, network in (("regions-cifar10", "vgg8_cifar10"), ("regions-cifar10-resnet18", "resnet18_cifar10"))
    },
    "regions-cifar100": Study(
        [
            CifarTraining(f"{REGIONS}:vgg8_cifar100", way, seed, dataset="cifar100")
            for way in ("vanilla", "augmented")
            for seed in (1, 2, 3)
        ],
        datasets=("cifar100",),
        paths=1024,
    ),
    **{
        f"advantage-{task}": Study(
            slopes=[
                *_pulled(networks, [task], (NEVER, EARLY), THREE),
                *_pulled(networks, [task], (LATE,), THREE, scored=True),
            ]
        )
        for task in ("cifar10", "cifar100")
        for networks in [[f"examples/cifar_networks.py:resnet{depth}_{task}" for depth in (18, 50)]]
    },
    "advantage-wmt14": Study(
        slopes=_pulled([f"{TRANSLATORS}:transformer_base"], ["wmt14"], (NEVER, EARLY, LATE), THREE)
    ),
}
"""Those of chapters 15 and 16 with the papers' networks and data. Their tables do not come with the package: they take
a GPU.

The first are the poster's. A segment of a path crosses some 7,000 boundaries of VGG8 and 140,000 of ResNet-18 as these
begin, and each takes a forward pass in double precision.

The others are of the tasks and networks that a summary of Mehmeti-Göpel and Disselhoff's paper names. How these were
trained is not known to us: recipes and weights of the penalty are ours (:data:`companion.studies.tasks.TASKS`).
"""
