"""The signatures of the mini zoo go into the results that come with the package."""

from __future__ import annotations

from collections.abc import Sequence

from affscore.survey import survey
from affscore.survey.job import describe, is_of_job
from affscore.survey.plan import plan
from affscore.survey.shipped import SHIPPED
from affscore.survey.store import Store

UNTRAINED = "mini:vgg16@random"
"""What figure 9 of the paper shows before training, in small."""


def measure(names: Sequence[str], jobs: int) -> str:
    """Measure what is missing: all of the papers' criteria on 512 of the held-out digits; one network untrained, too.

    Args:
        names: Which networks.
        jobs: How many at once.

    Returns:
        What was done.
    """
    models = _models(names)
    command = f"affscore survey --models {','.join(models)} --datasets digits --n 512 --jobs {jobs}"
    return str(survey(models, "digits", SHIPPED, jobs=jobs, n=512, command=command))


def _models(names: Sequence[str]) -> list[str]:
    untrained = UNTRAINED.removeprefix("mini:").removesuffix("@random")
    return [*(f"mini:{name}" for name in names), *([UNTRAINED] if untrained in names else [])]


def remove_outdated(names: Sequence[str]) -> None:
    """Remove the results of networks of these names with other weights than those that are there now."""
    current = [describe(job) for job in plan(_models(names), "digits")]
    for file, metadata in Store(SHIPPED).descriptions().items():
        source, _, name = str(metadata["model"]).partition(":")
        if source == "mini" and name in names and not any(is_of_job(metadata, job) for job in current):
            file.unlink()
