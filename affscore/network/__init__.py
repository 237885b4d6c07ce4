"""A running network, and the scores of its activations; :func:`affscore.signature` and its like are in ``affscore``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.network.criteria import affine_fit as affine_fit
    from affscore.network.criteria import debiased_cka as debiased_cka
    from affscore.network.criteria import entropy as entropy
    from affscore.network.criteria import linear_cka as linear_cka
    from affscore.network.criteria import norm as norm
    from affscore.network.criteria import r2 as r2
    from affscore.network.notes import Note as Note
    from affscore.network.penalty import resampled as resampled
    from affscore.network.reduction import reduce as reduce
    from affscore.recorder import Recorder as Recorder
    from affscore.recorder import recording as recording
    from affscore.recorder.calls import ActivationCall as ActivationCall

__getattr__, __dir__, __all__ = lazy_names(__name__)
