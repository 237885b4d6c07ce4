import numpy as np
import pandas as pd
import pytest

from companion.chapter_04 import reference_ranges


def rows(**columns):
    scores = np.arange(8) / 10
    table = {"model": list("aabbccdd"), "index": [0, 1] * 4, "kind": ["first", "second"] * 4, "score": scores}
    return pd.DataFrame(table | columns)


def test_quantiles_by_kind():
    found = reference_ranges(rows(), ["kind"])
    assert found.loc["first", ["networks", "activations"]].tolist() == [4, 4]
    assert found.loc["second", ["lowest", "median", "highest"]].tolist() == pytest.approx([0.1, 0.4, 0.7])


def test_batches_of_an_activation_count_once():
    once, many = rows(batch=0), pd.concat([rows(batch=0), rows(batch=1).assign(score=lambda t: t["score"] + 0.2)])
    assert reference_ranges(many, ["kind"])["activations"].tolist() == [4, 4]
    shift = reference_ranges(many, ["kind"])["median"] - reference_ranges(once, ["kind"])["median"]
    assert shift.tolist() == pytest.approx([0.1, 0.1])


def test_missing_scores_do_not_count():
    table = rows()
    table.loc[0, "score"] = np.nan
    assert reference_ranges(table, ["kind"]).loc["first", "activations"] == 3
