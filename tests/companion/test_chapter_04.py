import numpy as np
import pandas as pd
import pytest

from companion.chapter_04 import reference_ranges


def test_ranges_by_kind_count_each_activation_once_and_leave_out_what_is_missing():
    scores = np.append(np.arange(8) / 10, np.nan)
    table = {"model": list("aabbccdde"), "index": [0, 1] * 4 + [0], "kind": ["first", "second"] * 4 + ["first"]}
    rows = pd.DataFrame(table | {"score": scores, "batch": 0})
    found = reference_ranges(pd.concat([rows, rows.assign(batch=1, score=scores + 0.2)]), ["kind"])
    assert found.loc["first", ["networks", "activations"]].tolist() == [4, 4]
    assert found.loc["second", ["lowest", "median", "highest"]].tolist() == pytest.approx([0.2, 0.5, 0.8])
