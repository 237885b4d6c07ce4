"""The book's code, beside the notebooks that use it: it reproduces, where affscore measures.

Importing it makes the small networks known by name, as ``mini:resnet18``, and the data ``docstrings``. Its other parts
are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import companion.docstrings
import companion.mini_zoo  # noqa: F401
from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from companion import analysis as analysis
    from companion import exercises as exercises
    from companion import experiments as experiments
    from companion import figures as figures
    from companion import mini_zoo as mini_zoo
    from companion import papers as papers
    from companion import studies as studies

__getattr__, __dir__, __all__ = lazy_names(__name__)
