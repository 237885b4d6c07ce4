"""The book's code, beside the notebooks that use it: it reproduces, where affscore measures.

Its parts are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from companion import analysis as analysis
    from companion import exercises as exercises
    from companion import experiments as experiments
    from companion import figures as figures
    from companion import papers as papers
    from companion import studies as studies

__getattr__, __dir__, __all__ = lazy_names(__name__)
