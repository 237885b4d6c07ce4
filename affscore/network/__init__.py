"""Floor 2: a running network, and the scores of its activations."""

from affscore.network.criteria import debiased_cka, entropy, linear_cka, norm, r2
from affscore.network.nonlinearity_coefficient import nonlinearity_coefficient
from affscore.network.recorder import Recorder, recording
from affscore.network.recorder.calls import ActivationCall
from affscore.network.reduction import reduce
from affscore.network.result import Signature, load_signature
from affscore.network.signature import signature

__all__ = [
    "ActivationCall",
    "Recorder",
    "Signature",
    "debiased_cka",
    "entropy",
    "linear_cka",
    "load_signature",
    "nonlinearity_coefficient",
    "norm",
    "r2",
    "recording",
    "reduce",
    "signature",
]
