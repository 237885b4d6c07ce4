"""The book's code, beside the notebooks that use it: it reproduces, where affscore measures.

Importing it makes small networks known by name, as ``mini:resnet18``, and data, as ``docstrings``.
"""

import companion.changed_digits
import companion.docstrings
import companion.exercises
import companion.mini_zoo  # noqa: F401
