"""A running network, and the scores of its activations."""

from affscore.network.criteria.affine_fit import affine_fit
from affscore.network.criteria.cka import debiased_cka, linear_cka
from affscore.network.criteria.entropy import entropy
from affscore.network.criteria.nonlinearity_coefficient import nonlinearity_coefficient
from affscore.network.criteria.norm import norm
from affscore.network.criteria.r2 import r2
from affscore.network.multiverse import multiverse
from affscore.network.multiverse_result import Multiverse, load_multiverse
from affscore.network.note import Note
from affscore.network.penalty import AffinityPenalty
from affscore.network.record import TrainingRecord, load_record
from affscore.network.reduction import reduce
from affscore.network.result import Signature, load_signature
from affscore.network.signature import signature
from affscore.network.target import resampled
from affscore.network.tracker import Tracker, track
from affscore.recorder import Recorder, recording
from affscore.recorder.calls import ActivationCall

__all__ = [
    "ActivationCall",
    "AffinityPenalty",
    "Multiverse",
    "Note",
    "Recorder",
    "Signature",
    "Tracker",
    "TrainingRecord",
    "affine_fit",
    "debiased_cka",
    "entropy",
    "linear_cka",
    "load_multiverse",
    "load_record",
    "load_signature",
    "multiverse",
    "nonlinearity_coefficient",
    "norm",
    "r2",
    "recording",
    "reduce",
    "resampled",
    "signature",
    "track",
]
