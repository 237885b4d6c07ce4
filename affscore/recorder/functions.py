"""The functions of PyTorch by what they do, and which of them, and which modules, are an elementwise activation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Function = Callable[..., Any]
HOMES = (F, torch, torch.special, Tensor)


def spellings(names: str) -> frozenset[Function]:
    """Every function of PyTorch of one of these names: also as a method, an operator, and in place.

    >>> sorted(function.__name__ for function in spellings("add"))
    ['__add__', '__iadd__', '__radd__', 'add', 'add', 'add_']
    """
    return frozenset(
        getattr(home, spelling)
        for name in names.split()
        for spelling in (name, f"{name}_", f"__{name}__", f"__i{name}__", f"__r{name}__")
        for home in HOMES
        if hasattr(home, spelling)
    )


def kind_of(function: Any) -> str:
    """The name of a function without underscores: "mul" for mul, mul_ and __mul__; "exp2" for special_exp2."""
    return _name(function).strip("_").removeprefix("special_")


def _name(function: Any) -> str:
    return getattr(function, "__name__", "").partition(".")[0]  # a kernel has its overload behind a dot


def is_extension(function: Any) -> bool:
    """Whether a function is an operator that is none of PyTorch's own tensor functions: of ``torch.ops.NAME``.

    >>> is_extension(torch.ops.aten.relu), is_extension(torch.ops.quantized.linear_relu), is_extension(torch.relu)
    (False, True, False)
    """
    name = getattr(function, "_qualified_op_name", None) or getattr(function, "namespace", "aten")
    return not str(name).startswith(("aten", "prim"))


def writes_in_place(function: Function) -> bool:
    """Whether a function of PyTorch overwrites its first argument, by its name.

    >>> writes_in_place(Tensor.relu_), writes_in_place(Tensor.__iadd__), writes_in_place(Tensor.__add__)
    (True, True, False)
    """
    name = _name(function)
    return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or name.startswith("__i")


def only_looks_at_the_shape(function: Function) -> bool:
    """Whether a result has nothing of the numbers of its argument: zeros_like(x), x.new_zeros(3)."""
    name = _name(function)
    return name.endswith("_like") or name.startswith("new_")


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


MOVES = _names(
    "view reshape flatten unflatten squeeze unsqueeze view_as reshape_as ravel permute transpose swapaxes swapdims "
    "movedim moveaxis t T mT H mH adjoint expand expand_as broadcast_to repeat tile repeat_interleave select narrow "
    "split split_with_sizes chunk tensor_split hsplit vsplit dsplit unbind getitem setitem index_select gather "
    "take_along_dim flip fliplr flipud roll rot90 unfold pad constant_pad_nd pixel_shuffle pixel_unshuffle "
    "channel_shuffle native_channel_shuffle cat concat concatenate stack hstack vstack dstack column_stack diagonal "
    "tril triu masked_fill where"
)
"""Names of functions that put entries elsewhere, or constants beside them."""

COPIES = _names("clone contiguous detach data real alias nan_to_num")
"""Names of functions that return what they get, as far as it is finite."""

# By function: looked up for every call of a network.
SUMS, MULTIPLICATIONS = spellings("add"), spellings("mul multiply")
RECURRENT = spellings("lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")

# What makes channels, or normalises them, and on which axis these are.
NORMS = frozenset(getattr(F, name) for name in "batch_norm group_norm instance_norm layer_norm rms_norm".split())
MATRICES = spellings("matmul bmm mm addmm baddbmm") - {Tensor.__rmatmul__}
_SECOND = "fold unfold batch_norm group_norm instance_norm"
_LAST = "linear bilinear embedding multi_head_attention_forward scaled_dot_product_attention layer_norm rms_norm"
CHANNEL_AXES: dict[Function, int] = {
    **{getattr(F, f"{name}{axes}d"): -axes - 1 for name in ("conv", "conv_transpose") for axes in (1, 2, 3)},
    **{getattr(F, name): 1 for name in _SECOND.split()},
    **{getattr(F, name): -1 for name in _LAST.split()},
    **dict.fromkeys(MATRICES, -1),
}

# By name: what multiplies, and divides.
PRODUCTS = _names("mul imul rmul multiply")
QUOTIENTS = _names("div idiv truediv itruediv rdiv rtruediv divide true_divide reciprocal")

# By name: what leaves no, or fewer, axes; what only changes the shape.
REDUCTIONS = _names("mean sum prod amax amin max min var std logsumexp")
RESHAPES = _names("reshape reshape_as flatten unflatten ravel view view_as")

# By name: what sums entries up, where a pooling leaves one position.
STATISTICS = _names(
    "mean sum nansum prod amax amin max min median var std var_mean std_mean norm vector_norm linalg_vector_norm "
    "linalg_norm logsumexp cumsum adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d "
    "avg_pool3d"
)

# Softmax is not elementwise and does not count. Gated units are no entry: the function inside counts (the recorder
# takes F.glu apart).
_NAMES = (
    "relu relu6 leaky_relu prelu rrelu elu selu celu gelu silu mish softplus hardswish hardsigmoid hardtanh sigmoid "
    "logsigmoid tanh erf softsign tanhshrink softshrink hardshrink threshold"
)
ACTIVATIONS: Mapping[Function, str] = {
    **{function: name for name in _NAMES.split() for function in spellings(name)},
    torch.special.expit: "sigmoid",
}
"""Every function that counts, and the name of its activation."""

_CLAMPS = spellings("clamp clamp_min clip")
_CLAMPED: Mapping[tuple[Any, Any], str] = {(0, None): "relu", (0, 6): "relu6"}

LIBRARY_CLASSES: Mapping[str, Mapping[str, str]] = {
    "timm": {
        "GELU": "gelu", "GELUTanh": "gelu", "HardSigmoid": "hardsigmoid", "HardSigmoidMe": "hardsigmoid",
        "SquaredReLU": "relu_squared", "StarReLU": "star_relu",
    },
    "transformers": {
        "AccurateGELUActivation": "gelu", "BloomGelu": "gelu", "ClippedGELUActivation": "clipped_gelu",
        "FastGELUActivation": "gelu", "GELUActivation": "gelu", "GELUTanh": "gelu", "LaplaceActivation": "laplace",
        "NewGELUActivation": "gelu", "PytorchGELUTanh": "gelu", "ReLUSquaredActivation": "relu_squared",
        "Snake1d": "snake", "SnakeBeta": "snake", "SqrtSoftplusActivation": "sqrt_softplus", "XIELUActivation": "xielu",
    },
}  # fmt: skip
"""Modules of other libraries whose formula does not say that they are one activation, and their GELUs, for which units
with slopes may take the place of the module: by package and class.

