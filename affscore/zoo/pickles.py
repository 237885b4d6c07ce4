"""What a pickle of weights would make, found out without making it."""

from __future__ import annotations

import math
import pickle
import pickletools
from functools import partial
from typing import IO, Any, NoReturn

import torch

from affscore.errors import AffscoreError

TENSORS = ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3")
PARAMETER = "torch._utils._rebuild_parameter"
OTHERS = ("collections.OrderedDict", "collections.Counter", "argparse.Namespace", "torch.device")
"""What training scripts leave in checkpoints beside tensors: epochs, schedules, options."""

DEEPEST = 3
"""How deep torch.save puts tuples into tuples."""

_Interpreter: Any = pickle._Unpickler  # the one in Python, which can be changed


STORAGE, TENSOR = object(), object()
"""In place of what a pickle makes: a storage of numbers, a tensor."""


class _Tuple(tuple[Any, ...]):
    """A tuple of things. How deep it is is found when it is made: a few bytes can repeat it many times."""

    def __init__(self, things: tuple[Any, ...]) -> None:
        self.depth: int = 1 + max((thing.depth for thing in things if isinstance(thing, _Tuple)), default=0)
        if self.depth > DEEPEST:
            raise AffscoreError(f"it has tuples in tuples, more than {DEEPEST} deep")

    def __hash__(self) -> NoReturn:
        raise AffscoreError("it has a dictionary with tuples for keys")


def check_pickle(stream: IO[bytes], most: int) -> None:
    """Whether what a pickle makes is about as large as the pickle and the numbers that are stored beside it.

    ``torch.load(weights_only=True)`` calls no function of others. But one line of a pickle can ask it for
    terabytes: for ``bytearray`` of a number, for a tensor in which a stored number stands for many (stride 0), for the
    ``set`` of such a tensor. So this interprets the pickle with things in the place of tensors, and calls nothing. It
    lets through what :data:`TENSORS`, :data:`PARAMETER` and :data:`OTHERS` make, the latter only of constants and
    dictionaries.

    Args:
        stream: Stands where a pickle begins; afterwards where it ends.
        most: How many numbers its tensors and copied dictionaries may have in all.

    Raises:
        AffscoreError: It asks for anything else.
        Exception: It is no pickle, or a broken one.

    >>> import io
    >>> check_pickle(io.BytesIO(pickle.dumps({"epoch": 3, "loss": [0.1, 0.2]}, protocol=2)), 0)
    >>> check_pickle(io.BytesIO(pickle.dumps(bytearray(3), protocol=2)), 0)
    Traceback (most recent call last):
    affscore.errors.AffscoreError: it asks for bytearray
    """
    _Reader(stream, most).load()


class _Reader(_Interpreter):
    """The interpreter of pickles, which makes things in the place of tensors, and empty dictionaries of the rest."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        super().__init__(stream, encoding="latin-1")
        self.numbers, self.most = 0, most

    def find_class(self, module: str, name: str) -> str:
        """The full name of a class or function, if a pickle of weights may speak of it."""
        full = f"{module}.{name}"
        kind = getattr(torch, name, None) if module == "torch" else None
        storage = module in ("torch", "torch.storage", "torch.cuda") and name.endswith("Storage")
        if full in (*TENSORS, PARAMETER, *OTHERS) or storage or isinstance(kind, torch.dtype):
            return full
        raise AffscoreError(f"it asks for {name if module in ('builtins', '__builtin__') else full}")

    def persistent_load(self, pid: Any) -> object:
        """A storage, which is named by constants."""
        if not all(_is_constant(part) or (isinstance(part, tuple) and all(map(_is_constant, part))) for part in pid):
            raise AffscoreError("it names a storage in a way that torch.save does not")
        return STORAGE

    def count(self, numbers: int) -> None:
        """Add so many numbers to those that would be made."""
        self.numbers += abs(numbers)
        if self.numbers > self.most:
            raise AffscoreError(f"it speaks of {self.numbers} numbers, far more than it holds")

    def load_call(self) -> None:
        """What a call makes, and how many numbers a tensor has that it makes, or how large a copied dictionary is."""
        arguments, function = self.stack.pop(), self.stack.pop()
        first, rest = (arguments or (None,))[0], arguments[1:]
        made: object = TENSOR
        if function in TENSORS and first is STORAGE and TENSOR not in rest and _are_sizes(rest[1]):
            self.count(math.prod(rest[1]))
        elif function in OTHERS and all(_is_constant(a) or isinstance(a, dict) for a in arguments):
            made = {}
            self.count(sum(len(a) for a in arguments if isinstance(a, (dict, str))))
        elif function != PARAMETER or first is not TENSOR or TENSOR in rest:
            named = function if isinstance(function, str) else "something"  # what it holds may be long in print
            raise AffscoreError(f"it calls {named} in a way that torch.save does not")
        self.stack.append(made)

    def load_build(self) -> None:
        """The attributes of what was made last, which are copied from a dictionary."""
        state = self.stack.pop()
        if not isinstance(state, dict) or not isinstance(self.stack[-1], dict):
            raise AffscoreError("it sets attributes in a way that torch.save does not")
        self.count(len(state))


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, str))


def _are_sizes(shape: Any) -> bool:
    return isinstance(shape, tuple) and all(isinstance(size, int) for size in shape)


def _load_tuple(load: Any, reader: _Reader) -> None:
    load(reader)
    reader.stack[-1] = _Tuple(reader.stack[-1])


_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}


class _Dispatch(dict[int, Any]):
    """What is done at each opcode; all others are refused, since some take memory before they read (BYTEARRAY8)."""

    def __missing__(self, code: int) -> NoReturn:
        raise AffscoreError(f"it uses {_NAMES[code]}, which torch.save does not")


def _codes(*names: str) -> list[int]:
    return [getattr(pickle, name)[0] for name in names]


_PLAIN = _codes("PROTO", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1",
                "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING", "GLOBAL", "BINPERSID", "BINPUT", "LONG_BINPUT", "BINGET",
                "LONG_BINGET", "EMPTY_DICT", "EMPTY_LIST", "SETITEM", "SETITEMS", "APPEND", "APPENDS")  # fmt: skip
"""What torch.save writes beside tuples and calls."""

_TUPLES = _codes("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3")
_Reader.dispatch = _Dispatch(
    {code: _Interpreter.dispatch[code] for code in _PLAIN}
    | {code: partial(_load_tuple, _Interpreter.dispatch[code]) for code in _TUPLES}
    | dict.fromkeys(_codes("REDUCE", "NEWOBJ"), _Reader.load_call)
    | dict.fromkeys(_codes("BUILD"), _Reader.load_build)
)
