"""``make try-wheel``: use an installed affscore as its readers do, in an empty folder, without the repository.

Nothing here comes from the network or from the folder of the project: what the wheel lacks makes it fail.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

import affscore
from affscore.nonlinear_advantage import average_path_length, to_prelu
from affscore.survey import survey


def main() -> None:
    """Run everything once."""
    installed = Path(affscore.__file__).resolve()
    if not installed.is_relative_to(Path(sysconfig.get_paths()["purelib"]).resolve()):
        raise SystemExit(
            f"error: {installed.parent} is no installed package: run this with the environment's own python"
        )
    with TemporaryDirectory() as folder:
        steps = (score, networks, results, command)
        for step in steps:
            print(f"{step.__name__}: {step(Path(folder))}")
    print(f"affscore {version('affscore')} works with Python {sys.version.split()[0]} and torch {torch.__version__}")


def score(_: Path) -> str:
    """ReLU of standard normal numbers in high dimension has the score of figure 7."""
    x = np.random.default_rng(0).standard_normal((1000, 300))
    found = float(affscore.affinity_score(x, np.maximum(x, 0)))
    assert abs(found - 0.621) < 0.02, found
    return f"{found:.3f}"


def networks(folder: Path) -> str:
    """A network that the package ships, on data that it ships; a file of the signature; a figure; a comparison."""
    signature = affscore.signature("mini:digitsnet", "digits", n=128, images=128, progress=False)
    assert affscore.load_signature(signature.save(folder / "one.parquet")) == signature
    signature.plot().savefig(folder / "one.png")
    both = affscore.compare("mini:digitsnet", "mini:digitsnet@random", data="digits", n=128, images=128, progress=False)
    length = average_path_length(to_prelu(affscore.load_model("mini:digitsnet")))
    return f"{len(signature)} activations, {both.differences()['more non-linear'][0]}, path length {length:.2f}"


def results(folder: Path) -> str:
    """A folder of results, and its table."""
    survey("mini:digitsnet", "digits", folder / "results", n=64, images=64, progress=False)
    return f"{len(affscore.load_results(folder / 'results'))} rows"


def command(folder: Path) -> str:
    """The command, as it is installed."""
    words = "signature mini:digitsnet --dataset digits --n 64 --images 64 --out two.parquet".split()
    name = Path(sys.executable).with_name("affscore")
    subprocess.run([name, *words], cwd=folder, check=True, capture_output=True)
    return f"{len(affscore.load_signature(folder / 'two.parquet'))} activations"


if __name__ == "__main__":
    main()
