"""The two tables of the mini zoo that come with the package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from affscore import load_model, signature
from affscore.network.parquet import atomic_write
from companion.mini_zoo import MINI_NETWORKS, MiniNetwork
from companion.papers import printed_table
from mini_zoo.training import prepared


def zoo_table(names: Iterable[str]) -> pd.DataFrame:
    """A row for each trained network, as :func:`companion.mini_zoo.list_models` shows it."""
    groups = printed_table("study_networks")["figure4_group"]
    return pd.DataFrame([{**zoo_row(MINI_NETWORKS[name]), "group": groups.get(name)} for name in names])


def zoo_row(network: MiniNetwork) -> dict[str, Any]:
    """What the table says of a network: from its record, and from looking at it."""
    record, model = network.training_record(), load_model(f"mini:{network.name}")
    return {
        "name": network.name,
        "family": network.architecture.family,
        "year": network.architecture.year,
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
