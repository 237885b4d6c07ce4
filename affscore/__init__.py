"""Measure how non-linear a neural network is, layer by layer.

The public names are loaded when they are first used, so that ``import affscore`` and the command's
``--help`` do not wait for PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affscore.errors import AffscoreError, AffscoreWarning
    from affscore.experiments.comparison import Comparison, compare
    from affscore.network.result import Signature, load_signature
    from affscore.network.signature import signature
    from affscore.survey.tables import load_results
    from affscore.transport.affinity import AffinityScore, affinity_score
    from affscore.zoo.datasets import load_data
    from affscore.zoo.models import load_model

__version__ = "0.1.0"

__all__ = [
    "AffinityScore",
    "AffscoreError",
    "AffscoreWarning",
    "Comparison",
    "Signature",
    "affinity_score",
    "compare",
    "load_data",
    "load_model",
    "load_results",
    "load_signature",
    "signature",
]

_HOME = {
    "AffinityScore": "affscore.transport.affinity",
    "AffscoreError": "affscore.errors",
    "AffscoreWarning": "affscore.errors",
    "Comparison": "affscore.experiments.comparison",
    "Signature": "affscore.network.result",
    "affinity_score": "affscore.transport.affinity",
    "compare": "affscore.experiments.comparison",
    "load_data": "affscore.zoo.datasets",
    "load_model": "affscore.zoo.models",
    "load_results": "affscore.survey.tables",
    "load_signature": "affscore.network.result",
    "signature": "affscore.network.signature",
}
_SUBPACKAGES = {
    "analysis", "exercises", "experiments", "figures", "network", "papers", "parameters", "published", "survey",
    "transport", "zoo",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f"affscore.{name}")
    raise AttributeError(f"module 'affscore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})
