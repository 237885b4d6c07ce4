"""Trackers (:func:`affscore.track`) for the training loops of others: Lightning's, and that of transformers.

They are loaded when they are first used, since each needs an optional package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.callbacks.of_lightning import LightningTracker as LightningTracker
    from affscore.callbacks.of_transformers import TrainerTracker as TrainerTracker

__getattr__, __dir__, __all__ = lazy_names(__name__)
