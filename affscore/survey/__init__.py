"""Many jobs, and their results on disk.

``affscore.survey(...)`` is :func:`affscore.survey.survey`.
"""

import inspect
import sys
from types import ModuleType

from affscore.survey.store import Store as Store
from affscore.survey.store import load_results as load_results
from affscore.survey.store import stored_multiverses as stored_multiverses
from affscore.survey.store import stored_signatures as stored_signatures
from affscore.survey.survey import Report as Report
from affscore.survey.survey import load_or_measure as load_or_measure
from affscore.survey.survey import survey as survey


class _Survey(ModuleType):
    """The package, which can be called, too."""

    __call__ = staticmethod(survey)


__signature__ = inspect.signature(survey)
sys.modules[__name__].__class__ = _Survey
