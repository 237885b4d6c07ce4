"""Sees every elementwise activation of a running network, and what it is fed and returns."""

from affscore.network.recorder.calls import ActivationCall, Listener
from affscore.network.recorder.functions import ACTIVATIONS
from affscore.network.recorder.recorder import Recorder
from affscore.network.recorder.recording import recording

__all__ = ["ACTIVATIONS", "ActivationCall", "Listener", "Recorder", "recording"]
