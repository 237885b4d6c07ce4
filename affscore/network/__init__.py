"""Floor 2: a running network, and the scores of its activations."""

from affscore.network.criteria.affine_fit import affine_fit as affine_fit
from affscore.network.criteria.cka import debiased_cka as debiased_cka
from affscore.network.criteria.cka import linear_cka as linear_cka
from affscore.network.criteria.entropy import entropy as entropy
from affscore.network.criteria.nonlinearity_coefficient import nonlinearity_coefficient as nonlinearity_coefficient
from affscore.network.criteria.norm import norm as norm
from affscore.network.criteria.r2 import r2 as r2
from affscore.network.multiverse import multiverse as multiverse
from affscore.network.multiverse_result import Multiverse as Multiverse
from affscore.network.multiverse_result import load_multiverse as load_multiverse
from affscore.network.penalty import AffinityPenalty as AffinityPenalty
from affscore.network.record import TrainingRecord as TrainingRecord
from affscore.network.record import load_record as load_record
from affscore.network.recorder import Recorder as Recorder
from affscore.network.recorder import recording as recording
from affscore.network.recorder.calls import ActivationCall as ActivationCall
from affscore.network.reduction import reduce as reduce
from affscore.network.result import Signature as Signature
from affscore.network.result import load_signature as load_signature
from affscore.network.signature import signature as signature
from affscore.network.target import resampled as resampled
from affscore.network.tracker import Tracker as Tracker
from affscore.network.tracker import track as track
