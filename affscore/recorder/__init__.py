"""Sees every elementwise activation of a running network, and what it is fed and returns."""

from affscore.recorder.calls import ActivationCall, Listener
from affscore.recorder.functions import ACTIVATIONS
from affscore.recorder.recorder import Recorder
from affscore.recorder.recording import recording

__all__ = ["ACTIVATIONS", "ActivationCall", "Listener", "Recorder", "recording"]
