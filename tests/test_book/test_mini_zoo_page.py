"""What the page on the mini zoo says in words is what the records of the small networks say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import affscore
from affscore.survey.store import Store
from affscore.zoo import hard_task, list_models

ZOO = Path(affscore.zoo.__file__).parent
HARD = {about["name"]: about["job"] for about in Store(ZOO / "hard_task").descriptions().values()}


@pytest.fixture(scope="module")
def models() -> pd.DataFrame:
    return list_models().set_index("name")


def records(name: str) -> dict[str, dict[str, Any]]:
    digits = json.loads((ZOO / "weights" / f"{name}.json").read_text())
    return {"digits": digits["recipe"], "hard": HARD[name]["recipe"]}


def test_recipes(models: pd.DataFrame) -> None:
    recipes = pd.DataFrame({name: records(name) for name in models.index}).T
    digits, hard = (pd.DataFrame(recipes[task].tolist(), index=recipes.index) for task in ("digits", "hard"))
    assert (set(digits["batch_size"]), set(hard["batch_size"])) == ({64}, {20})
    both = pd.concat([digits[["epochs", "rate"]], hard[["epochs", "rate"]]], axis=1, ignore_index=True)
    usual = both.groupby(models["family"]).agg(lambda values: values.mode().iloc[0]).loc[models["family"]]
    other = (both.to_numpy() != usual.to_numpy()).any(axis=1)
    assert other.sum() <= 4, "members of a family nearly always share their recipe"


def test_the_digits_saturate_and_the_hard_task_does_not(models: pd.DataFrame) -> None:
    apart = (models["accuracy"] - models["accuracy"].mean()).abs() / models["accuracy_standard_error"]
    assert (apart <= 2).mean() > 0.75
    means = hard_task().groupby("name")["accuracy"].mean()
    assert means.std() > 10 * models["accuracy"].std()