The libraries are not imported: a class is known by its name and the package that defines it.
"""

# How far (relative to its largest value) a formula may be from an activation to get its name. The bound takes the usual
# approximations of GELU for GELU, but not x * sigmoid(1.702 x), which has a name of its own.
_SMOOTH, _EXACT = 1e-3, 1e-6
_TOLERANCES = {
    **dict.fromkeys("relu relu6 hardtanh hardsigmoid hardswish hard_mish relu_squared softsign".split(), _EXACT),
    **dict.fromkeys("gelu quick_gelu silu mish elu selu softplus sigmoid tanh".split(), _SMOOTH),
}
_WRITTEN_OUT: Mapping[str, Callable[[Tensor], Tensor]] = {
    "hard_mish": lambda z: 0.5 * z * (z + 2).clamp(0, 2),
    "relu_squared": lambda z: F.relu(z).square(),
    "quick_gelu": lambda z: z * torch.sigmoid(1.702 * z),
}

_FAR = (-40.0, -12.0, 12.0, 40.0)


def activation_name(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The name of the activation that a call computes, or None if the call is not an activation.

    ``torch.nn.ReLU6`` calls ``hardtanh`` with the bounds 0 and 6, and is named for what it is; so are
    ``x.clamp(min=0)`` and ``x.clamp(0, 6)``, while other clamps do not count.

    >>> activation_name(torch.relu, (torch.zeros(1),), {})
    'relu'
    >>> activation_name(F.hardtanh, (torch.zeros(1), 0.0, 6.0), {})
    'relu6'
    >>> activation_name(F.softmax, (torch.zeros(1),), {"dim": 0}) is None
    True
    """
    name = ACTIVATIONS.get(function)
    if name != "hardtanh" and function not in _CLAMPS:
        return name
    given = {key.removesuffix("_val"): value for key, value in kwargs.items()}
    given |= zip(("input", "min", "max"), args, strict=False)
    least, largest = (-1, 1) if name else (None, None)
    return _CLAMPED.get((given.get("min", least), given.get("max", largest)), name)


