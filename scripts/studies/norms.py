"""Untrained networks whose batch norms do what they do while a network trains."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from affscore import load_data, load_model
from affscore.models import card_of


def with_statistics(model: str, dataset: str, images: int, folder: Path) -> str:
    """The same network with the means and variances of some images in its batch norms, as MODEL@FILE.

    Those of an untrained network are 0 and 1, so in evaluation mode its batch norms do nothing.
    """
    network = load_model(model, 0)
    file = folder / f"{model.rpartition(':')[2]}-norms.pt"
    if not file.is_file():
        data = load_data(dataset, card_of(network).preprocessing)
        chosen = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:images]
        found = [data[int(place)] for place in chosen]
        batch = torch.stack([one[0] if isinstance(one, tuple) else one for one in found])
        for module in network.modules():
            if isinstance(module, _BatchNorm):
                module.momentum = None  # the plain mean over batches, of which there is one
        with torch.no_grad():
            network.train()(batch)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(network.state_dict(), file)
    return f"{model}@{file}"
