"""The signatures of the mini zoo go into the results that come with the companion, under all specifications, too."""

from __future__ import annotations

from collections.abc import Sequence

from affscore.network.multiverse import REDUCTIONS
from affscore.options import Options
from affscore.survey import survey
from affscore.survey.job import describe, is_of_job, plan
from affscore.survey.store import Store
from companion.papers.networks import CHANNELS_LAST
from companion.shipped import MULTIVERSES, RESULTS

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
    reports = []
    for some, store, several in (
        (models, RESULTS, ()),
        ([model for model in models if not _channels_last(model)], MULTIVERSES, REDUCTIONS),
        ([model for model in models if _channels_last(model)], MULTIVERSES, (*REDUCTIONS, "published")),
    ):
        command = f"affscore survey --models {','.join(some)} --datasets digits --n 512 --jobs {jobs}"
        command += f" --multiverse {','.join(several)}" if several else ""
        if some:
            reports.append(str(survey(some, "digits", store, jobs, multiverse=several, n=512, command=command)))
    return "\n".join(reports)


def _channels_last(model: str) -> bool:
    """Whether the published code averages over other axes."""
    return model.removeprefix("mini:").startswith(CHANNELS_LAST)


def _models(names: Sequence[str]) -> list[str]:
    untrained = UNTRAINED.removeprefix("mini:").removesuffix("@random")
    return [*(f"mini:{name}" for name in names), *([UNTRAINED] if untrained in names else [])]


def remove_outdated(names: Sequence[str]) -> None:
    """Remove the results of networks of these names with other weights than those that are there now."""
    for folder, options in ((RESULTS, Options()), (MULTIVERSES, Options(multiverse=REDUCTIONS))):
        current = [describe(job) for job in plan(_models(names), "digits", options)]
        for file, metadata in Store(folder, create=True).descriptions().items():
            source, _, name = str(metadata["model"]).partition(":")
            if source == "mini" and name in names and not any(is_of_job(metadata, job) for job in current):
                file.unlink()
