"""Make the studies of the appendices: train what is not trained, measure it, and write a table each.

    python -m companion.studies
    python -m companion.studies --only seeds,shortcuts --jobs 2
    python -m companion.studies --only classes-cifar --weights path/to/weights --images path/to/images
    python -m companion.studies --only regions-cifar10,advantage-cifar100 --out STORE/studies

1. The networks of a study are trained on the digits (_build/studies/weights), unless that was done in the same way.
2. They are measured under every specification (_build/studies/results, a store), unless that was done.
   Networks whose slopes are pulled to 1 are trained and measured at once (_build/studies/slopes).
3. The table of the study is written (notebooks/companion/data/studies), with what it depends on in its metadata.

A study whose table is there, made of the same trainings and measurements, is left alone, and so is one of networks
and images that are not the package's, unless their folders are given. Each training uses one processor. Trainings and
measurements that were finished are kept.

The networks of the papers on linear regions (regions-cifar10, regions-cifar10-resnet18, regions-cifar100) and on slopes
(advantage-cifar10, advantage-cifar100, advantage-wmt14) are trained only where their studies are named: that takes a
GPU, and days. The recipes of the latter are ours, since the paper's are not known. CIFAR is read from $AFFSCORE_DATA
(~/.cache/affscore), or downloaded; WMT14 from the folder $AFFSCORE_WMT14: train.en, train.de, test.en and test.de, with
a sentence a line (pip install "affscore[transformers]" for its tokens).
The tables are a reader's own: in the folder ``studies`` of a store, ``python -m companion.ledger --results STORE``
finds them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from affscore import AffscoreError
from affscore.network.parquet import read_description, write_parquet
from affscore.network.signature import provenance
from companion.studies import STUDIES as SHIPPED
from companion.studies.measuring import along, by_position, course, measure, of_slopes
from companion.studies.plans import STUDIES, STUDIES_OF_PAPERS, Study

CHOSEN = ["start", "omega", "keep"]
"""Columns that were not measured: they are as they were chosen."""


WORK = Path(__file__).parents[3] / "_build" / "studies"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.studies", description=__doc__.splitlines()[0] if __doc__ else None
    )
    others = ", ".join(STUDIES_OF_PAPERS)
    listed = f"names with commas between them (default: all of the package): {', '.join(STUDIES)}; or {others}"
    parser.add_argument("--only", help=f"{listed} (with the papers' networks: their data, a GPU, --out)")
    parser.add_argument("--jobs", type=int, default=2, help="trainings or measurements at once (default: 2)")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of all else (default: _build/studies)")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder of the tables (default: the package's)")
    parser.add_argument("--weights", type=Path, help="folder of the weights of networks that are not the package's")
    parser.add_argument("--images", type=Path, help="folder of the folders of images")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(STUDIES)
    if unknown := sorted(set(names) - set(known())):
        parser.error(f"no study is called {', '.join(unknown)}; there are {', '.join(known())}")
    if options.out.resolve() == SHIPPED.resolve() and (own := sorted(set(names) & set(STUDIES_OF_PAPERS))):
        parser.error(f"{', '.join(own)}: the table does not come with the package; give a folder, --out STORE/studies")
    missing = {name: known()[name] for name in names if not is_made(name, options.out)}
    places = {name: str(place) for name in ("weights", "images") if (place := getattr(options, name)) is not None}
    for name in [name for name, study in missing.items() if study.needs - set(places)]:
        print(f"{name}: left alone; it takes --weights DIR and --images DIR", file=sys.stderr)
        del missing[name]
    train(missing, options.work / "weights", options.jobs)
    for name, study in missing.items():
        tables = {f"{name}-course": course(study, options.work / "weights")} if study.course else {}
        if study.paths:
            tables[f"{name}-paths"] = along(study, options.work, options.jobs)
        if study.at:
            tables[f"{name}-positions"] = by_position(study.at_places(places), options.work, options.jobs)
        # the last has the name of the study: where it is, all are
        tables |= of_slopes(name, study, options.work, options.jobs) if study.slopes else {}
        tables |= {} if study.slopes else {name: measure(study.at_places(places), options.work, options.jobs)}
        command = " ".join(
            ["python -m companion.studies --only", name, *(f"--{place} DIR" for place in sorted(study.needs))]
        )
        about = {"study": name, "job": describe(study), "command": command, **provenance()}
        options.out.mkdir(parents=True, exist_ok=True)
        for stem, table in tables.items():
            short = table.round({"score": 5, "score_std": 5})  # the choice of images moves scores by more than 0.001
            short = short.astype(dict.fromkeys(short.select_dtypes("float64").columns.difference(CHOSEN), "float32"))
            write_parquet(short, about, [], options.out / f"{stem}.parquet")
            print(f"{stem}: {len(short)} rows")


def known() -> dict[str, Study]:
    """All studies by name."""
    return {**STUDIES, **STUDIES_OF_PAPERS}


def describe(study: Study) -> dict[str, Any]:
    """What its table depends on, in the types that JSON knows."""
    trainings = [training.describe() for training in study.trainings]
    if study.slopes:
        return {"slopes": [one.describe() for one in study.slopes]}
    return {
        "trainings": trainings, "models": list(study.models), "datasets": list(study.datasets), "n": list(study.n),
        "criteria": study.criteria, **study.sample, **study.corrections,
    }  # fmt: skip


def is_made(name: str, folder: Path) -> bool:
    """Whether the table of a study is there, made as it would be made now."""
    return read_description(folder / f"{name}.parquet").get("job") == describe(known()[name])


def train(studies: dict[str, Study], folder: Path, jobs: int) -> None:
    """Train the networks that are not trained."""
    trainings = dict.fromkeys(training for study in studies.values() for training in study.trainings)
    missing = [training for training in trainings if not training.is_done(folder)]
    tasks = [delayed(training.run)(folder) for training in missing]
    records = Parallel(n_jobs=jobs, return_as="generator_unordered", inner_max_num_threads=1, backend="loky")(tasks)
    for record in tqdm(records, total=len(tasks), desc="training", unit="training"):
        tqdm.write(f"{record['name']}: {record['accuracy']:.2%} in {record['seconds']:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except AffscoreError as error:
        sys.exit(f"error: {error}")
