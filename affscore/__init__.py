"""Measure how non-linear a neural network is, layer by layer.

The public names are loaded when they are first used, so that ``import affscore`` and the command's
``--help`` do not wait for PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore import callbacks as callbacks
    from affscore import comparison as comparison
    from affscore import linear_regions as linear_regions
    from affscore import models as models
    from affscore import network as network
    from affscore import nonlinear_advantage as nonlinear_advantage
    from affscore import plots as plots
    from affscore import published as published
    from affscore import survey as survey
    from affscore import transport as transport
    from affscore.comparison.compare import Comparison as Comparison
    from affscore.comparison.compare import compare as compare
    from affscore.errors import AffscoreError as AffscoreError
    from affscore.errors import AffscoreWarning as AffscoreWarning
    from affscore.models.data import load_data as load_data
    from affscore.models.sources import load_model as load_model
    from affscore.network.multiverse import Multiverse as Multiverse
    from affscore.network.multiverse import load_multiverse as load_multiverse
    from affscore.network.multiverse import multiverse as multiverse
    from affscore.network.penalty import AffinityPenalty as AffinityPenalty
    from affscore.network.record import TrainingRecord as TrainingRecord
    from affscore.network.record import load_record as load_record
    from affscore.network.result import Signature as Signature
    from affscore.network.result import load_signature as load_signature
    from affscore.network.signature import signature as signature
    from affscore.network.tracker import Tracker as Tracker
    from affscore.network.tracker import track as track
    from affscore.nonlinear_advantage.linearize import Linearized as Linearized
    from affscore.nonlinear_advantage.linearize import linearize as linearize
    from affscore.survey.store import load_results as load_results
    from affscore.transport.affinity import AffinityScore as AffinityScore
    from affscore.transport.affinity import affinity_score as affinity_score

__version__ = "1.0.0"

__getattr__, __dir__, __all__ = lazy_names(__name__)
