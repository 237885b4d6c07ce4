"""The trained networks of the mini zoo: made, written, and looked at again."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.models.card import parameter_count
from affscore.models.weight_files import load_state_dict
from affscore.network.parquet import atomic_write
from companion.mini_zoo import MINI_NETWORKS
from mini_zoo.distortions import shifted
from mini_zoo.recipes import Recipe
from mini_zoo.training import accuracy, fit, prepared, standard_error

PACKAGES = ("torch", "numpy", "scikit-learn")
"""What the numbers depend on, with Python."""


def layout(model: nn.Module) -> str:
    """A hash of the names and shapes of all weights: another for another architecture.

    >>> layout(nn.Linear(2, 3)) == layout(nn.Linear(2, 3)), layout(nn.Linear(2, 3)) == layout(nn.Linear(3, 3))
    (True, False)
    """
    shapes = sorted((name, list(value.shape)) for name, value in model.state_dict().items())
    return hashlib.sha256(json.dumps(shapes).encode()).hexdigest()[:16]


def is_made(name: str, recipe: Recipe, folder: Path) -> bool:
    """Whether a network's two files are there, made with this recipe for the architecture as it is now."""
    record = folder / f"{name}.json"
    if not (record.is_file() and record.with_suffix(".safetensors").is_file()):
        return False
    written = json.loads(record.read_text(encoding="utf-8"))
    wanted = {"recipe": asdict(recipe), "layout": layout(MINI_NETWORKS[name].build())}
    return {key: written.get(key) for key in wanted} == wanted


def train_member(name: str, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Train a network on the digits, and write its weights and its record.

    Args:
        name: Which network.
        recipe: How.
        folder: Where NAME.safetensors (of 16 bits) and NAME.json are written.

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
    with atomic_write(folder / f"{name}.safetensors") as part:
        part.write_bytes(save(weights))
    with atomic_write(folder / f"{name}.json") as part:  # the last of the two: where it is, both are
        part.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def half(model: nn.Module, name: str) -> dict[str, Tensor]:
    """The weights in 16 bits, without the counters of the batch normalisations, on which nothing depends.

    A variance below 6e-8 becomes 0, which the 1e-5 that is added to it makes good.

    Args:
        model: A trained network.
        name: Its name, for the message.

    Raises:
        AffscoreError: A weight that is no finite number of 16 bits.
    """
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")}
    weights = {key: (value.half() if value.is_floating_point() else value).contiguous() for key, value in state.items()}
    for key, value in weights.items():
        if not bool(value.isfinite().all()):
            largest = float(state[key].abs().max())
            raise AffscoreError(f"{key!r} of {name} must fit into 16 bits, got {largest}; train it with a smaller rate")
    return weights
