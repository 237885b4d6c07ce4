"""The checkpoints of a training of slopes: written after each epoch, and taken up by the same training alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from affscore.errors import AffscoreError, guarded, os_errors
from affscore.network.files import atomic_write
from affscore.network.model_state import device_of


def save(
    file: Path, identity: dict[str, Any], rows: list[dict[str, Any]], model: nn.Module, stepping: torch.optim.Optimizer
) -> None:
    """Write a checkpoint, as a whole or not at all.

    Args:
        file: Where.
        identity: What the training depends on, numbers and texts.
        rows: Of the record, one for each epoch that is done.
        model: The network.
        stepping: Its optimiser.

    Raises:
        AffscoreError: It cannot be written.
    """
    plain = [{name: value if name == "epoch" else float(value) for name, value in row.items()} for row in rows]
    held = {"identity": identity, "rows": plain, "model": model.state_dict(), "optimizer": stepping.state_dict()}
    with (
        os_errors(lambda reason: f"the checkpoint {file.name!r} cannot be written ({reason})"),
        atomic_write(file) as part,
    ):
        torch.save(held, part)


def resumed(
    file: Path,
    identity: dict[str, Any],
    epochs: int,
    numbers_of: Callable[[int], dict[str, float]],
    model: nn.Module,
    stepping: torch.optim.Optimizer,
) -> list[dict[str, Any]]:
    """The rows of the epochs that are done, none without the file; network and optimiser become those after them.

    Args:
        file: Where the checkpoint may be.
        identity: As in :func:`save`.
        epochs: How many there are in all.
        numbers_of: What an epoch is to have, as in its row.
        model: The network.
        stepping: Its optimiser.

    Raises:
        AffscoreError: The file is broken, or of another training, or of more epochs. The network is as before then.
    """
    if not file.exists():
        return []
    advice = "move it away to begin anew"
    what = f"the checkpoint {file.name!r} cannot be read"
    held = guarded(lambda: torch.load(file, map_location=device_of(model), weights_only=True), what, advice)
    kinds = {"identity": dict, "rows": list, "model": dict, "optimizer": dict}
    if not isinstance(held, dict) or not all(isinstance(held.get(name), kind) for name, kind in kinds.items()):
        raise AffscoreError(f"{what}: it is no checkpoint of a training of slopes; {advice}")
    other = [name for name, value in identity.items() if held["identity"].get(name) != value]
    if other or len(held["rows"]) > epochs:
        differs = other[0] if other else f"epochs: {len(held['rows'])} are done"
        raise AffscoreError(f"the checkpoint {file.name!r} is of another training ({differs}); {advice}")
    for row in held["rows"]:
        for name, value in numbers_of(row["epoch"]).items():
            if row[name] != value:
                raise AffscoreError(
                    f"the checkpoint {file.name!r} is of another training: {name} was {row[name]} in epoch "
                    f"{row['epoch']}, and is {value}; {advice}"
                )
    if _shapes(held["model"]) != _shapes(model.state_dict()):  # what does not fit would be loaded in part
        raise AffscoreError(f"the checkpoint {file.name!r} is of another network; {advice}")
    model.load_state_dict(held["model"])
    stepping.load_state_dict(held["optimizer"])
    return list(held["rows"])


def _shapes(state: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(one, "shape", None) for name, one in state.items()}
