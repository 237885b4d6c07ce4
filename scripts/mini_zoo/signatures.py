"""The signatures of the mini zoo go into the results that come with the package."""

from __future__ import annotations

from collections.abc import Sequence

from affscore.network.result import load_signature
from affscore.survey import survey
from affscore.survey.job import describe
from affscore.survey.plan import plan
from affscore.survey.shipped import SHIPPED
from affscore.survey.store import Store

__all__ = ["UNTRAINED", "measure", "remove_outdated"]

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
    current = {describe(job).key for job in plan(_models(names), "digits", n=512)}
    for file in Store(SHIPPED).files():
        model = str(load_signature(file).metadata["model"])
        if model.removeprefix("mini:") in names and model.startswith("mini:") and file.stem[-16:] not in current:
            file.unlink()
