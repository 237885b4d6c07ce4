"""The trained networks of the mini zoo: made, written, and looked at again."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from safetensors.torch import save
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from affscore import load_model, signature
from affscore.models.card import parameter_count
from affscore.models.weight_files import load_state_dict
from affscore.network.multiverse import REDUCTIONS
from affscore.network.parquet import atomic_write
from affscore.options import Options
from affscore.survey import survey
from affscore.survey.job import describe, is_of_job, plan
from affscore.survey.store import Store
from companion.characteristics import architecture_of
from companion.mini_zoo import MINI_NETWORKS, MiniNetwork, training_record
from companion.mini_zoo.distorted_digits import shifted
from companion.mini_zoo.training import Recipe, accuracy, fit, half, layout, prepared, standard_error
from companion.networks import CHANNELS_LAST
from companion.printed import printed_table
from companion.shipped import MULTIVERSES, RESULTS

PACKAGES = ("torch", "numpy", "scikit-learn")
"""What the numbers depend on, with Python."""


def is_made(name: str, recipe: Recipe, folder: Path) -> bool:
    """Whether a network's two files are there, made with this recipe for the architecture as it is now."""
    record = folder / f"{name}.json"
    if not (record.is_file() and record.with_suffix(MINI_NETWORKS[name].weights.suffix).is_file()):
        return False
    written = json.loads(record.read_text(encoding="utf-8"))
    wanted = {"recipe": asdict(recipe), "layout": layout(MINI_NETWORKS[name].build())}
    return {key: written.get(key) for key in wanted} == wanted


def train_member(name: str, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train a network on the digits, and write its weights and its record.

    Args:
        name: Which network.
        recipe: How.
        folder: Where NAME.safetensors (of digitsnet NAME.pt; of 16 bits) and NAME.json are written.

    Returns:
        The record; its accuracy is that of the weights as they were written.
    """
    network = MINI_NETWORKS[name]
    start = time.perf_counter()
    (images, labels), (test_images, test_labels) = prepared(network, "train"), prepared(network, "test")
    model = fit(network, images, labels, shifted, recipe)
    weights = half(model, name)
    load_state_dict(model, weights, name)
    reached = accuracy(model, test_images, test_labels)
    record = {
        "name": name,
        "data": f"scikit-learn digits, {len(labels)} training and {len(test_labels)} test images",
        "accuracy": round(reached, 4),
        "accuracy_standard_error": round(standard_error(reached, len(test_labels)), 4),
        "parameters": parameter_count(model),
        "recipe": asdict(recipe),
        "layout": layout(model),
        "seconds": round(time.perf_counter() - start, 1),
        "versions": {"python": platform.python_version()} | {package: version(package) for package in PACKAGES},
    }
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / f"{name}{network.weights.suffix}") as part:
        torch.save(weights, part) if network.weights.suffix == ".pt" else part.write_bytes(save(weights))
    with atomic_write(folder / f"{name}.json") as part:  # the last of the two: where it is, both are
        part.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def zoo_table(names: Iterable[str]) -> pd.DataFrame:
    """A row for each trained network, as :func:`companion.mini_zoo.list_models` shows it."""
    groups = printed_table("study_networks")["figure4_group"]
    return pd.DataFrame([{**zoo_row(MINI_NETWORKS[name]), "group": groups.get(name)} for name in names])


def zoo_row(network: MiniNetwork) -> dict[str, Any]:
    """What the table says of a network: from its record, and from looking at it."""
    record, model = training_record(network), load_model(f"mini:{network.name}")
    about = architecture_of(network.name.replace("digitsnet", "resnet"))
    return {
        "name": network.name,
        "family": about.family,
        "year": about.year,
        "accuracy": round(100 * record["accuracy"], 2),
        "accuracy_standard_error": round(100 * record["accuracy_standard_error"], 2),
        "parameters": record["parameters"],
        "flops": multiply_adds(model, network),
        "depth": depth(model, network),
    }


def multiply_adds(model: nn.Module, network: MiniNetwork) -> int:
    """Multiplications (with their additions) of one image, in convolutions and matrix products."""
    shape = (1, network.preprocessing.channels, network.preprocessing.size, network.preprocessing.size)
    with torch.enable_grad(), FlopCounterMode(display=False) as counter:  # without gradients attention is one call,
        model(torch.zeros(shape))  # which the counter does not know
    return counter.get_total_flops() // 2


def depth(model: nn.Module, network: MiniNetwork) -> int:
    """The largest number of activations on a path through the network."""
    images, _ = prepared(network, "test")
    table = signature(model, images[:4], n=4, images=4, criteria=False, device="cpu", progress=False).table
    return int(table["depth"].max())


def write_table(table: pd.DataFrame, file: Path) -> None:
    """Write a table to a CSV file, as a whole or not at all."""
    with atomic_write(file) as part:
        table.to_csv(part, index=False, float_format="%.6g")


UNTRAINED = "mini:vgg16@random"
"""What figure 9 of the paper shows before training, in small."""


def measure(names: Sequence[str], jobs: int) -> str:
    """Measure what is missing: all of the papers' criteria on 512 of the held-out digits; one network untrained, too.

    Args:
        names: Which networks.
        jobs: How many at once.

    Returns:
        What was done.
    """
    models = _models(names)
    reports = []
    for some, store, several in (
        (models, RESULTS, ()),
        ([model for model in models if not _channels_last(model)], MULTIVERSES, REDUCTIONS),
        ([model for model in models if _channels_last(model)], MULTIVERSES, (*REDUCTIONS, "published")),
    ):
        command = f"affscore survey --models {','.join(some)} --datasets digits --n 512 --jobs {jobs}"
        command += f" --multiverse {','.join(several)}" if several else ""
        if some:
            reports.append(str(survey(some, "digits", store, jobs, multiverse=several, n=512, command=command)))
    return "\n".join(reports)


def _channels_last(model: str) -> bool:
    """Whether the published code averages over other axes."""
    return model.removeprefix("mini:").startswith(CHANNELS_LAST)


def _models(names: Sequence[str]) -> list[str]:
    untrained = UNTRAINED.removeprefix("mini:").removesuffix("@random")
    return [*(f"mini:{name}" for name in names), *([UNTRAINED] if untrained in names else [])]


def remove_outdated(names: Sequence[str]) -> None:
    """Remove the results of networks of these names with other weights than those that are there now."""
    for folder, options in ((RESULTS, Options()), (MULTIVERSES, Options(multiverse=REDUCTIONS))):
        current = [describe(job) for job in plan(_models(names), "digits", options)]
        for file, metadata in Store(folder, create=True).descriptions().items():
            source, _, name = str(metadata["model"]).partition(":")
            if source == "mini" and name in names and not any(is_of_job(metadata, job) for job in current):
                file.unlink()
