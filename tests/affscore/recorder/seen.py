"""A listener that keeps copies of what every activation was fed and returned."""

import torch

from affscore.recorder import recording


class Seen:
    def __init__(self):
        self.calls, self.inputs, self.outputs = [], [], []

    def before(self, call, x, apply):
        self.calls.append(call)
        self.inputs.append(x.clone())

    def after(self, call, y):
        self.outputs.append(y.clone())

    def forget(self, call):
        assert self.calls.pop() is call
        del self.inputs[-1], self.outputs[-1]


def seen_in(model, *inputs, activations=()):
    """Run a model once in evaluation mode; what was seen, and the recorder."""
    listener = Seen()
    model.eval()
    with torch.no_grad(), recording(model, listener, activations) as recorder:
        recorder.start(inputs)
        model(*inputs)
    return listener, recorder
