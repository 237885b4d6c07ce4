"""Studies: many results in one table, and back."""

import numpy as np
import pandas as pd
import pytest

import affscore
from affscore.errors import AffscoreError
from affscore.options import Specification
from companion import studies
from companion.studies import COLUMNS, load_studies, load_study, signatures_of, study_of, under


@pytest.fixture(scope="module")
def multiverse():
    return affscore.multiverse("mini:digitsnet", "digits", n=128, images=256)


@pytest.fixture(scope="module")
def signature():
    return affscore.signature("mini:digitsnet", "digits", n=128, images=256, criteria="cka")


def test_the_spread_is_that_over_the_batches(multiverse):
    rows = under(study_of([multiverse])).set_index("index")
    batches = multiverse.signature().table.pivot_table(index="batch", columns="index", values="score")
    assert rows["score_std"].to_numpy() == pytest.approx(batches.std().to_numpy())
    assert rows["mean_std"].to_numpy() == pytest.approx(batches.mean(axis=1).std())


@pytest.mark.slow
def test_a_multiverse_has_a_row_for_each_activation_and_specification_and_comes_back(multiverse, signature):
    table = study_of([multiverse])
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 9 * 12
    assert set(table["batches"]) == {2}
    assert table["accuracy"].between(0.9, 1).all()
    for choice in multiverse.choices:
        (found,) = signatures_of(table, choice)
        assert under(table, choice)["score"].tolist() == found.scores.tolist() == multiverse.scores[choice].tolist()
        assert found.summary["kind"].tolist() == signature.summary["kind"].tolist()
        assert found.metadata["coupling"] == choice.coupling
    assert signatures_of(table, Specification("flatten")) == []
    both = study_of([multiverse, affscore.multiverse("mini:alexnet", "digits", n=128, images=256)])
    assert [one.metadata["model"] for one in signatures_of(both)] == ["mini:digitsnet", "mini:alexnet"]


def test_all_studies_are_of_their_columns():
    found = load_studies()
    assert {path.stem for path in studies.STUDIES.glob("*.parquet")} == set(found)
    for name, table in found.items():
        if name.endswith("-paths"):  # of linear regions, which have no score
            assert {"path", "segment", "crossings", "absolute_deviation"} <= set(table), name
            continue
        if "omega" in table:  # of slopes that are pulled to 1, which have other scores
            assert {"network", "task", "seed", "accuracy"} <= set(table), name
            assert table["accuracy"].between(0, 1).all(), name
            continue
        assert table["score"].dropna().between(0, 1).all(), name
        if name.endswith("-positions"):  # of a text, which are measured in one way
            assert {"position", "covariance", "index", "layer"} <= set(table), name
            continue
        assert {*Specification._fields, "index", "score"} <= set(table), name
        assert not under(table, Specification(coupling="paired")).empty, name


def test_a_study_is_a_plain_table(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "STUDIES", tmp_path)
    pd.DataFrame({"score": np.linspace(0, 1, 3)}).to_parquet(tmp_path / "mine.parquet")
    assert load_study("mine")["score"].tolist() == [0.0, 0.5, 1.0]
    assert list(load_studies()) == ["mine"]
    with pytest.raises(AffscoreError, match=r"no study .* is called 'mind'; there are: mine"):
        load_study("mind")
