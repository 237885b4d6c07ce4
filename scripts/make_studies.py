"""Make the studies of the appendices: train what is not trained, measure it, and write a table each.

    python scripts/make_studies.py
    python scripts/make_studies.py --only seeds,shortcuts --jobs 2
    python scripts/make_studies.py --only classes-cifar --weights path/to/weights --images path/to/images
    python scripts/make_studies.py --only regions-cifar10,advantage-cifar100 --out STORE/studies

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
import itertools
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from joblib import Parallel, delayed
from studies.norms import with_statistics
from studies.paths import follow
from studies.plans import STUDIES, STUDIES_OF_PAPERS, Study
from studies.sentences import at_positions, of_sentences
from tqdm import tqdm

from affscore import AffscoreError, Signature, load_record
from affscore.network.batch import subject_of
from affscore.network.multiverse import REDUCTIONS
from affscore.network.parquet import read_description, write_parquet
from affscore.network.signature import provenance, signatures
from affscore.options import DEFAULT, MOST_IN_A_BATCH, Execution, Options, ReductionName, Specification
from affscore.survey import load_or_measure, load_or_measure_multiverses
from affscore.transport.covariance import CovarianceName
from companion.studies import STUDIES as SHIPPED
from companion.studies import study_of

COVARIANCES = get_args(CovarianceName)
COURSE = ["step", "index", "layer", "activation", "kind", "depth", "score", "accuracy"]
"""The columns of a record that a study keeps."""

CHOSEN = ["start", "omega", "keep"]
"""Columns that were not measured: they are as they were chosen."""

WAYS_TO_A_POINT = ({"order": "activate-first"}, {"order": "reduce-first"}, {"reduction": "sample"})

WORK = Path(__file__).parents[1] / "_build" / "studies"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
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
        command = " ".join(["make_studies.py --only", name, *(f"--{place} DIR" for place in sorted(study.needs))])
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


def measure(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The table of a study, whose networks are trained."""
    if study.blocks:
        return of_blocks(study, jobs)
    trained = {f"{one.model}@{one.weights(work / 'weights')}": one for one in study.trainings}
    models, store, tables = [*trained, *study.models], work / "results", []
    if study.sentences:
        (n,) = study.n
        return of_sentences(models, n, study.images or n, study.sentences)
    if study.norms:
        models += [with_statistics(model, study.datasets[0], study.norms, work / "norms") for model in models]
    together = [models] if jobs > 1 else [[model] for model in models]  # one alone needs no further process
    for (dataset, n, seed), some in itertools.product(study.measurements, together):
        options: dict[str, Any] = {"jobs": jobs, "threads": 1, "n": n, "progress": False}
        options |= {"images": study.images, "seed": seed}
        ways: dict[str, Any] = {"reductions": REDUCTIONS, "bias": study.bias}
        multiverses = load_or_measure_multiverses(some, dataset, store, **ways, **options)
        tables.append(study_of(multiverses.values()))
        if study.criteria:
            signatures = load_or_measure(some, dataset, store, **options)
            tables[-1] = with_criteria(tables[-1], study_of(signatures.values()))
        if study.subsets:
            tables[-1]["draw"] = seed
    for dataset, way in itertools.product(study.datasets if study.whole else (), WAYS_TO_A_POINT):
        tables.append(whole(models, dataset, jobs, **way))
    about = pd.DataFrame(
        [
            {"weights": one.weights(work).name, "network": one.network, "way": one.way, "seed": one.seed}
            | one.further(work / "weights")
            for one in trained.values()
        ]
    )
    table = pd.concat(tables, ignore_index=True)
    return table.merge(about, on="weights", how="left", validate="m:1") if trained else table


def of_blocks(study: Study, jobs: int) -> pd.DataFrame:
    """The blocks of networks that have their weights, all images as one batch."""
    tables = []
    reductions: tuple[ReductionName, ...] = ("mean", "sample")
    for images, reduction in itertools.product(study.blocks, reductions):
        options = Options(n=images, images=images, reduction=reduction, units="blocks", criteria=("affine_fit",))
        found = under_the_pairing(study.models, study.datasets[0], options, jobs)
        tables.append(study_of(found).assign(n=images, flag=flags_of(found)))
    return pd.concat(tables, ignore_index=True)


