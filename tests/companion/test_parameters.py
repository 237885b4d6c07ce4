from __future__ import annotations

from typing import Any

import pytest

from affscore import AffscoreError
from companion.parameters import check_parameters

DECLARED = {
    "model": str,
    "n": int,
    "rate": float,
    "images": int | None,
    "criteria": bool,
    "models": list[str],
    "options": dict[str, int],
}
GOOD = {
    "model": "resnet18",
    "n": 512,
    "rate": 0.1,
    "images": None,
    "criteria": True,
    "models": ["a", "b"],
    "options": {"a": 1},
}


def check(**values: Any) -> None:
    check_parameters({"__annotations__": DECLARED, **GOOD, **values})


def test_declared_values_pass() -> None:
    check()
    check(images=7)
    check(rate=1)
    check(models=[])


def test_what_is_not_a_parameter_is_passed_over() -> None:
    check(_hidden=1, In=["code"], Out={1: 2}, pytest=pytest, function=check, Class=int)


@pytest.mark.parametrize("value", ["x", 1, 1.5, True, None, [1], {"a": 1}])
def test_an_undeclared_value_is_refused(value: Any) -> None:
    with pytest.raises(AffscoreError, match=r"no parameter 'modle' \(did you mean 'model' or 'models'\?\)"):
        check(modle=value)


def test_the_message_lists_what_is_declared() -> None:
    with pytest.raises(AffscoreError, match="no parameter 'zzz'; it declares: model, n, rate, images"):
        check(zzz=1)


def test_a_notebook_without_parameters_refuses_all() -> None:
    check_parameters({})
    with pytest.raises(AffscoreError, match="no parameter 'n'; it declares: none"):
        check_parameters({"n": 1})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("n", "many", "must be int, got str 'many'"),
        ("n", 1.5, "must be int, got float 1.5"),
        ("n", True, "must be int, got bool True"),
        ("rate", True, "must be float, got bool True"),
        ("criteria", 1, "must be bool, got int 1"),
        ("model", None, "must be str, got NoneType None"),
        ("images", "all", r"must be int \| None, got str 'all'"),
        ("models", "a,b", r"must be list\[str\], got str 'a,b'"),
        ("models", ["a", 1], r"must be list\[str\], got list"),
        ("options", {"a": "b"}, r"must be dict\[str, int\], got dict"),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any, expected: str) -> None:
    with pytest.raises(AffscoreError, match=f"parameter '{name}' {expected}"):
        check(**{name: value})


def test_a_declaration_without_a_value_is_no_error() -> None:
    check_parameters({"__annotations__": {"n": int}})