def library_class_name(module: nn.Module) -> str | None:
    """The name of the activation that a module of a known library is, or None.

    >>> library_class_name(nn.ReLU()) is None  # its function is seen
    True
    """
    kind = type(module)
    return LIBRARY_CLASSES.get(kind.__module__.partition(".")[0], {}).get(kind.__name__)


def name_by_values(function: Function, device: torch.device | None = None, ndim: int = 1) -> str | None:
    """The name of the known activation of which a function is a positive multiple on [-8, 8] and far off, or None.

    >>> name_by_values(lambda z: z / (1 + torch.exp(-z)))
    'silu'
    >>> name_by_values(lambda z: torch.where(z > 0, z, 0.2 * z))
    'leaky_relu'
    >>> name_by_values(lambda z: z.clamp(min=-2)) is None
    True
    """
    grid = _grid().view(-1, *[1] * (ndim - 1)).to("cpu" if device is None or device.type == "meta" else device)
    try:
        values = function(grid).double().cpu()
    except Exception:  # noqa: BLE001  # a constant of another shape or without numbers: it cannot be evaluated here
        return None
    if values.shape != grid.shape or not bool(torch.isfinite(values).all()) or not bool(values[: -len(_FAR)].any()):
        return None
    values, far = values.flatten().split([len(values) - len(_FAR), len(_FAR)])
    grid, expected, beyond = _known_values()
    scales = expected @ values / expected.square().sum(dim=1)
    errors = (values - scales[:, None] * expected).abs().amax(dim=1) / values.abs().max()
    # and where clamp(0, 8) is none
    errors += ((far - scales[:, None] * beyond).abs() > 1e-3 * (scales[:, None] * beyond).abs() + 1e-6).any(dim=1)
    for (name, tolerance), scale, error in zip(_TOLERANCES.items(), scales.tolist(), errors.tolist(), strict=True):
        if name == "relu" and values[grid <= 0].any():
            continue  # maximum(x, 1e-6), which guards a quotient
        if scale > 0 and error <= tolerance + 1e-7:
            return name
    slopes = values[grid != 0] / grid[grid != 0]
    below, above = slopes[:64], slopes[64:]
    straight = max(float(side.max() - side.min()) for side in (below, above)) <= _EXACT * float(slopes.abs().max())
    return "leaky_relu" if straight and 0 < float(below.mean()) < 0.99 * float(above.mean()) else None


def _grid() -> Tensor:
    return torch.cat([torch.linspace(-8, 8, 129), torch.tensor(_FAR)])


@lru_cache
def _known_values() -> tuple[Tensor, Tensor, Tensor]:
    """The grid, tensor (129,), and the values of the activations that have a name on it and beyond, a row for each."""
    values = torch.stack([(_WRITTEN_OUT.get(name) or getattr(F, name))(_grid().double()) for name in _TOLERANCES])
    return _grid()[: -len(_FAR)].double(), values[:, : -len(_FAR)], values[:, -len(_FAR) :]
