"""For benchmarks/README.md, by hand: two jobs of a survey at once against one after the other, each on one thread.

    python benchmarks/bench_survey.py                      # two networks on noise, three rounds
    python benchmarks/bench_survey.py --models mini:digitsnet@random,mini:digitsnet --dataset digits --n 64 --images 256

Alternating rounds of the whole survey, each into a new store; one after the other in this process. The processes are
warm: they have been used in a round that is not counted. Writes results/survey.json.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import measuring

from affscore.survey import survey

MODELS = "resnet18@random,squeezenet1_1@random"


def run(models: list[str], dataset: str, n: int, images: int, jobs: int) -> None:
    """One survey, all of whose jobs are measured."""
    with tempfile.TemporaryDirectory() as store:
        report = survey(models, dataset, store, jobs, n=n, images=images, threads=1, device="cpu", progress=False)
        if not report.complete or any(outcome.state != "measured" for _, outcome in report.outcomes):
            raise SystemExit(str(report))


def main() -> None:
    """Measure what the command line asks for, print the ratio, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=MODELS, help="as many as --jobs, of about the same cost")
    parser.add_argument("--dataset", default="random")
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    models = options.models.split(",")
    work = partial(run, models, options.dataset, options.n, options.images)
    times = measuring.alternate(
        {"one_by_one": partial(work, 1), "at_once": partial(work, options.jobs)}, options.rounds
    )
    ratio = times["at_once"]["best"] / times["one_by_one"]["best"]
    row = {**vars(options), "models": models, **times, "ratio": ratio}
    measuring.write("survey", [row])
    print(
        f"{len(models)} jobs one by one {times['one_by_one']['best']:.1f} s (to {times['one_by_one']['largest']:.1f}), "
        f"{options.jobs} at once {times['at_once']['best']:.1f} s (to {times['at_once']['largest']:.1f}): "
        f"ratio {ratio:.3f}"
    )


if __name__ == "__main__":
    main()
