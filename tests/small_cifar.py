"""CIFAR-10 and CIFAR-100 as files of a few flat pictures."""

import hashlib
import pickle

import numpy as np


def ramps(count, seed):
    """Flat pictures with a slight slope, each of its own, so that a path around one crosses few boundaries."""
    random = np.random.default_rng(seed)
    slopes, levels = random.uniform(-0.2, 0.2, (2, count, 3, 1, 1)), random.uniform(60, 200, (count, 3, 1, 1))
    places = np.arange(32)
    return (levels + slopes[0] * places[:, None] + slopes[1] * places).clip(0, 255).astype(np.uint8)


def write_small_cifar(home, monkeypatch):
    """Both data sets in torchvision's layout, with 20 images in each file of the training part, and 32 of the test."""
    import torchvision  # takes seconds, which most tests need not wait for

    monkeypatch.setenv("AFFSCORE_DATA", str(home))
    for made, key, classes in (
        (torchvision.datasets.CIFAR10, "labels", 10),
        (torchvision.datasets.CIFAR100, "fine_labels", 100),
    ):
        folder = home / made.base_folder
        folder.mkdir(parents=True)
        names = {made.meta["key"]: [f"class {number}" for number in range(classes)]}
        files = {made.meta["filename"]: names}
        for number, (file, _) in enumerate([*made.train_list, *made.test_list]):
            count = 32 if [file] == [name for name, _ in made.test_list] else 20
            labels = np.random.default_rng(number).integers(0, classes, count).tolist()
            files[file] = {"data": ramps(count, number).reshape(count, -1), key: labels}
        sums = {}
        for name, content in files.items():
            (folder / name).write_bytes(written := pickle.dumps(content))
            sums[name] = hashlib.md5(written, usedforsecurity=False).hexdigest()
        for part in ("train_list", "test_list"):
            monkeypatch.setattr(made, part, [[name, sums[name]] for name, _ in getattr(made, part)])
        monkeypatch.setattr(made, "meta", {**made.meta, "md5": sums[made.meta["filename"]]})
