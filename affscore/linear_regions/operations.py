"""What the functions of PyTorch are to a piecewise affine network: affine, one of the few that bend, or refused.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`: ``add`` stands
for ``torch.add``, the method, the operator, and what they do in place. What is in none of these lists is refused: one
that is affine and missing here gives an error, and one that is not affine never gives a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from torch import Tensor

from affscore.errors import AffscoreError
from affscore.recorder.functions import COPIES, MOVES, activation_name, kind_of, only_looks_at_the_shape


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ABOUT = _names(
    "size shape dim ndim ndimension numel nelement len device dtype layout stride storage_offset is_contiguous hash "
    "is_floating_point is_complex is_cuda is_cpu is_meta is_mkldnn is_mps is_nested is_quantized is_sparse is_xpu "
    "is_leaf is_inference is_conj is_neg is_same_size get_device element_size itemsize nbytes requires_grad grad "
    "grad_fn names"
)
"""They answer from the shape and the type alone."""

RESHAPING = _names("view reshape flatten unflatten squeeze unsqueeze view_as reshape_as ravel")
"""They keep the order of the numbers."""

REARRANGING = MOVES | COPIES | _names("fold copy")
"""They put numbers elsewhere, or constants in their place."""

SUMS = _names(
    "add iadd radd sub isub rsub subtract neg negative positive pos sum mean cumsum diff avg_pool1d avg_pool2d "
    "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d interpolate upsample upsample_nearest "
    "upsample_bilinear"
)
"""Affine in all their arguments together."""

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

SAMPLE_BY_SAMPLE: Mapping[str, int] = {"batch_norm": 0} | {
    f"{name}{axes}d": axes for name in ("conv", "conv_transpose", "avg_pool", "adaptive_avg_pool") for axes in (1, 2, 3)
}
"""Functions of a batch, with the number of axes that follow samples and channels (0 for any)."""

Function = Callable[..., Any]
Kind = Literal["about", "same", "cast", "affine", "activation", "max pool"]


class Meaning(NamedTuple):
    """What a call does.

    Attributes:
        kind: "about" looks at the shape only, "same" returns its input, "cast" changes its type, and the others speak
            for themselves.
        name: The function's.
        slope: Of an activation, by what it multiplies what is below zero: a number, or a tensor that broadcasts.
        window: Of a max pooling: size, stride, padding, dilation, ceil_mode.
    """

    kind: Kind
    name: str
    slope: float | Tensor = 0.0
    window: tuple[Any, ...] = ()


def meaning_of(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], tensors: Sequence[Tensor]
) -> Meaning:
    """What a call does to tensors that depend on the input.

    Args:
        function: A function of PyTorch.
        args: What it is called with.
        kwargs: And by name.
        tensors: Those of its arguments that depend on the input.

    Raises:
        AffscoreError: It is not piecewise affine, or the library does not know that it is.

    >>> import torch
    >>> x = torch.ones(1)
    >>> meaning_of(torch.relu, (x,), {}, [x]).kind, meaning_of(torch.neg, (x,), {}, [x]).kind
    ('activation', 'affine')
    >>> meaning_of(torch.sigmoid, (x,), {}, [x])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: sigmoid is not affine ...
    """
    name = kind_of(function)
    if name == "get":  # an attribute: x.shape
        name = function.__self__.__name__  # type: ignore[attr-defined]
    if name in ABOUT or (only_looks_at_the_shape(function) and len(tensors) == 1):
        return Meaning("about", name)
    if name in LOOKS or getattr(function, "__name__", "") in ("__float__", "__int__", "__index__"):
        raise AffscoreError(
            f"{name} is not affine: it looks at numbers of features, and regions cannot be followed where the control "
            "flow, a mask or an index of the network depends on these; write it with ReLU, LeakyReLU or max pooling"
        )
    if name in REARRANGING or name in SUMS:
        return Meaning("affine", name)
    if name in PRODUCTS:
        if name == "batch_norm" and _argument("training", 5, args, kwargs, False):
            raise AffscoreError(
                "batch_norm uses the statistics of its batch, also in evaluation mode, and is not affine"
            )
        divided = name == "batch_norm" and tensors[0] is _argument("running_var", 2, args, kwargs)
        if len(tensors) > 1 or divided:
            raise AffscoreError(f"{name} multiplies features with features and is not affine")
        return Meaning("affine", name)
    if name in QUOTIENTS:
        dividend = _argument("input", 0, args, kwargs)
        if len(tensors) > 1 or tensors[0] is not dividend or kwargs.get("rounding_mode") is not None:
            raise AffscoreError(f"{name} divides by features, or rounds, and is not affine")
        return Meaning("affine", name)
    if name in CASTS:
        return Meaning("cast" if args and args[0] is tensors[0] else "about", name)
    if name in DROPOUTS:
        if _argument("training", 2, args, kwargs, kwargs.get("train", True)):
            raise AffscoreError(f"{name} is random in evaluation mode, too: pass training=self.training")
        return Meaning("same", name)
    return _bend(name, function, args, kwargs)


def _bend(name: str, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Meaning:
    """The few functions that are piecewise affine."""
    if name in MAX_POOLS and not kwargs.get("return_indices"):
        size = _argument("kernel_size", 1, args, kwargs)
        stride = _argument("stride", 2, args, kwargs)
        rest = (("padding", 0), ("dilation", 1), ("ceil_mode", False))
        others = (_argument(word, place, args, kwargs, default) for place, (word, default) in enumerate(rest, 3))
        return Meaning("max pool", name, window=(size, size if stride in (None, []) else stride, *others))
    called = activation_name(function, args, kwargs) or name
    if called == "relu":
        return Meaning("activation", called)
    if called == "leaky_relu":
        return Meaning("activation", called, float(_argument("negative_slope", 1, args, kwargs, 0.01)))
    if called == "prelu":
        return Meaning("activation", called, _argument("weight", 1, args, kwargs))
    raise AffscoreError(
        f"{called} is not affine as far as this library knows, and no ReLU, LeakyReLU, PReLU or max pooling; linear "
        "regions are counted in networks of these and of affine operations only"
    )


def _argument(name: str, place: int, args: tuple[Any, ...], kwargs: Mapping[str, Any], default: Any = None) -> Any:
    """An argument by its name or its place."""
    return kwargs.get(name, args[place] if len(args) > place else default)


def leaves(values: Iterable[Any], kind: type[Any]) -> list[Any]:
    """Everything of a class in lists, tuples and dictionaries within each other.

    >>> leaves(([1, "a"], {"b": (2,)}), int)
    [1, 2]
    """
    found = []
    for value in values:
        if isinstance(value, kind):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += leaves(value, kind)
        elif isinstance(value, dict):
            found += leaves(value.values(), kind)
    return found


def replaced(values: Any, kind: type, replacements: Iterator[Any]) -> Any:
    """The same lists, tuples and dictionaries with other things in the place of those of a class, in order.

    >>> replaced(([1, "a"], {"b": (2,)}), int, iter("xy"))
    (['x', 'a'], {'b': ('y',)})
    """
    if isinstance(values, kind):
        return next(replacements)
    if isinstance(values, dict):
        return {name: replaced(value, kind, replacements) for name, value in values.items()}
    if isinstance(values, (list, tuple)):  # also a named tuple
        found = [replaced(value, kind, replacements) for value in values]
        return found if isinstance(values, list) else tuple(found)
    return values
