"""Make the mini zoo: train what is not trained, and write its tables.

    python -m companion.mini_zoo
    python -m companion.mini_zoo --only resnet18 --out FOLDER     # one of them, anew: the first step alone

1. Each network is trained on the digits, unless its files are in notebooks/companion/data/mini_zoo/weights, made with
   the same recipe for the same architecture.
2. notebooks/companion/data/mini_zoo/zoo.csv says what each of them reaches and how large it is.
3. The signature of each network is measured (notebooks/companion/data/results), unless that was done.
4. Each network is trained five times on the hard task (its table is in notebooks/companion/data/mini_zoo/hard_task),
   unless that was done.

Each training uses one processor. What is finished is kept: the networks of step 1, and the tables of steps 3 and 4.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from affscore.network.parquet import write_parquet
from affscore.survey.job import key_of
from affscore.survey.store import Store
from companion.mini_zoo import MINI_NETWORKS, WEIGHTS
from companion.mini_zoo.distorted_digits import SEEDS, describe, run
from companion.mini_zoo.members import is_made, measure, remove_outdated, train_member, write_table, zoo_table
from companion.mini_zoo.training import Recipe, recipe_of


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m companion.mini_zoo", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of trainings at once (default: 2)")
    parser.add_argument("--only", help="names with commas between them (default: all networks)")
    parser.add_argument("--no-hard-task", action="store_true", help="leave out the hard task")
    parser.add_argument("--out", type=Path, help="only train, and write the weights and records to this folder")
    parser.add_argument("--epochs", type=int, help="with --out: not the number of the recipe")
    parser.add_argument("--seed", type=int, help="with --out: not that of the recipe")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(MINI_NETWORKS)
    if unknown := sorted(set(names) - set(MINI_NETWORKS)):
        parser.error(f"no small network is called {', '.join(unknown)}; there are {', '.join(MINI_NETWORKS)}")
    changes = {name: value for name in ("epochs", "seed") if (value := getattr(options, name)) is not None}
    if changes and not options.out:
        parser.error("other networks than those of the package need a folder of their own: --out")
    train_all({name: replace(recipe_of(name), **changes) for name in names}, options.out, options.jobs)
    if options.out:
        return
    made = [name for name in MINI_NETWORKS if is_made(name, recipe_of(name), folder_of(name))]
    write_table(zoo_table(made), WEIGHTS.parent / "zoo.csv")
    remove_outdated(names)
    print(measure(names, options.jobs))
    if not options.no_hard_task:
        hard_task_of_all(names, WEIGHTS.parent / "hard_task", options.jobs)


def folder_of(name: str) -> Path:
    """Where the files of a network belong: affscore's own, or the companion's."""
    return MINI_NETWORKS[name].weights.parent


def train_all(recipes: Mapping[str, Recipe], folder: Path | None, jobs: int) -> None:
    """Train the networks whose files, made with these recipes, are not in the folder, or not where they belong."""
    places = {name: folder or folder_of(name) for name in recipes}
    missing = {name: recipe for name, recipe in recipes.items() if not is_made(name, recipe, places[name])}
    tasks = [delayed(train_member)(name, recipe, places[name]) for name, recipe in missing.items()]
    _each(tasks, jobs, "training", lambda record: f"{record['name']}: {record['accuracy']:.2%}")


def hard_task_of_all(names: Sequence[str], folder: Path, jobs: int) -> None:
    """The last step, into a store: a table for each network, of its five trainings.

    Args:
        names: Which networks.
        folder: The store.
        jobs: Number of trainings at once.
    """
    about = {name: describe(name) for name in names}
    there = Store(folder, create=True).descriptions()
    done = [metadata["name"] for metadata in there.values() if metadata["job"] == about.get(metadata["name"])]
    missing = [name for name in names if name not in done]

    def keep(rows: list[dict[str, Any]]) -> str:
        name = rows[0]["name"]
        metadata = {"name": name, "job": about[name], "key": key_of(about[name])}
        write_parquet(pd.DataFrame(rows), metadata, [], folder / f"{name}-{metadata['key']}.parquet")
        return f"{name}: {', '.join(format(row['accuracy'], '.1f') for row in rows)} %"

    _each([delayed(_all_seeds)(name) for name in missing], jobs, "hard task", keep)
    for path, metadata in there.items():
        if metadata["name"] in missing:  # of another recipe or architecture
            path.unlink()


def _all_seeds(name: str) -> list[dict[str, Any]]:
    return [run(name, seed) for seed in SEEDS]


def _each(tasks: Sequence[Any], jobs: int, title: str, after: Callable[[Any], str]) -> None:
    """Do the tasks in several processes, and tell of each that has ended."""
    results = Parallel(n_jobs=jobs, return_as="generator_unordered", inner_max_num_threads=1, backend="loky")(tasks)
    for result in tqdm(results, total=len(tasks), desc=title, unit="training"):
        tqdm.write(after(result), file=sys.stderr)


if __name__ == "__main__":
    main()
