"""Wrong tables, matrices and numbers end in one sentence, whichever function they are given to."""

import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from companion import analysis, papers
from companion.analysis.tables import check_columns, distances_between, numbers_of

NAMES = list("abcd")
DISTANCES = pd.DataFrame(np.abs(np.subtract.outer([0.0, 1, 5, 9], [0.0, 1, 5, 9])), NAMES, NAMES)
FAMILIES = ["u", "u", "v", "v"]
SIGNATURES = {"vgg11": [0.5, 0.6], "resnet18": [0.4, 0.8], "densenet121": [0.4, 0.7], "vit_b_16": [0.2, 0.3]}
GROUP = pd.DataFrame(
    {
        "group": "G",
        "family": ["a"] * 3 + ["b"] * 3,
        "accuracy": range(6),
        "mean": [1.0, 3, 2, 5, 4, 6],
        "depth": range(6),
    }
)
TREE = analysis.linkage(DISTANCES)


@pytest.mark.parametrize("measure", [analysis.family_agreement, analysis.nearest_neighbour_accuracy])
@pytest.mark.parametrize("count", [0, -5, 2.5, True, None])
def test_permutations_are_a_positive_whole_number(measure, count):
    with pytest.raises(AffscoreError, match="number of permutations must be an integer of at least 1"):
        measure(DISTANCES, FAMILIES, permutations=count)


def test_permutations_of_other_tests():
    for call in (
        lambda: analysis.best_fit_test(GROUP, ["mean"], permutations=-1),
        lambda: analysis.trend([1, 2, 3, 4], [1, 2, 3, 5], resamples=0),
    ):
        with pytest.raises(AffscoreError, match="number of permutations"):
            call()


@pytest.mark.parametrize(
    "use",
    [
        lambda wrong: analysis.linkage(wrong),
        lambda wrong: analysis.leaf_order(wrong, TREE),
        lambda wrong: analysis.family_agreement(wrong, FAMILIES, permutations=9),
        lambda wrong: analysis.nearest_neighbour_accuracy(wrong, FAMILIES, permutations=9),
        lambda wrong: analysis.per_step(wrong, {key: [0.5] for key in NAMES}),
    ],
    ids=["linkage", "order", "agreement", "relatives", "per_step"],
)
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d * np.nan, "finite and not negative, got nan"),
        (lambda d: d.replace(9.0, np.inf), "finite and not negative, got inf"),
        (lambda d: -d, "finite and not negative, got -"),
        (lambda d: d.mask(d == 9, 8.0).where(~np.tril(np.ones((4, 4), bool)), d), "symmetric"),
        (lambda d: d + 1, "zeros on the diagonal"),
        (lambda d: d.iloc[:, :3], "at least two networks"),
        (lambda d: d.rename(columns={"a": "z"}), "the same names in rows and columns"),
        (lambda d: d.astype(object).replace(9.0, "far"), "must hold numbers, got 'far'"),
        (lambda d: d.to_numpy(), "expected a table of distances"),
    ],
    ids=["nan", "infinite", "negative", "asymmetric", "diagonal", "not-square", "names", "words", "array"],
)
def test_what_is_no_matrix_of_distances(use, change, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        use(change(DISTANCES))


def test_distances_are_numbers_as_they_are():
    np.testing.assert_array_equal(distances_between(DISTANCES), DISTANCES.to_numpy())


def test_the_tree_of_other_networks():
    few = DISTANCES.loc[["a", "b", "c"], ["a", "b", "c"]]
    for call in (lambda: analysis.leaf_order(few, TREE), lambda: analysis.clusters(TREE, ["a", "b", "c"], 2)):
        with pytest.raises(AffscoreError, match="the clustering of 3 networks has 2 joins"):
            call()
    with pytest.raises(AffscoreError, match=r"1 to 4 clusters, got 2\.7"):
        analysis.clusters(TREE, NAMES, 2.7)


@pytest.mark.parametrize("measure", [analysis.family_agreement, analysis.nearest_neighbour_accuracy])
def test_a_network_without_a_family(measure):
    with pytest.raises(AffscoreError, match="a network has no family"):
        measure(DISTANCES, ["u", "u", None, None], permutations=9)


HISTORY = papers.history(SIGNATURES)
WORDS = GROUP.assign(accuracy="good")


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: analysis.trends(HISTORY, ["nope"]), "no column 'nope'"),
        (lambda: analysis.trends(HISTORY, "min"), "a list of columns, got the text 'min'"),
        (lambda: analysis.trends(pd.DataFrame()), "no column 'min'; it has no columns at all"),
        (lambda: analysis.trends([1, 2]), "expected a table"),
        (lambda: analysis.trend([2012, 2013, 2014, 2015], [1, 2, 3, np.inf]), "finite"),
        (lambda: analysis.best_explained(pd.DataFrame()), "no column 'group'"),
        (lambda: analysis.explained_accuracy(WORDS, ["mean"]), "'accuracy' must hold numbers, got 'good'"),
        (lambda: analysis.best_fit_test(WORDS, ["mean"]), "'accuracy' must hold numbers, got 'good'"),
        (lambda: analysis.best_fit_test(GROUP, ["mean"], strata="design"), "no column 'design'"),
        (lambda: analysis.best_fit_lead(GROUP, ["mean"], ["size"]), "no column 'size'"),
        (lambda: analysis.best_fit_tests(GROUP, ["max"]), "no column 'max'"),
        (lambda: analysis.between_families(GROUP[["accuracy"]]), "no column 'family'"),
        (lambda: analysis.sign_counts(GROUP), "no column 'criterion'"),
        (lambda: analysis.family_correlations(GROUP, {}), "no column 'model'"),
        (lambda: papers.history([[0.1, 0.2]]), r"signatures by name \(a dict\), got list"),
        (lambda: papers.history({}), "at least one signature"),
        (lambda: analysis.rarefied_range([0.1, np.nan, 0.3], 2), "no score for 1 of 3"),
        (lambda: papers.network_table([5]), "by their names, got 5"),
        (lambda: papers.network_table("resnet18"), r"write \['resnet18'\]"),
        (lambda: analysis.independent_p_value(np.nan, 5, 7), "at most 1, got nan"),
        (lambda: analysis.independent_p_value(2.0, 5, 7), "at most 1, got 2"),
        (lambda: analysis.independent_lead(1.5, 5, 7, 3), r"in \[-1, 1\], got 1.5"),
        (lambda: analysis.criterion_correlations([GROUP]), "by its name, got list"),
        (lambda: analysis.criterion_values(5), "a column 'score'"),
    ],
)
def test_wrong_input_is_one_sentence(call, complaint):
    with pytest.raises(AffscoreError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_table_without_rows_has_no_best():
    assert analysis.best_explained(analysis.explained_accuracy(GROUP.iloc[:0], ["mean"])).empty


def test_missing_numbers_stay_missing():
    table = pd.DataFrame({"accuracy": [1, None, 3]}, dtype=object)
    assert numbers_of(table, ["accuracy"])["accuracy"].isna().tolist() == [False, True, False]
    check_columns(table, ["accuracy"])
