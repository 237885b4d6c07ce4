"""The options that several commands have: those of a measurement, as the library itself states them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter
from typing import Annotated, Any

import typer

from affscore.options import Execution, Options

MODELS = (
    "a torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or path/to/file.py:factory; "
    "WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, or a file"
)
DATASETS = (
    "digits, random, cifar10, cifar100, fashion-mnist (or one class: cifar10:cat), imagenet:DIR, folder:DIR, "
    "text:FILE[@TOKENIZER], tokens:FILE, ... (the message on an unknown name lists all)"
)

Datasets = Annotated[
    list[str] | None, typer.Option(metavar="S,T", help="Data sets, separated by commas. May be repeated.")
]
Criterion = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Compute these criteria instead (cka,r2,nlc, say), or all; an unknown name is answered with their list.",
    ),
]


def measuring(*omitted: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that measures: its keywords are the options of a measurement.

    Each field of :class:`affscore.options.Options` and :class:`affscore.options.Execution` that has a
    help text becomes an option, with its default.

    Args:
        omitted: Options that the command does not take.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [
            one
            for one in inspect.signature(command, eval_str=True).parameters.values()
            if one.kind != Parameter.VAR_KEYWORD
        ]
        taken = {one.name for one in own} | set(omitted)
        parameters = [*own, *(one for one in _of_a_measurement() if one.name not in taken)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorate


def _of_a_measurement() -> list[Parameter]:
    kinds: dict[str, Any] = {"int": int, "int | None": int | None}  # all others are text, which the library checks
    found = []
    for field in (*fields(Options), *fields(Execution)):
        if "help" in field.metadata:
            kind: Any = bool if isinstance(field.default, bool) else kinds.get(str(field.type), str)
            switch = [f"--{field.name}"] if field.default is False else []
            option = Annotated[kind, typer.Option(*switch, help=field.metadata["help"])]
            found.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=option))
    return found


def help_of(name: str) -> str:
    """What the values of an option may be, without the full stop.

    >>> help_of("order")
    'activate-first or reduce-first'
    """
    return next(str(field.metadata["help"]) for field in fields(Options) if field.name == name).rstrip(".")


def chosen_criteria(some: bool, names: list[str] | None) -> bool | str:
    """What ``--criteria`` and ``--criterion`` say together, as :func:`affscore.signature` takes it.

    >>> chosen_criteria(True, None), chosen_criteria(True, ["cka,nlc", "r2"])
    (True, 'cka,nlc,r2')
    """
    if not names:
        return some
    if not some:
        raise typer.BadParameter("--no-criteria and --criterion contradict each other")
    return ",".join(split(names))


def split(values: list[str] | None) -> list[str]:
    """Names out of lists that are separated by commas.

    >>> split(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for value in values or [] for name in value.split(",") if name.strip()]
