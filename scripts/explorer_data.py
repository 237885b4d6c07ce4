"""``stage_book`` writes the numbers of the explorer with it: one script that sets ``AFFSCORE``.

A page loads a script from a folder, too, where it may not fetch a file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from affscore.comparison import distance_matrix
from affscore.network.criteria import CRITERIA
from affscore.network.multiverse import Multiverse
from affscore.network.result import Signature
from affscore.options import DEFAULT, Specification
from affscore.plots.signature import in_words, place_in_words
from affscore.plots.style import kind_style, series_style
from affscore.survey import stored_multiverses, stored_signatures
from companion.networks import network_table, network_title, short_name
from companion.real_networks import FOLDER, real_networks
from companion.regression import CRITERIA_OF_TABLE_1, criterion_correlations, criterion_values
from companion.shipped import MULTIVERSES, RESULTS

GROUPS = {
    "folder:imagenet-sample": "trained on ImageNet",
    "folder:cifar10-test": "trained on CIFAR-10",
    "digits": "mini zoo, on digits",
    "random": "random weights, on noise",
}
"""The parts of the list of networks, by the data of a result."""

WORDS = {
    "mean, activate-first": "average after", "mean, reduce-first": "average before",
    "published, activate-first": "published average after", "published, reduce-first": "published average before",
    "sample, activate-first": "one position", "ledoit-wolf": "shrinkage", "empirical": "empirical covariance",
}  # fmt: skip
"""What the book calls the choices of a specification."""

MOST = 4
"""How many networks the page shows side by side."""

_COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def explorer_data() -> bytes:
    """The script."""
    signatures = {
        name_of(result): result
        for folder in (RESULTS, FOLDER / "results")
        for result in stored_signatures(folder)
        if (result.metadata["reduction"], result.metadata["order"]) == DEFAULT[:2]
    }
    folders = (MULTIVERSES, FOLDER / "multiverses")
    multiverses = {name_of(result): result for folder in folders for result in stored_multiverses(folder)}
    order = sorted(
        signatures, key=lambda name: (list(GROUPS).index(signatures[name].metadata["dataset"]), _natural(name))
    )
    summaries = {name: signatures[name].summary for name in order}
    scores = {name: one["score"].dropna().to_numpy() for name, one in summaries.items()}
    correlations = criterion_correlations(summaries).set_index(["model", "criterion"])["correlation"]
    families = network_table(order)["family"].to_dict() | {
        name: real_networks().set_index("model")["family"][signatures[name].metadata["model"]]
        for name in order
        if _is_real(signatures[name])
    }
    looks = list(dict.fromkeys(pair for one in summaries.values() for pair in _pairs(one)))
    choices = list(
        dict.fromkeys(choice for name in order if name in multiverses for choice in multiverses[name].choices)
    )
    layers = list(dict.fromkeys(layer for one in summaries.values() for layer in one["layer"]))
    data = {
        "most": MOST,
        "groups": [*GROUPS.values()],
        "criteria": [
            {"name": name, "title": one.title.replace("$R^2$", "R²"), "change": one.before_and_after}
            for name, one in ((name, CRITERIA[name]) for name in CRITERIA_OF_TABLE_1)
        ],
        "specifications": [specification_in_words(choice) for choice in choices],
        "default": choices.index(DEFAULT),
        "looks": [_look(*pair) for pair in looks],
        "series": [
            {"colour": style["color"], "path": svg_path(MarkerStyle(style["marker"]))}
            for style in map(series_style, range(MOST))
        ],
        "layers": layers,
        "networks": [
            {
                "name": name,
                "title": title_of(name),
                "family": families[name] if families[name] != name else "other",
                **_network(signatures[name], summaries[name], looks, layers),
                "correlations": _rounded(correlations[name, criterion] for criterion in CRITERIA_OF_TABLE_1),
                "means": _means(multiverses.get(name), choices),
                "accuracy": _accuracy(signatures[name], multiverses.get(name)),
            }
            for name in order
        ],
        "distances": [_rounded(row[: number + 1]) for number, row in enumerate(distance_matrix(scores).to_numpy())],
    }
    return f"window.AFFSCORE = {json.dumps(data, separators=(',', ':'), allow_nan=False)};\n".encode()


def name_of(result: Signature | Multiverse) -> str:
    """What ``shipped_signature`` takes: the factory of a network in a file, and random weights behind an @."""
    model = str(result.metadata["model"])
    file, _, factory = model.rpartition(":")
    name = factory if file.endswith(".py") else model
    return f"{name}@random" if result.metadata["weights"] == "random" else name


def title_of(name: str) -> str:
    """What the page calls a network.

    >>> title_of("mobilenetv1_075"), title_of("mini:vgg16@random")
    ('MobileNetV1 0.75', 'mini VGG-16 (random weights)')
    """
    model, _, weights = name.partition("@")
    real = real_networks()["model"].map(short_name)
    if not weights and model in set(real):
        return str(real.index[real == model][0])
    return ("mini " if ":" in model else "") + network_title(model) + (f" ({weights} weights)" if weights else "")


def specification_in_words(choice: Specification) -> str:
    """Its way to vectors, its covariance and its coupling, as the book calls them.

    >>> specification_in_words(DEFAULT)
    'average after, shrinkage, exact'
    """
    reduction, order, covariance, coupling = choice[:4]
    return f"{WORDS[f'{reduction}, {order}']}, {WORDS[covariance]}, {coupling}"


def svg_path(marker: MarkerStyle) -> str:
    """The outline of a marker that is one wide, as SVG has it."""
    outline = (marker.get_transform() + Affine2D().scale(1, -1)).transform_path(marker.get_path())
    parts = []
    for places, code in outline.iter_segments(curves=True, simplify=False):
        numbers = "" if code == Path.CLOSEPOLY else " ".join(map(_short, places))
        parts.append(_COMMANDS[code] + numbers)
    return "".join(parts)


def _network(
    result: Signature, summary: pd.DataFrame, looks: list[tuple[str, str]], layers: list[str]
) -> dict[str, Any]:
    place = {layer: number for number, layer in enumerate(layers)}
    return {
        "group": list(GROUPS).index(result.metadata["dataset"]),
        "images": result.metadata["n"] * int(result.table["batch"].nunique()),
        "layer": [place[layer] for layer in summary["layer"]],
        "look": [looks.index(pair) for pair in _pairs(summary)],
        "depth": summary["depth"].tolist(),
        "width": summary["width"].tolist(),
        "score": _rounded(summary["score"]),
        "spread": _rounded(summary["score_std"]) if summary["score_std"].notna().any() else [],
        **{str(name): _rounded(values) for name, values in criterion_values(summary).items() if name != "score"},
    }


def _is_real(result: Signature | Multiverse) -> bool:
    """Whether it is of one of the networks that others trained."""
    return result.metadata["model"] in set(real_networks()["model"]) and result.metadata["weights"] != "random"


def _accuracy(*results: Signature | Multiverse | None) -> float | None:
    """In per cent: of a network that others trained the published one, of another what one of the results has."""
    real = next(result for result in results if result is not None)
    if _is_real(real):
        accuracy = real_networks().set_index("model")["accuracy"][real.metadata["model"]]
        return None if pd.isna(accuracy) else float(accuracy)
    found = (result.metadata.get("accuracy") for result in results if result is not None)
    return next((round(100 * accuracy, 1) for accuracy in found if accuracy is not None), None)


def _look(activation: str, kind: str) -> dict[str, str]:
    colour, marker = kind_style(kind)
    words = {"words": in_words(activation, kind), "place": place_in_words(kind)}
    return {**words, "colour": colour, "path": svg_path(MarkerStyle(marker))}


def _means(multiverse: Multiverse | None, choices: list[Specification]) -> list[float | None]:
    """The mean score under each specification, missing where it was not measured."""
    found = {} if multiverse is None else dict(zip(multiverse.choices, multiverse.scores.mean(), strict=True))
    return _rounded(found.get(choice, math.nan) for choice in choices)


def _rounded(numbers: Iterable[float]) -> list[float | None]:
    """Three decimals, and three digits of what is larger than 100; None for NaN."""
    found: list[float | None] = []
    for number in numbers:
        finite = math.isfinite(number)
        found.append(None if not finite else float(f"{number:.3g}") if abs(number) >= 100 else round(float(number), 3))
    return found


def _short(number: float) -> str:
    text = f"{round(number, 3) + 0.0:g}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _natural(name: str) -> list[Any]:
    """For an order in which 9 comes before 10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _pairs(summary: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(summary["activation"], summary["kind"], strict=True))
