"""What a pickle of weights would make, found out without making it."""

from __future__ import annotations

import math
import pickletools
from collections.abc import Iterable
from enum import Enum, auto
from typing import IO, Any

import torch

__all__ = ["RefusedPickleError", "check_pickle"]

TENSORS = ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3")
PARAMETER = "torch._utils._rebuild_parameter"
OTHERS = ("collections.OrderedDict", "collections.Counter", "argparse.Namespace", "torch.device")
"""What training scripts leave in checkpoints beside tensors: epochs, schedules, options."""

CONSTANTS = ("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE",
             "SHORT_BINSTRING")  # fmt: skip
DEEPEST = 3
"""How deep torch.save puts tuples into tuples."""

FILLING = ("SETITEM", "SETITEMS", "APPEND", "APPENDS")


class RefusedPickleError(ValueError):
    """A pickle asks for more than tensors; the message says for what."""


class _Thing(Enum):
    """In place of what a pickle makes: a dictionary that was just begun, a storage of numbers, a tensor, anything."""

    NEW_DICTIONARY = auto()
    STORAGE = auto()
    TENSOR = auto()
    OTHER = auto()


class _Tuple(tuple[Any, ...]):
    """A tuple of things. What is asked of it is found when it is made: a few bytes can repeat it many times."""

    def __init__(self, things: Iterable[Any]) -> None:
        self.constant = all(map(_is_constant, self))
        self.depth: int = 1 + max((thing.depth for thing in self if isinstance(thing, _Tuple)), default=0)
        if self.depth > DEEPEST:
            raise RefusedPickleError(f"it has tuples in tuples, more than {DEEPEST} deep")


def check_pickle(stream: IO[bytes], most: int) -> None:
    """Whether what a pickle makes is about as large as the pickle and the numbers that are stored beside it.

    ``torch.load(weights_only=True)`` calls no function of others. But one line of a pickle can ask it for
    terabytes: for ``bytearray`` of a number, for a tensor in which a stored number stands for many (stride 0), for the
    ``set`` of such a tensor. So this reads the pickle as its interpreter does, with things in the place of values. It
    lets through what :data:`TENSORS`, :data:`PARAMETER` and :data:`OTHERS` make, the latter only of constants and of
    a dictionary that is nothing else's.

    Args:
        stream: Stands where a pickle begins; afterwards where it ends.
        most: How many numbers its tensors may have in all.

    Raises:
        RefusedPickleError: It asks for anything else.
        ValueError: It is no pickle. (Other errors are possible, too, where it is a broken one.)

    >>> import io, pickle
    >>> check_pickle(io.BytesIO(pickle.dumps({"epoch": 3, "loss": [0.1, 0.2]}, protocol=2)), 0)
    >>> check_pickle(io.BytesIO(pickle.dumps(bytearray(3), protocol=2)), 0)
    Traceback (most recent call last):
    affscore.zoo.pickles.RefusedPickleError: it asks for bytearray
    """
    stack: list[Any] = []
    below: list[list[Any]] = []  # the stacks under each mark
    memo: dict[Any, Any] = {}
    numbers = 0
    for opcode, argument, _ in pickletools.genops(stream):
        name, takes = opcode.name, opcode.stack_before
        used: list[Any] = []
        if pickletools.markobject in takes:
            used, stack, takes = stack, below.pop(), takes[: takes.index(pickletools.markobject)]
        if takes:
            used = stack[-len(takes) :] + used
            del stack[-len(takes) :]
        if name == "MARK":
            below.append(stack)
            stack = []
        elif name in CONSTANTS:
            stack.append(argument)
        elif name == "GLOBAL":
            stack.append(_known(str(argument)))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            seen = memo[argument]
            stack.append(_Thing.OTHER if seen is _Thing.NEW_DICTIONARY else seen)
        elif name == "EMPTY_DICT":
            stack.append(_Thing.NEW_DICTIONARY)
        elif name in ("EMPTY_LIST", "EMPTY_SET"):
            stack.append(_Thing.OTHER)
        elif name in ("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
            stack.append(_Tuple(used))
        elif name in ("SETITEM", "SETITEMS") and any(isinstance(key, tuple) for key in used[1::2]):
            raise RefusedPickleError("it has a dictionary with tuples for keys")
        elif name in FILLING or (name == "BUILD" and used[1] is _Thing.NEW_DICTIONARY):
            stack.append(used[0])
        elif name == "BINPERSID" and _is_constant(used[0]):
            stack.append(_Thing.STORAGE)
        elif name in ("REDUCE", "NEWOBJ"):
            made, count = _made(*used)
            stack.append(made)
            numbers += count
            if numbers > most:
                raise RefusedPickleError(f"it speaks of {numbers} numbers, far more than it holds")
        elif name not in ("PROTO", "STOP"):
            raise RefusedPickleError(f"it uses {name}, which torch.save does not")


def _known(argument: str) -> str:
    """The full name of a class or function, if a pickle of weights may speak of it."""
    module, _, name = argument.partition(" ")
    full = f"{module}.{name}"
    kind = getattr(torch, name, None) if module == "torch" else None
    storage = module in ("torch", "torch.storage", "torch.cuda") and name.endswith("Storage")
    if full in (*TENSORS, PARAMETER, *OTHERS) or storage or isinstance(kind, torch.dtype):
        return full
    raise RefusedPickleError(f"it asks for {name if module in ('builtins', '__builtin__') else full}")


def _made(function: Any, arguments: Any) -> tuple[_Thing, int]:
    """What a call makes, and how many numbers a tensor has that it makes."""
    first, rest = (arguments or (None,))[0], arguments[1:]
    if function in TENSORS and first is _Thing.STORAGE and _Thing.TENSOR not in rest and _is_constant(rest[1]):
        return _Thing.TENSOR, math.prod(rest[1])
    if function == PARAMETER and first is _Thing.TENSOR and _Thing.TENSOR not in rest:
        return _Thing.TENSOR, 0
    if function in OTHERS and all(a is _Thing.NEW_DICTIONARY or not isinstance(a, (_Thing, tuple)) for a in arguments):
        return _Thing.OTHER, 0
    raise RefusedPickleError(f"it calls {function} in a way that torch.save does not")


def _is_constant(value: Any) -> bool:
    """Whether numbers and texts are all that there is in something."""
    return value.constant if isinstance(value, _Tuple) else not isinstance(value, _Thing)
