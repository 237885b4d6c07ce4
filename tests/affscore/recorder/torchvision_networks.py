"""torchvision's classification networks without numbers: shapes flow, nothing is computed, so all are fast."""

import contextlib
from unittest import mock

import torch
import torchvision
from torch import fx, nn

FUNCTIONS = {
    "relu": "relu", "relu_": "relu", "relu6": "relu6", "gelu": "gelu", "silu": "silu", "sigmoid": "sigmoid",
    "hardswish": "hardswish", "hardsigmoid": "hardsigmoid", "tanh": "tanh",
}  # fmt: skip
MODULES = {
    nn.ReLU: "relu", nn.ReLU6: "relu6", nn.GELU: "gelu", nn.SiLU: "silu", nn.Sigmoid: "sigmoid",
    nn.Hardswish: "hardswish", nn.Hardsigmoid: "hardsigmoid", nn.Tanh: "tanh",
}  # fmt: skip


def without_numbers(name):
    """The network in evaluation mode on the meta device."""
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if name.startswith("regnet"):  # they compute their widths with tensors, which have to hold numbers
        names = [n for n in vars(nn.init) if n.endswith("_") and not n.startswith("_")]
        with contextlib.ExitStack() as stack:
            for n in names:
                stack.enter_context(mock.patch.object(nn.init, n, lambda tensor, *args, **kwargs: tensor))
            return torchvision.models.get_model(name, weights=None, **options).to("meta").eval()
    with torch.device("meta"):
        return torchvision.models.get_model(name, weights=None, **options).eval()


def input_of(name, images=2):
    size = {"inception_v3": 299}.get(name, 224)
    return torch.zeros(images, 3, size, size, device="meta")


def activations_and_depths(model):
    """Every activation that depends on the input, in order, with the longest path of activations to it.

    From the graph of torch.fx: a node is an activation if it calls one, and a path is a chain of arguments.
    """
    graph = fx.symbolic_trace(model).graph
    modules = dict(model.named_modules())
    depth, dependent, found = {}, set(), []
    for node in graph.nodes:
        below = max((depth[source] for source in node.all_input_nodes if source in dependent), default=0)
        if node.op == "placeholder" or dependent & set(node.all_input_nodes):
            dependent.add(node)
        if node.op == "call_module":
            name = MODULES.get(type(modules[node.target]))
        elif node.op in ("call_function", "call_method"):
            name = FUNCTIONS.get(node.target if node.op == "call_method" else node.target.__name__)
        else:
            name = None
        depth[node] = below + (name is not None)
        if name is not None and node in dependent:
            found.append((name, depth[node]))
    return found
