"""The functions of PyTorch by what they do, and which of them, and which modules, are an elementwise activation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from affscore.errors import AffscoreError

Function = Callable[..., Any]
Declarations = Collection[Any] | Mapping[str, Any]
"""Modules and functions that a caller declares, or these by their names."""


class Effect(NamedTuple):
    """What a function does: whether each entry depends on the same entry alone, and whether not affinely.

    The latter is asked of elementwise functions, and of those of extensions.
    """

    elementwise: bool = False
    bends: bool = False


NO_EFFECT = Effect()


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
    """The name of a function without underscores: "mul" for mul, mul_ and __mul__; "exp2" for special_exp2.

    That of an attribute, as x.shape, for the function that reads it.
    """
    return _name(function).strip("_").removeprefix("special_")


def _name(function: Any) -> str:
    name = getattr(function, "__name__", "")
    return function.__self__.__name__ if name == "__get__" else name.partition(".")[0]  # behind it a kernel's overload


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


def as_function(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], chosen: Callable[[Any], bool]
) -> Callable[..., Any]:
    """A call as a function of some of its arguments, those within lists, too, in their order: or of one for all.

    These are not kept alive. One that writes in place gets a copy, and returns it.

    >>> x = torch.ones(2)
    >>> as_function(torch.add, (x, 3), {}, lambda value: value is x)(torch.zeros(1)), x
    (tensor([3.]), tensor([1., 1.]))
    """
    leaves, structure = tree_flatten((tuple(args), dict(kwargs)))
    places = [place for place, leaf in enumerate(leaves) if chosen(leaf)]
    for place in places:
        leaves[place] = None

    def of_chosen(*given: Any) -> Any:
        values = list(leaves)
        for place, value in zip(places, given * len(places) if len(given) == 1 else given, strict=True):
            values[place] = value
        args, kwargs = tree_unflatten(values, structure)
        if args and writes_in_place(function):
            target = args[0].clone()
            function(target, *args[1:], **kwargs)
            return target
        output = function(*args, **kwargs)
        return given[0] if output is None else output

    return of_chosen


def only_looks_at_the_shape(function: Function) -> bool:
    """Whether a result has nothing of the numbers of its argument: zeros_like(x), x.new_zeros(3)."""
    name = _name(function)
    return name.endswith("_like") or name.startswith("new_")


def set_of(words: str) -> frozenset[str]:
    """The words of a text, as names of functions.

    >>> sorted(set_of("relu gelu"))
    ['gelu', 'relu']
    """
    return frozenset(words.split())


RESHAPES = set_of("reshape reshape_as flatten unflatten ravel view view_as")
"""Names of functions that only change the shape."""

MOVES = RESHAPES | set_of(
    "squeeze unsqueeze permute transpose swapaxes swapdims movedim moveaxis t T mT H mH adjoint expand expand_as "
    "broadcast_to repeat tile repeat_interleave select narrow split split_with_sizes chunk tensor_split hsplit vsplit "
    "dsplit unbind getitem setitem index_select gather take_along_dim flip fliplr flipud roll rot90 unfold pad "
    "constant_pad_nd pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle cat concat concatenate stack "
    "hstack vstack dstack column_stack diagonal tril triu masked_fill where"
)
"""Names of functions that put entries elsewhere, or constants beside them."""

COPIES = set_of("clone contiguous detach data real alias nan_to_num")
"""Names of functions that return what they get, as far as it is finite."""

CASTS = set_of("to float double half bfloat16 type type_as cpu cuda")
DROPOUTS = set_of("dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout")
"""These return it in evaluation mode."""

# By function: looked up for every call of a network.
SUMS = spellings("add")
RECURRENT = spellings("lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")

# What makes channels, or normalises them, and on which axis these are.
NORMS = frozenset(getattr(F, name) for name in "batch_norm group_norm instance_norm layer_norm rms_norm".split())
MATRICES = spellings("matmul bmm mm addmm baddbmm") - {Tensor.__rmatmul__}
_SECOND = "fold unfold batch_norm group_norm instance_norm"
_LAST = "linear bilinear embedding multi_head_attention_forward scaled_dot_product_attention layer_norm rms_norm"
CHANNEL_AXES = {getattr(F, f"{name}{axes}d"): -axes - 1 for name in ("conv", "conv_transpose") for axes in (1, 2, 3)}
CHANNEL_AXES |= {getattr(F, name): 1 for name in _SECOND.split()}
CHANNEL_AXES |= {getattr(F, name): -1 for name in _LAST.split()} | dict.fromkeys(MATRICES, -1)

# By name: what multiplies, and divides.
PRODUCTS = set_of("mul imul rmul multiply")
DIVISIONS = set_of("div idiv truediv itruediv divide true_divide")
QUOTIENTS = DIVISIONS | set_of("rdiv rtruediv reciprocal")

# By name: what sums entries up, where a pooling leaves one position.
STATISTICS = set_of(
    "mean sum nansum prod amax amin max min median var std var_mean std_mean norm linalg_norm linalg_vector_norm "
    "logsumexp cumsum adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d"
)

# Softmax is not elementwise and does not count. Gated units are no entry: the function inside counts (the recorder
# takes F.glu apart).
_NAMES = (
    "relu relu6 leaky_relu prelu rrelu elu selu celu gelu silu mish softplus hardswish hardsigmoid hardtanh sigmoid "
    "logsigmoid tanh erf softsign tanhshrink softshrink hardshrink threshold"
)
ACTIVATIONS = {function: name for name in _NAMES.split() for function in spellings(name)}
ACTIVATIONS[torch.special.expit] = "sigmoid"
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


_WANTED = "activations must be a list of module classes, modules or functions, or a dictionary of these by their names"


class Declared(dict[Any, str]):
    """What a caller declares as one activation or block as a whole, with the name that it goes by.

    Keys are classes of modules (which stand for their subclasses, too), single modules, functions of PyTorch, which
    are seen when they are called, and the codes of functions written in Python.

    Args:
        activations: Classes of modules, modules, functions (of Python or of PyTorch) and subclasses of
            ``torch.autograd.Function``; in a dictionary, by their names. Without one, the name is that of
            the class or function in small letters.

    Attributes:
        codes: What is called to repeat a function written in Python, by its code.

    Raises:
        AffscoreError: Something else.

    >>> class Snake(nn.Module):
    ...     def forward(self, x): return x + torch.sin(x) ** 2
    >>> Declared([Snake, torch.sin]).names, Declared({"sine": torch.sin}).names
    (['snake', 'sin'], ['sine'])
    """

    def __init__(self, activations: Declarations = ()) -> None:
        self.codes: dict[CodeType, Function] = {}
        if isinstance(activations, (str, bytes)) or not isinstance(activations, Collection):
            raise AffscoreError(f"{_WANTED}; got {activations!r}")
        named = activations.items() if isinstance(activations, Mapping) else ((None, entry) for entry in activations)
        for name, entry in named:
            self._enter(name, entry)

    def _enter(self, name: str | None, entry: Any) -> None:
        while isinstance(entry, functools.partial):
            entry = entry.func
        name = name or getattr(entry, "__name__", type(entry).__name__).strip("<>").lower()
        keys: list[Any] = [entry]
        if isinstance(entry, torch.jit.ScriptModule | torch.jit.ScriptFunction):
            raise AffscoreError(f"{name} is TorchScript, which cannot be seen; declare the class of modules around it")
        if isinstance(entry, type) and issubclass(entry, torch.autograd.Function):
            keys = [inspect.unwrap(entry.forward).__code__]
            self.codes[keys[0]] = _without_context(entry)
        elif inspect.isroutine(entry):
            keys = [entry := getattr(entry, "__func__", entry)]
            if any(getattr(home, entry.__name__, None) is entry for home in HOMES):
                keys += spellings(entry.__name__.rstrip("_"))  # the same as a method and in place
            if inspect.isfunction(entry):
                keys.append(entry.__code__)
                self.codes[entry.__code__] = entry
        elif not isinstance(entry, nn.Module) and not (isinstance(entry, type) and issubclass(entry, nn.Module)):
            raise AffscoreError(f"{_WANTED}; got {entry!r} in it")
        self.update(dict.fromkeys(keys, name))

    @property
    def names(self) -> list[str]:
        """The names of all of them."""
        return list(dict.fromkeys(self.values()))

    def name_of(self, module: nn.Module) -> str | None:
        """The name under which a module counts, or None."""
        return next((self[key] for key in (module, *type(module).__mro__) if key in self), None)


def _without_context(function: type[torch.autograd.Function]) -> Function:
    """An autograd function that is called with the arguments of its forward."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        takes_context = args and isinstance(args[0], torch.autograd.function.FunctionCtx)
        return function.apply(*(args[1:] if takes_context else args), **kwargs)

    return apply
