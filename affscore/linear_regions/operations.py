"""What the functions of PyTorch are to a piecewise affine network: affine, one of the few that bend, or refused.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`: ``add`` stands
for ``torch.add``, the method, the operator, and what they do in place. What is in none of these lists is refused: one
that is affine and missing here gives an error, and one that is not affine never gives a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from torch import Tensor

from affscore.errors import AffscoreError
from affscore.linear_regions.program import Activation, MaxPool
from affscore.recorder.functions import COPIES, MOVES, Function, activation_name, kind_of, only_looks_at_the_shape


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ABOUT = _names(
    "size shape dim ndim ndimension numel nelement len device dtype layout stride storage_offset is_contiguous hash "
    "is_floating_point is_complex is_cuda is_cpu is_meta is_mkldnn is_mps is_nested is_quantized is_sparse is_xpu "
    "is_leaf is_inference is_conj is_neg is_same_size get_device element_size itemsize nbytes requires_grad grad "
    "grad_fn names"
)
"""They answer from the shape and the type alone."""

SUMS = _names(
    "add iadd radd sub isub rsub subtract neg negative positive pos sum mean cumsum diff avg_pool1d avg_pool2d "
    "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d interpolate upsample upsample_nearest "
    "upsample_bilinear"
)
AFFINE = MOVES | COPIES | SUMS | _names("fold copy")
"""Affine in all their arguments together, those that put numbers elsewhere among them."""

PRODUCTS = _names(
    "mul imul rmul multiply matmul rmatmul mm bmm mv dot inner outer einsum tensordot addmm addmv addbmm baddbmm "
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d batch_norm"
)
"""Affine in each factor: no more than one of their arguments may depend on the input."""

QUOTIENTS = _names("div idiv divide true_divide truediv itruediv")
"""Affine in the dividend."""

LOOKS = _names(
    "gt lt ge le eq ne greater less greater_equal less_equal equal allclose isclose isnan isinf isfinite bool any all "
    "item tolist numpy array nonzero argmax argmin argsort"
)
"""They look at numbers, mostly to decide what the network does."""

CASTS = _names("to float double half bfloat16 type type_as cpu cuda")
DROPOUTS = _names("dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout")
MAX_POOLS = _names("max_pool1d max_pool2d max_pool3d")
ELEMENTWISE = _names("add iadd radd sub isub rsub mul imul rmul div idiv truediv itruediv")

Meaning = Literal["about", "same", "affine"] | Activation | MaxPool
"""What a call does: "about" looks at the shape only, "same" returns its input."""


def name_of(function: Function) -> str:
    """The name by which a function is known; of an attribute, as ``x.shape``, that of the attribute."""
    name = kind_of(function)
    return function.__self__.__name__ if name == "get" else name  # type: ignore[attr-defined]


def meaning_of(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], features: Sequence[Tensor]
) -> Meaning:
    """What a call does to features.

    Args:
        function: A function of PyTorch.
        args: What it is called with.
        kwargs: And by name.
        features: Those of its arguments that depend on the input.

    Raises:
        AffscoreError: It is not piecewise affine, or the library does not know that it is.

    >>> import torch
    >>> x = torch.ones(1)
    >>> meaning_of(torch.relu, (x,), {}, [x]), meaning_of(torch.neg, (x,), {}, [x])
    (Activation(units=1, slope=0.0, linear=None), 'affine')
    >>> meaning_of(torch.sigmoid, (x,), {}, [x])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: sigmoid is not affine ...
    """

    def argument(name: str, place: int, default: Any = None) -> Any:
        return kwargs.get(name, args[place] if len(args) > place else default)

    name, x = name_of(function), features[0]
    if name in ABOUT or (only_looks_at_the_shape(function) and len(features) == 1):
        return "about"
    if name in LOOKS or getattr(function, "__name__", "") in ("__float__", "__int__", "__index__"):
        raise AffscoreError(
            f"{name} is not affine: it looks at numbers of features, and regions cannot be followed where the control "
            "flow, a mask or an index of the network depends on these; write it with ReLU, LeakyReLU or max pooling"
        )
    if name in CASTS:
        return "same" if argument("input", 0) is x else "about"
    if name in DROPOUTS:
        if argument("training", 2, kwargs.get("train", True)):
            raise AffscoreError(f"{name} is random in evaluation mode, too: pass training=self.training")
        return "same"
    if name == "batch_norm" and argument("training", 5, False):
        raise AffscoreError("batch_norm uses the statistics of its batch, also in evaluation mode, and is not affine")
    if name in PRODUCTS and (len(features) > 1 or (name == "batch_norm" and x is argument("running_var", 2))):
        raise AffscoreError(f"{name} multiplies features with features and is not affine")
    if name in QUOTIENTS and (len(features) > 1 or x is not argument("input", 0) or kwargs.get("rounding_mode")):
        raise AffscoreError(f"{name} divides by features, or rounds, and is not affine")
    if name in AFFINE | PRODUCTS | QUOTIENTS:
        return "affine"
    if name in MAX_POOLS and not kwargs.get("return_indices"):
        size, stride = argument("kernel_size", 1), argument("stride", 2)
        others = argument("padding", 3, 0), argument("dilation", 4, 1), argument("ceil_mode", 5, False)
        return MaxPool.of(name, (size, size if stride in (None, []) else stride, *others), x)
    called = activation_name(function, args, kwargs) or name
    if called in ("relu", "leaky_relu", "prelu"):
        slopes = {"leaky_relu": argument("negative_slope", 1, 0.01), "prelu": argument("weight", 1)}
        return Activation.of(slopes.get(called, 0.0), x.shape)
    raise AffscoreError(
        f"{called} is not affine as far as this library knows, and no ReLU, LeakyReLU, PReLU or max pooling; linear "
        "regions are counted in networks of these and of affine operations only"
    )
