"""What kind of block a module is, by its class and its parts, and what an activation is for: no network by its name."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, MutableMapping
from operator import attrgetter
from weakref import WeakKeyDictionary

import torch.nn.functional as F
from torch import Tensor, nn

from affscore.recorder.calls import ORDINALS, ActivationCall, Event, Follower
from affscore.recorder.effects import check_elementwise
from affscore.recorder.functions import PRODUCTS, kind_of
from affscore.recorder.model_state import in_training, random_states_kept

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


class Kinds(Follower):
    """Says what each activation is for (``ActivationCall.kind``), from the products and sums that follow it.

    A factor with one number for each channel, or one for each position, that scales a larger tensor is a gate, and the
    activation of one position before it is its squeeze. Of two factors of one size the later activation is a gated
    unit's.

    Other activations are the first, second, ... in their block: the innermost running module whose class adds a
    shortcut in its own forward; failing that, the innermost whose class occurs more than once and runs at least two
    activations one behind the other. Containers and the network itself are no blocks. Parallel branches share places,
    as they share depths.

    Args:
        classes: The class of every module, by its path.
    """

    def __init__(self, classes: Mapping[str, type]) -> None:
        self._classes = classes

    def begin(self, calls: list[ActivationCall]) -> None:
        """A forward pass begins."""
        self._calls = calls
        self._summing: set[type] = set()

    def after(self, event: Event) -> None:
        """See whether it scales features, or adds a shortcut."""
        if event.adds_a_shortcut and event.layer:
            self._summing.add(self._classes[event.layer])
        elif event.call is None and kind_of(event.function) in PRODUCTS and len(event.data) == len(event.tensors) == 2:
            self._multiplied(event)

    def _multiplied(self, event: Event) -> None:
        calls, sizes = self._calls, [_entries(factor) for factor in event.tensors]
        made_by = [origin.activation for origin in event.origins if origin]
        factors = [(calls[index], size) for index, size in zip(made_by, sizes, strict=True) if index is not None]
        if sizes[0] == sizes[1]:
            whole = [call for call, size in factors if math.prod(call.shape) == size]
            if whole and event.origins[0] != event.origins[1]:
                max(whole, key=attrgetter("index")).kind = "gated-unit"
            return
        for gate, size in factors:
            if size == min(sizes) and (gate.positions == 1 or 1 in gate.shape[1:]):
                gate.kind = "gate"
                if gate.upstream is not None and calls[gate.upstream].positions == 1:
                    calls[gate.upstream].kind = "squeeze"

    def end(self, calls: list[ActivationCall]) -> list[ActivationCall]:
        """The pass is over: now the places in blocks are known."""
        classes = self._classes
        ordinary = [call for call in calls if call.kind not in ("squeeze", "gate")]
        depths: dict[tuple[str, int], set[int]] = defaultdict(set)
        for call in ordinary:
            for frame in call.within:
                depths[frame].add(call.depth)
        places: dict[type, int] = defaultdict(int)
        for (path, _), found in depths.items():
            places[classes[path]] = max(places[classes[path]], len(found))
        instances = Counter(classes[path] for path in {path for path, _ in depths})
        for call in (call for call in ordinary if call.kind == "hidden"):
            for path, run in reversed([frame for frame in call.within if frame[0]]):
                block = classes[path]
                has_places = 2 <= places[block] <= len(ORDINALS)
                if block not in _CONTAINERS and (block in self._summing or (instances[block] > 1 and has_places)):
                    if has_places:
                        call.kind = ORDINALS[sorted(depths[path, run]).index(call.depth)]
                    break
        return calls


def _entries(tensor: Tensor) -> int:
    """How many different entries a tensor has: one that was expanded repeats its own."""
    return math.prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)


_KINDS: MutableMapping[nn.Module, str] = WeakKeyDictionary()
"""The kinds of declared modules: each step of a training is a recording of its own."""

NORMALISATION, POOLING, LINEAR, ATTENTION = "normalisation", "pooling", "linear", "attention"

_NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm, nn.CrossMapLRN2d)
_LINEAR = (nn.Linear, nn.modules.conv._ConvNd)


def kind_by_class(module: nn.Module) -> str:
    """The kind of block that a module is by its class, or "".

    * "normalisation": PyTorch's own, and any class with "norm" in its name whose parameters are vectors (an RMSNorm, a
      LayerNorm of images, a batch normalisation with frozen statistics);
    * "pooling": PyTorch's own, and any class with "pool" in its name that has no parameters;
    * "linear": a linear layer or a convolution: PyTorch's own, and any class with "linear" or "conv" in its name that
      has a matrix and no parts;
    * "attention": a class with "attention" or "attn" in its name.

    >>> [kind_by_class(nn.BatchNorm2d(3)), kind_by_class(nn.MaxPool2d(2)), kind_by_class(nn.MultiheadAttention(4, 2))]
    ['normalisation', 'pooling', 'attention']
    >>> kind_by_class(nn.Conv2d(1, 2, 3)), kind_by_class(nn.ReLU())
    ('linear', '')
    """
    name, parameters = type(module).__name__.lower(), list(module.parameters())
    if isinstance(module, _NORMS) or ("norm" in name and all(weights.ndim < 2 for weights in parameters)):
        return NORMALISATION
    homes = {base.__module__ for base in type(module).__mro__}
    if "torch.nn.modules.pooling" in homes or ("pool" in name and not parameters):
        return POOLING
    called = next(module.children(), None) is None and ("linear" in name or "conv" in name)
    if isinstance(module, _LINEAR) or (called and any(weights.ndim > 1 for weights in parameters)):
        return LINEAR
    return ATTENTION if "attention" in name or "attn" in name else ""


def channel_axis(module: nn.Module) -> int | None:
    """The axis on which a module of PyTorch's own takes its channels; None for any other, and where it has none.

    A LayerNorm over several axes says nothing: these may be (C, H, W) or (H, W, C).

    >>> [channel_axis(module) for module in (nn.Conv1d(2, 3, 1), nn.Linear(2, 3), nn.LayerNorm(4), nn.MaxPool2d(2))]
    [-2, -1, -1, -3]
    >>> channel_axis(nn.BatchNorm1d(3)), channel_axis(nn.LayerNorm((2, 3))), channel_axis(nn.Identity())
    (1, None, None)
    """
    owner = next(base for base in type(module).__mro__ if "forward" in vars(base))
    if not owner.__module__.startswith("torch.nn.modules.") or "forward" in vars(module):
        return None  # its own forward may move the axes first, as a LayerNorm of images does
    if owner.__module__.endswith((".conv", ".pooling")):
        return -int(owner.__name__[-2]) - 1  # Conv2d: the last two axes are positions
    if (over := getattr(module, "normalized_shape", None)) is not None:
        return -1 if len(over) == 1 else None
    if isinstance(module, (nn.Linear, nn.Bilinear, nn.MultiheadAttention)):
        return -1
    return 1 if isinstance(module, _NORMS) else None


def may_be_a_block(module: nn.Module) -> bool:
    """Whether a module can be a block at all: not one of PyTorch's own that have no parts and no kind, as ReLU."""
    own = type(module).__module__.startswith("torch.nn.modules")
    return bool(kind_by_class(module)) or not own or next(module.children(), None) is not None


