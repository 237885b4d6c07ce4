from __future__ import annotations

from typing import Any

import pytest

from affscore import AffscoreError
from companion.parameters import check_parameters

PARAMETERS = {
    "model": (str, "resnet18"),
    "n": (int, 512),
    "rate": (float, 0.1),
    "images": (int | None, None),
    "criteria": (bool, True),
    "models": (list[str], ["a", "b"]),
    "options": (dict[str, int], {"a": 1}),
}
DECLARED, GOOD = ({name: both[which] for name, both in PARAMETERS.items()} for which in (0, 1))


def check(**values: Any) -> None:
    check_parameters({"__annotations__": DECLARED, **GOOD, **values})


def test_declared_values_pass_and_what_is_no_parameter_is_passed_over() -> None:
    check()
    check(images=7, rate=1, models=[])
    check(_hidden=1, In=["code"], Out={1: 2}, pytest=pytest, function=check, Class=int)
    check_parameters({})
    check_parameters({"__annotations__": {"n": int}})  # a declaration without a value


@pytest.mark.parametrize("value", ["x", 1, None, [1]])
def test_an_undeclared_value_is_refused(value: Any) -> None:
    with pytest.raises(AffscoreError, match=r"no parameter 'modle' \(did you mean 'model' or 'models'\?\)"):
        check(modle=value)
    with pytest.raises(AffscoreError, match="no parameter 'zzz'; it declares: model, n, rate, images"):
        check(zzz=value)
    with pytest.raises(AffscoreError, match="no parameter 'n'; it declares: none"):
        check_parameters({"n": value})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("n", "many", "must be int, got str 'many'"),
        ("n", True, "must be int, got bool True"),
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
