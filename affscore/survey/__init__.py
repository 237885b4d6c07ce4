"""Floor 3: many jobs, and their results on disk.

``affscore.survey(...)`` is :func:`affscore.survey.survey`.
"""

import inspect
import sys
from pathlib import Path
from types import ModuleType

from affscore.network.result import Signature
from affscore.network.result import load_signature as read_signature
from affscore.survey.load import load_or_measure, load_or_measure_multiverses
from affscore.survey.report import Report
from affscore.survey.store import Store
from affscore.survey.survey import survey
from affscore.survey.tables import load_results, stored_multiverses, stored_signatures

__all__ = ["Report", "Store", "load_or_measure", "load_or_measure_multiverses", "load_results", "read_signature",
           "stored_multiverses", "stored_signatures", "survey",
           "write_signature"]  # fmt: skip


def write_signature(result: Signature, path: str | Path) -> Path:
    """Write a signature to a Parquet file: :meth:`affscore.Signature.save`."""
    return result.save(path)


class _Survey(ModuleType):
    """The package, which can be called, too."""

    __call__ = staticmethod(survey)


__signature__ = inspect.signature(survey)
sys.modules[__name__].__class__ = _Survey
