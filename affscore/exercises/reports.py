"""What a student hands in: the answers of a session as JSON, with the source of functions and weights of networks."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import affscore
from affscore.errors import AffscoreError, os_errors
from affscore.exercises.answers import raised
from affscore.exercises.registry import CHECKED
from affscore.exercises.sources import NAME, NotKeptError, source_of

FORMAT = 1
LARGEST_ANSWER = 4_000_000
"""Characters of JSON that one answer may take."""

LARGEST_REPORT = 40_000_000
"""Bytes of a file."""

FEW_NUMBERS = 200
"""An array of so many stands in the file as a list, which one can read; a larger one as the bytes of a .npy file."""


@dataclass(frozen=True)
class Report:
    """What was handed in.

    Attributes:
        student: A name, or whatever the teacher wants to see in the table.
        answers: By exercise: "answer", or "not kept" with the reason, and what the check "said" in the session.
        written: When.
        file: Where it lies.
    """

    student: str
    answers: dict[str, dict[str, Any]]
    written: str
    file: Path

    def __repr__(self) -> str:
        lines = [f"{len(self.answers)} answers of {self.student or 'a student without a name'} are in {self.file}:"]
        for number, row in self.answers.items():
            problem = f" (NOT in the file: {row['not kept']})" if "not kept" in row else ""
            lines.append(f"  {number}: {'right' if row['said'].startswith('Right!') else 'not yet'}{problem}")
        return "\n".join(lines)


def report(student: str = "", file: str | Path | None = None) -> Report:
    """Write the answers that were checked in this session to a file, which a student hands in.

    Of each exercise it takes the last answer that was right, or else the last. Kept are numbers, arrays, lists and
    tuples, functions and classes (their source, and what they use), and networks (their weights) that are built of the
    classes of torch, torchvision and affscore or of such. The result says what is not kept, and why: other objects,
    functions that use such, and what takes more than 4 MB. Answers that are in the file already stay, so that one file
    grows over several notebooks.

    Args:
        student: The name that the teacher sees.
        file: Where to write; without it answers-NAME.json, beside the notebook.

    Raises:
        AffscoreError: Nothing was checked yet, or the file cannot be written, or is of another student.
    """
    if not CHECKED:
        raise AffscoreError("there is no answer to hand in yet; answer an exercise, and run the cell that checks it")
    words = re.sub(r"\W+", "-", student.lower()).strip("-")
    path = Path(file) if file is not None else Path("-".join(["answers", *([words] if words else [])]) + ".json")
    before = read_report(path) if path.exists() else None
    if before is not None and before.student != student:
        raise AffscoreError(f"{path} is a report of {before.student!r}, not of {student!r}: give another file")
    answers = dict(before.answers if before else {})
    for number, (answer, verdict) in CHECKED.items():
        answers[number] = {**_kept(answer), "said": repr(verdict)}
    answers = {number: answers[number] for number in sorted(answers, key=_in_order)}
    found = Report(student, answers, datetime.now(UTC).isoformat(timespec="seconds"), path)
    content = {"format": FORMAT, "student": student, "affscore": affscore.__version__, "written": found.written}
    with os_errors(lambda reason: f"{path} cannot be written ({reason})"):
        path.write_text(json.dumps(content | {"answers": answers}, indent=1, ensure_ascii=False), encoding="utf-8")
    return found


def read_report(file: Path) -> Report:
    """Read a file that :func:`report` wrote; no answer in it is executed.

    Raises:
        AffscoreError: It is no such file.
    """
    with os_errors(lambda reason: f"{file} cannot be read ({reason})"):
        if file.stat().st_size > LARGEST_REPORT:
            raise AffscoreError(f"{file.name} has more than {LARGEST_REPORT // 10**6} MB, and no report has")
        text = file.read_bytes()
    try:
        content = json.loads(text)
        rows = {str(number): dict(row) for number, row in content["answers"].items()}
        said = all(isinstance(row.get("said"), str) and ("answer" in row or "not kept" in row) for row in rows.values())
        if content["format"] != FORMAT or not said:
            raise TypeError("another format")
        return Report(str(content["student"]), rows, str(content["written"]), file)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as reason:
        raise AffscoreError(f"{file.name} is no report of affscore.exercises.report ({raised(reason)})") from reason


def encode(answer: Any) -> Any:
    """An answer as JSON.

    Raises:
        NotKeptError: It is of a kind that is not kept.

    >>> encode((0.5, np.arange(2)))
    {'tuple': [0.5, {'array': [0, 1], 'dtype': 'int64'}]}
    """
    if answer is None or isinstance(answer, bool | int | str):
        return answer
    if isinstance(answer, nn.Module):
        return _network(answer)
    if isinstance(answer, torch.Tensor):
        answer = answer.detach().cpu().numpy()
    if isinstance(answer, pd.Series | pd.DataFrame | np.generic):
        answer = np.asarray(answer)
    if isinstance(answer, np.ndarray):
        return _array(answer)
    if isinstance(answer, list):
        return [encode(part) for part in answer]
    if isinstance(answer, tuple):
        return {"tuple": [encode(part) for part in answer]}
    if isinstance(answer, dict):
        return {"dict": [[encode(key), encode(part)] for key, part in answer.items()]}
    if isinstance(answer, Real) or (hasattr(answer, "__float__") and not callable(answer)):  # a score, too
        number = float(answer)
        return number if math.isfinite(number) else {"float": str(number)}
    return {"function": source_of(answer)}


def decode(kept: Any) -> Any:
    """The answer that :func:`encode` wrote. It executes the code of functions and networks."""
    if isinstance(kept, list):
        return [decode(part) for part in kept]
    if not isinstance(kept, dict):
        return kept
    (kind, value), *_ = kept.items()
    kinds: dict[str, Callable[[Any], Any]] = {
        "tuple": lambda parts: tuple(map(decode, parts)),
        "dict": lambda pairs: {decode(key): decode(part) for key, part in pairs},
        "float": float,
        "array": lambda entries: np.array(entries, dtype=np.dtype(kept["dtype"])),
        "npy": lambda text: np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False),
        "function": lambda source: executed(source)[NAME],
        "network": lambda text: _load(base64.b64decode(text), kept["classes"]),
    }
    if kind not in kinds:
        raise AffscoreError(f"the report has an answer of an unknown kind, {kind!r}")
    return kinds[kind](value)


def executed(source: str) -> dict[str, Any]:
    """The names that code defines."""
    names: dict[str, Any] = {"__name__": "answer_of_a_student"}
    exec(compile(source, "<answer>", "exec", dont_inherit=True), names)
    return names


def _kept(answer: Any) -> dict[str, Any]:
    try:
        kept = encode(answer)
        if len(json.dumps(kept)) > LARGEST_ANSWER:
            raise NotKeptError(f"it takes more than {LARGEST_ANSWER // 10**6} MB")
    except NotKeptError as reason:
        return {"not kept": str(reason)}
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # noqa: BLE001  # whatever an object does when it is looked at
        return {"not kept": raised(reason)}
    return {"answer": kept}


def _array(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind not in "biufU":
        raise NotKeptError(f"it is an array of {array.dtype}, not of numbers")
    if array.nbytes > LARGEST_ANSWER:  # one number can stand for many in memory, and a copy would not
        raise NotKeptError(f"it takes more than {LARGEST_ANSWER // 10**6} MB")
    if 0 < array.size <= FEW_NUMBERS and (array.dtype.kind in "biuU" or np.isfinite(array).all()):
        return {"array": array.tolist(), "dtype": array.dtype.str if array.dtype.kind == "U" else array.dtype.name}
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return {"npy": base64.b64encode(file.getvalue()).decode()}


def _network(network: nn.Module) -> Any:
    """The weights of a network, with the source of its classes where these are the student's."""
    size = sum(tensor.numel() * tensor.element_size() for tensor in [*network.parameters(), *network.buffers()])
    if size > LARGEST_ANSWER:
        raise NotKeptError(f"its weights take more than {LARGEST_ANSWER // 10**6} MB")
    file = io.BytesIO()
    torch.save(network, file)
    classes = {}
    for name in torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue())):
        if _known_class(name) is None:
            own = [type(module) for module in network.modules() if _name_of(type(module)) == name]
            if not own:
                raise NotKeptError(f"it holds {name}, which is no class of a network")
            classes[name] = source_of(own[0])
    return {"network": base64.b64encode(file.getvalue()).decode(), "classes": classes}


def _load(file: bytes, classes: dict[str, str]) -> nn.Module:
    """A network, from its file and the source of its classes; nothing else that the file names is called."""
    own = [(executed(source)[NAME], name) for name, source in classes.items()]
    named = torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file))
    known = [found for name in named if (found := _known_class(name)) is not None]
    with torch.serialization.safe_globals([*known, *own]):
        return torch.load(io.BytesIO(file), weights_only=True)


def _known_class(name: str) -> Any:
    """A class of networks in an installed package, or a set, by its full name."""
    module, _, last = name.rpartition(".")
    if name == "builtins.set":
        return set
    if module.partition(".")[0] not in ("torch", "torchvision", "affscore"):
        return None
    try:
        found = getattr(__import__(module, fromlist=[last]), last, None)
    except ImportError:
        return None
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _in_order(number: str) -> list[int]:
    return [int(part) if part.isdigit() else 0 for part in number.split(".")]
