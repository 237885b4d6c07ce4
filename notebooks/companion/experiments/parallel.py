"""Many small independent computations, one after the other or on several cores, with or without a bar."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from affscore.errors import AffscoreError


def run_all(
    function: Callable[..., list[dict[str, Any]]], tasks: Sequence[tuple[Any, ...]], n_jobs: int, progress: bool
) -> pd.DataFrame:
    """Call ``function(*task)`` for each task; the rows that the calls return, in the order of the tasks, as a table.

    With several jobs each is a process of its own that computes on one thread: for scores of small clouds
    that is faster than one process with many threads. The results do not depend on the number of jobs.

    Args:
        function: What to call.
        tasks: The arguments of the calls.
        n_jobs: Processes; 1 for none but this one, -1 for one per core.
        progress: Whether to show a bar.

    Raises:
        AffscoreError: A number of jobs that is neither positive nor -1.

    >>> run_all(lambda x: [{"x": x, "square": x**2}], [(2,), (3,)], n_jobs=1, progress=False)["square"].tolist()
    [4, 9]
    """
    if n_jobs != -1 and n_jobs < 1:
        raise AffscoreError(f"n_jobs must be a positive number, or -1 for one process per core, got {n_jobs}")
    options = {"backend": "loky", "inner_max_num_threads": 1} if n_jobs != 1 else {}
    results = Parallel(n_jobs=n_jobs, return_as="generator", **options)(delayed(function)(*task) for task in tasks)
    with warnings.catch_warnings():
        # loky replaces a worker whose memory has grown, loses nothing by it, and warns all the same
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        bar = tqdm(results, total=len(tasks), desc="samples", disable=not progress)
        return pd.DataFrame(list(chain.from_iterable(bar)))