def flags_of(signatures: Iterable[Signature]) -> list[str]:
    """The flag of each row of their study."""
    return [flag for one in signatures for flag in one.summary["flag"]]


def course(study: Study, folder: Path) -> pd.DataFrame:
    """What was measured of the networks while they trained: a row for each step and activation."""
    tables = []
    for one in study.trainings:
        if one.every:
            record = load_record(one.course(folder))
            words = {name: record.metadata.get(name, getattr(DEFAULT, name)) for name in Specification._fields}
            about = {"model": one.model, "network": one.network, "way": one.way, "seed": one.seed, **words}
            tables.append(record.table[COURSE].assign(**about))
            if losses := one.losses(folder):
                tables[-1]["bits"] = tables[-1]["step"].map(losses)
    return pd.concat(tables, ignore_index=True)


def along(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The linear regions of its networks along closed paths around images: a row for each segment."""
    folder = work / "paths"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [delayed(follow)(training, study.paths, work) for training in study.trainings]
    tables = Parallel(n_jobs=jobs, return_as="generator", inner_max_num_threads=1, backend="loky")(tasks)
    return pd.concat(tqdm(tables, total=len(tasks), desc="paths", unit="network"), ignore_index=True)


def of_slopes(name: str, study: Study, work: Path, jobs: int) -> dict[str, pd.DataFrame]:
    """What became of activations whose slopes were pulled to 1, and the scores that they had before, by table."""
    tasks = [delayed(one.run)(work) for one in study.slopes]
    tables = Parallel(n_jobs=jobs, return_as="generator", inner_max_num_threads=1, backend="loky")(tasks)
    found: pd.DataFrame = pd.concat(tqdm(tables, total=len(tasks), desc=name, unit="training"), ignore_index=True)
    scores = [pd.read_parquet(one.scores(work / "slopes")) for one in study.slopes if one.scored]
    return ({f"{name}-scores": pd.concat(scores, ignore_index=True)} if scores else {}) | {name: found}


def by_position(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The scores of its networks at single positions: a row for each position, activation and covariance."""
    found: list[tuple[str, dict[str, Any]]] = [(model, {}) for model in study.models]
    for one in study.trainings:
        about = {"network": one.network, "way": one.way, "seed": one.seed}
        found.append((f"{one.model}@{one.weights(work / 'weights')}", about))
    (data,), (n,) = study.datasets, study.n
    folder = work / "positions"
    tasks = [
        delayed(at_positions)(folder, model, data, study.at, n, study.sentences, **about) for model, about in found
    ]
    tables = Parallel(n_jobs=jobs, return_as="generator", inner_max_num_threads=1, backend="loky")(tasks)
    return pd.concat(tqdm(tables, total=len(tasks), desc="positions", unit="network"), ignore_index=True)


def whole(models: Sequence[str], dataset: str, jobs: int, **way: Any) -> pd.DataFrame:
    """All images as one batch, under both covariances and the pairing."""
    several = [Options(n=MOST_IN_A_BATCH, covariance=one, criteria=(), **way) for one in COVARIANCES]
    table = study_of(one for options in several for one in under_the_pairing(models, dataset, options, jobs))
    return table.assign(n=table["images"])


def under_the_pairing(models: Sequence[str], dataset: str, options: Options, jobs: int) -> list[Signature]:
    """Signatures under the pairing alone, which solve no assignment problem, whatever n is; not kept in the store."""
    tasks = [delayed(paired)(model, dataset, replace(options, coupling="paired")) for model in models]
    return list(Parallel(n_jobs=jobs, inner_max_num_threads=1, backend="loky")(tasks))


def paired(model: str, dataset: str, options: Options) -> Signature:
    """The signature with these options."""
    return signatures(subject_of(model, dataset, options, Execution(progress=False)))[0]


def with_criteria(study: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """The study with the criteria of the same samples: they depend on neither covariance nor coupling."""
    criteria = [name for name in measured if name not in study]
    shared = [*study.columns[: list(study).index("order") + 1].drop("accuracy")]
    return study.merge(measured[[*shared, *criteria]], on=shared, how="left", validate="m:1")


if __name__ == "__main__":
    try:
        main()
    except AffscoreError as error:
        sys.exit(f"error: {error}")
