"""Train a small network of the package on the handwritten digits and write its weights and its record.

    python scripts/train_mini_network.py digitsnet

The weights go to affscore/zoo/weights/NAME.safetensors, what they reach to NAME.json beside them. The same
seed on the same versions and number of threads gives the same file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from pathlib import Path

import numpy as np
import sklearn
import torch
import torch.nn.functional as F
from safetensors.torch import save
from torch import Tensor, nn
from tqdm import tqdm

from affscore.zoo.digits import digits
from affscore.zoo.mini import MINI_NETWORKS, seeded

SHIFT = 3
"""The training images are moved by up to this many pixels, so that the network learns shapes."""


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image moved by a random number of pixels in both directions."""
    padded = F.pad(images, [SHIFT] * 4, value=float(images.min()))
    size = images.shape[-1]
    moves = torch.randint(0, 2 * SHIFT + 1, (len(images), 2), generator=generator)
    return torch.stack(
        [
            image[:, top : top + size, left : left + size]
            for image, (top, left) in zip(padded, moves.tolist(), strict=True)
        ]
    )


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Share of the images that the model names rightly."""
    model.eval()
    with torch.inference_mode():
        return float((model(images).argmax(dim=1) == labels).float().mean())


def train(name: str, epochs: int, seed: int, batch_size: int = 64) -> tuple[nn.Module, dict[str, object]]:
    """Train from scratch; returns the network and its record."""
    network = MINI_NETWORKS[name]
    (train_images, train_labels), (test_images, test_labels) = digits("train"), digits("test")
    prepared = torch.stack([network.preprocessing(image) for image in train_images])
    model = seeded(network.build, seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    steps = math.ceil(len(prepared) / batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=epochs * steps)
    start = time.perf_counter()
    for _ in tqdm(range(epochs), desc=f"training {name}", unit="epoch"):
        model.train()
        for chosen in torch.randperm(len(prepared), generator=generator).split(batch_size):
            loss = F.cross_entropy(model(shifted(prepared[chosen], generator)), train_labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    reached = accuracy(model, torch.stack([network.preprocessing(image) for image in test_images]), test_labels)
    record = {
        "name": name,
        "data": f"scikit-learn digits, {len(train_labels)} training and {len(test_labels)} test images",
        "accuracy": round(reached, 4),
        "accuracy_standard_error": round(math.sqrt(reached * (1 - reached) / len(test_labels)), 4),
        "parameters": sum(p.numel() for p in model.parameters()),
        "epochs": epochs,
        "seed": seed,
        "seconds": round(time.perf_counter() - start, 1),
        "threads": torch.get_num_threads(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    return model, record


def main() -> None:
    """Train the network that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", choices=sorted(MINI_NETWORKS))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder to write to (default: that of the package)")
    options = parser.parse_args()
    model, record = train(options.name, options.epochs, options.seed)
    folder: Path = options.out or MINI_NETWORKS[options.name].weights.parent
    folder.mkdir(parents=True, exist_ok=True)
    model.eval()
    weights, record_file = folder / f"{options.name}.safetensors", folder / f"{options.name}.json"
    parts = {file: file.with_name(f".{file.name}.{os.getpid()}.part") for file in (weights, record_file)}
    try:
        parts[weights].write_bytes(save({key: value.contiguous() for key, value in model.state_dict().items()}))
        parts[record_file].write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        for file, part in parts.items():
            part.replace(file)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    print(f"{options.name}: {record['accuracy']:.2%} of the test images")


if __name__ == "__main__":
    main()
