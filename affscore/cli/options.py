"""The options that several commands have: those of a measurement, as the library itself states them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from inspect import Parameter
from pathlib import Path
from typing import Any

from typer import Option

from affscore.options import Execution, Options

MODELS = (
    "a torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or path/to/file.py:factory; "
    "WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, or a file"
)
DATASETS = (
    "digits, cifar10, cifar100, fashion-mnist, random, imagenet:DIR, folder:DIR, npz:FILE, text:FILE, tokens:FILE; "
    "digits:3, cifar10:cat, ... for one class; text:FILE@TOKENIZER"
)


def split(values: list[str]) -> list[str]:
    """Names out of lists that are separated by commas.

    >>> split(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def names(metavar: str, help: str, *flags: str, default: Sequence[str] = ()) -> Any:
    """An option that takes names separated by commas, and may be repeated; its value is the list of all names."""
    return Option(list(default), *flags, metavar=metavar, help=help, callback=split)


def several(name: str, more: str) -> Any:
    """The option of a measurement that takes several values at once; its value is their list."""
    field = Options.__dataclass_fields__[name]
    text = f"{field.metadata['help'].rstrip('.')}, {more}."
    return names(f"{name[0].upper()},...", text, f"--{name}", f"--{name}s", default=[str(field.default)])


def output(what: str, *endings: str) -> Any:
    """An option that takes a file to write; that it can be written is found out before anything is computed."""

    def check(path: Path | None) -> Path | None:
        from affscore.models.naming import check_destination

        return path if path is None else check_destination(path, endings)

    return Option(None, metavar="FILE", help=f"Write {what} to this file ({', '.join(endings)}).", callback=check)


SPECS = names("S,T", f"Data sets, separated by commas: {DATASETS}.", "--datasets", "--dataset", default=["digits"])
BIAS = Option("none", help="none, or extrapolated: scores of a multiverse that are corrected for a finite n, too.")
CRITERIA = names("NAME,...", "Criteria (cka,nlc, say), all or none; a wrong name lists them. [default: tables 1 and 2]")


def measuring(*omitted: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that measures: its keywords are the options of a measurement.

    Each field of :class:`affscore.options.Options` and :class:`affscore.options.Execution` that has a
    help text becomes an option, with its default.

    Args:
        omitted: Options that the command does not take.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = dict(inspect.signature(command, eval_str=True).parameters)
        del parameters["chosen"]
        for field in (*fields(Options), *fields(Execution)):
            if "help" in field.metadata and field.name not in (*parameters, *omitted):
                # all others are text, which the library checks
                kind = int if str(field.type).startswith("int") else str
                option = Option(field.default, help=field.metadata["help"])
                parameters[field.name] = Parameter(field.name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)
        command.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
        command.__annotations__ = {name: one.annotation for name, one in parameters.items()}
        return command

    return decorate


def chosen_criteria(names: Sequence[str]) -> bool | Sequence[str]:
    """What ``--criteria`` says, as :func:`affscore.signature` takes it.

    >>> chosen_criteria([]), chosen_criteria(["none"]), chosen_criteria(["cka", "nlc"])
    (True, False, ['cka', 'nlc'])
    """
    return not names or (list(names) != ["none"] and names)