def is_made_of_linear_layers(module: nn.Module) -> bool:
    """Whether all that has weights in a module are two or more linear layers, each position by itself.

    >>> is_made_of_linear_layers(nn.Sequential(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 3)))
    True
    >>> is_made_of_linear_layers(nn.Sequential(nn.Linear(3, 6), nn.LayerNorm(6), nn.Linear(6, 3)))
    False
    >>> is_made_of_linear_layers(nn.Sequential(nn.Conv2d(4, 8, 1, groups=2), nn.ReLU(), nn.Conv2d(8, 4, 1)))
    False
    """
    linear = 0
    for part in module.modules():
        if kind_by_class(part) == LINEAR:
            if isinstance(part, nn.modules.conv._ConvNd) and (part.groups > 1 or any(s > 1 for s in part.kernel_size)):
                return False
            linear += 1
        elif not isinstance(part, nn.PReLU) and (kind_by_class(part) or any(p.numel() for p in part.parameters(False))):
            return False
    return linear > 1


ATTENDING = frozenset({F.scaled_dot_product_attention, F.multi_head_attention_forward})
"""Functions that are attention; a module that calls one of them itself is an attention block, too."""


def kind_of_block(module: nn.Module, apply: Callable[[Tensor], Tensor], x: Tensor) -> str:
    """What kind of block a declared module is; empty if it is elementwise, which is tried out once.

    The trial is in evaluation mode, and the states of random generators are as before. What its class calls attention,
    a norm or a pooling is a block: to try it out might fill a cache of keys and values.
    """
    if module not in _KINDS:
        kind = kind_by_class(module)
        if not kind:
            try:
                with random_states_kept(x.device), in_training(module, x.device):
                    check_elementwise("", apply, x)
            except Exception:  # noqa: BLE001  # one sample may not fit its other arguments; the run itself will tell
                kind = "block"
        _KINDS[module] = kind
    return _KINDS[module]
