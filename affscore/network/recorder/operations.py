"""The functions of PyTorch by what they do, as sets of functions or of names without underscores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

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
    return getattr(function, "__name__", "").strip("_").removeprefix("special_")


def writes_in_place(function: Function) -> bool:
    """Whether a function of PyTorch overwrites its first argument, by its name.

    >>> writes_in_place(Tensor.relu_), writes_in_place(Tensor.__iadd__), writes_in_place(Tensor.__add__)
    (True, True, False)
    """
    name = getattr(function, "__name__", "")
    return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or name.startswith("__i")


def only_looks_at_the_shape(function: Function) -> bool:
    """Whether a result has nothing of the numbers of its argument: zeros_like(x), x.new_zeros(3)."""
    name = getattr(function, "__name__", "")
    return name.endswith("_like") or name.startswith("new_")


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# By function: looked up for every call of a network.
SUMS, MULTIPLICATIONS = spellings("add"), spellings("mul multiply")
RECURRENT = spellings("lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")

# What makes channels, or normalises them, and on which axis these are.
NORMS = frozenset(getattr(F, name) for name in "batch_norm group_norm instance_norm layer_norm rms_norm".split())
MATRICES = spellings("matmul bmm mm addmm baddbmm") - {Tensor.__rmatmul__}
_SECOND = (
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d fold unfold batch_norm group_norm "
    "instance_norm"
)
_LAST = "linear bilinear embedding multi_head_attention_forward scaled_dot_product_attention layer_norm rms_norm"
CHANNEL_AXES: dict[Function, int] = {
    **{getattr(F, name): 1 for name in _SECOND.split()},
    **{getattr(F, name): -1 for name in _LAST.split()},
    **dict.fromkeys(MATRICES, -1),
}

# By name: elementwise functions, as far as a formula may use them.
PRODUCTS = _names("mul imul rmul multiply")
QUOTIENTS = _names("div idiv truediv itruediv rdiv rtruediv divide true_divide reciprocal log log1p")
CHOICES = _names("maximum minimum max min fmax fmin where masked_fill")
COMPARISONS = _names("gt lt ge le greater less greater_equal less_equal")
BENDS = CHOICES | COMPARISONS | _names("abs absolute sign exp expm1 clamp clamp_min clamp_max clip")
_OTHERS = _names(
    "add iadd radd sub isub rsub subtract neg negative pow ipow rpow square sqrt to type_as float half double bfloat16 "
    "clone contiguous sin cos"
)
ELEMENTWISE = PRODUCTS | QUOTIENTS | BENDS | _OTHERS

# By name: what leaves no, or fewer, axes; what only changes the shape.
REDUCTIONS = _names("mean sum prod amax amin max min var std logsumexp")
RESHAPES = _names("reshape reshape_as flatten unflatten ravel view view_as")

# By name: functions of one number that are not affine, and of which no activation is made up by itself.
CURVES = _names(
    "sin cos tan sinh cosh asin acos atan arcsin arccos arctan asinh acosh atanh arcsinh arccosh arctanh sinc exp exp2 "
    "expm1 log log2 log10 log1p sqrt rsqrt reciprocal rdiv rtruediv abs absolute square pow ipow rpow float_power sign "
    "sgn round floor ceil trunc frac fmod remainder erfc erfinv logit clamp clamp_min clamp_max clip"
)
# By name: what sums entries up, where a pooling leaves one position.
STATISTICS = _names(
    "mean sum nansum prod amax amin max min median var std var_mean std_mean norm vector_norm linalg_vector_norm "
    "linalg_norm logsumexp cumsum adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d "
    "avg_pool3d"
)
