"""Activations below the functions that Python calls have no score, and are noted."""

import warnings

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

from affscore import AffscoreWarning, signature
from tests.affscore.recorder.hard_networks import Net, conv


def swish(x):
    return x * torch.sigmoid(x)


def cubes(x):
    return torch.relu(x - 1).pow(3)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # TorchScript is on its way out; there are networks with it
    scripted_swish, scripted_cubes = torch.jit.script(swish), torch.jit.script(cubes)


def beside(function):
    """A ReLU that is seen, and beside it something."""
    return Net(
        lambda net, x: (y := torch.relu(net.first(x))) + function(net.second(y)), first=conv(), second=conv(4, 4)
    )


def notes(model, images, **options):
    """All that is noted, but for the warning that eight images are few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AffscoreWarning)
        found = signature(model, images, n=8, criteria=False, progress=False, **options).notes
    return [note for note in found if note.kind == "note"]


@pytest.mark.parametrize(("function", "what"), [(scripted_swish, "1 x sigmoid"), (scripted_cubes, "1 x pow, 1 x relu")])
def test_what_runs_below_python_is_noted(function, what, images):
    (note,) = notes(beside(function), images)
    assert note.startswith(f"activations ran that cannot be seen ({what}), in TorchScript, torch.ops or an extension")


@pytest.mark.parametrize("function", [torch.ops.aten.tanh, torch.ops.aten.gelu.default, torch.ops.aten.relu_])
def test_operators_of_torch_ops_are_scored(function, images):
    result = signature(beside(function), images, n=8, criteria=False, progress=False)
    name = function.__name__.partition(".")[0].strip("_")
    assert result.summary["activation"].tolist() == ["relu", name]


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_recurrent_cells_have_a_note_of_their_own(cell):
    def recurrent(net, x):
        y = net.cell(x)
        return torch.relu(y[0] if isinstance(y, tuple) else y)

    (note,) = notes(Net(recurrent, cell=cell(6, 5)), torch.randn(8, 6))
    assert note.startswith("the activations inside ")
    assert note.endswith("cell are no calls of their own, and not seen")


def test_a_network_that_cannot_run_below_a_mode_is_measured_and_said_to_be_unchecked(images):
    def relu(x):
        if _get_current_dispatch_mode() is not None:
            raise RuntimeError("not below a mode")
        return torch.relu(x)

    (note,) = notes(beside(relu), images)
    assert note.startswith("whether it has activations that cannot be seen or are not counted was not checked")
    assert "not below a mode" in note
