"""The options that several commands have: those of a measurement, as the library itself states them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from inspect import Parameter
from pathlib import Path
from typing import Any

import typer
from typer import Option

from affscore.options import Execution, Options

MODELS = (
    "a torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or path/to/file.py:factory; "
    "WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, or a file"
)
DATASETS = (
    "digits, random, cifar10, cifar100, fashion-mnist (or one class: cifar10:cat), imagenet:DIR, folder:DIR, "
    "text:FILE[@TOKENIZER], tokens:FILE, ... (the message on an unknown name lists all)"
)

# all others are text, which the library checks
_KINDS: dict[str, Any] = {"int": int, "int | None": int | None}


def names(metavar: str, help: str, *flags: str, default: Sequence[str] = ()) -> Any:
    """An option that takes names separated by commas, and may be repeated; its value is the list of all names."""
    return Option(list(default), *flags, metavar=metavar, help=help, callback=split)


def several(name: str, more: str) -> Any:
    """The option of a measurement that takes several values at once; its value is their list."""
    field = Options.__dataclass_fields__[name]
    text = f"{field.metadata['help'].rstrip('.')}, {more}."
    return names(f"{name[0].upper()},...", text, f"--{name}", f"--{name}s", default=[str(field.default)])


def output(help: str, *endings: str) -> Any:
    """An option that takes a file to write; that it can be written is found out before anything is computed."""

    def check(path: Path | None) -> Path | None:
        from affscore.zoo.paths import check_destination

        return path if path is None else check_destination(path, endings)

    return Option(None, metavar="FILE", help=help, callback=check)


def split(values: list[str]) -> list[str]:
    """Names out of lists that are separated by commas.

    >>> split(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


DATASETS_BY_COMMAS = names("S,T", "Data sets, separated by commas. May be repeated.")
BIAS = Option("none", help="none, or extrapolated: scores of a multiverse that are corrected for a finite n, too.")
CRITERION = names(
    "NAME,...", "Compute these criteria instead (cka,r2,nlc, say), or all; an unknown name is answered with their list."
)


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
                kind = bool if isinstance(field.default, bool) else _KINDS.get(str(field.type), str)
                flags = [f"--{field.name}"] if field.default is False else []  # no --no-whole
                option = Option(field.default, *flags, help=field.metadata["help"])
                parameters[field.name] = Parameter(field.name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)
        command.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
        command.__annotations__ = {name: one.annotation for name, one in parameters.items()}
        return command

    return decorate


def chosen_criteria(some: bool, names: list[str]) -> bool | str:
    """What ``--criteria`` and ``--criterion`` say together, as :func:`affscore.signature` takes it.

    >>> chosen_criteria(True, []), chosen_criteria(True, ["cka", "nlc"])
    (True, 'cka,nlc')
    """
    if names and not some:
        raise typer.BadParameter("--no-criteria and --criterion contradict each other")
    return ",".join(names) or some
