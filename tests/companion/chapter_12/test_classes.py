import numpy as np
import pandas as pd
import pytest

from affscore import AffscoreError
from companion.chapter_12.measurements import _squares, class_effects


def study(classes, draws, model="net"):
    """Rows of scores, (classes, activations) and (subsets, activations)."""
    signatures = [(f"digits:{number}", 0, scores) for number, scores in enumerate(classes)]
    signatures += [("digits", number, scores) for number, scores in enumerate(draws, 1)]
    rows = [(model, data, draw, i, score) for data, draw, scores in signatures for i, score in enumerate(scores)]
    return pd.DataFrame(rows, columns=["model", "dataset", "draw", "index", "score"])


def drawn(classes=10, draws=49, activations=6, shift=(), seed=0):
    """Random scores; those of classes vary more in the activations that ``shift`` names, by so much."""
    generator = np.random.default_rng(seed)
    scores = 0.6 + generator.normal(0, 0.01, (classes + draws, activations))
    for index, more in dict(shift).items():
        scores[:classes, index] += generator.normal(0, more, classes)
    return scores[:classes], scores[classes:]


def test_ratios_are_what_the_formula_says():
    classes, draws = drawn(shift={2: 0.05})
    found = class_effects(study(classes, draws))["net"]
    apart = ((classes - draws.mean(axis=0)) ** 2).mean(axis=0)
    np.testing.assert_allclose(found.layers["ratio"], np.sqrt(apart / draws.var(axis=0, ddof=1)))
    assert found.ratio == pytest.approx(np.sqrt(apart.sum() / draws.var(axis=0, ddof=1).sum()))
    np.testing.assert_allclose(found.layers["change"], classes.mean(axis=0) - draws.mean(axis=0))
    assert found.change == pytest.approx(classes.mean() - draws.mean())
    np.testing.assert_allclose(found.distances, np.linalg.norm(classes - draws.mean(axis=0), axis=1))
    assert found.distances.index.tolist() == [f"digits:{number}" for number in range(10)]
    others = np.array([np.delete(draws, row, axis=0).mean(axis=0) for row in range(len(draws))])
    np.testing.assert_allclose(found.chance, np.linalg.norm(draws - others, axis=1))


def test_squares_of_a_permutation_against_a_loop():
    generator = np.random.default_rng(1)
    values, chosen = generator.normal(size=(12, 3)), generator.permuted(np.tile(np.arange(12) < 4, (5, 1)), axis=1)
    apart, spread = _squares(values, chosen)
    for row, members in enumerate(chosen):
        rest = values[~members]
        np.testing.assert_allclose(apart[row], ((values[members] - rest.mean(axis=0)) ** 2).mean(axis=0))
        np.testing.assert_allclose(spread[row], rest.var(axis=0, ddof=1))


def test_the_activation_that_knows_the_class_is_found_and_no_other():
    found = class_effects(study(*drawn(shift={2: 0.05})))["net"]
    assert found.p_value == found.layers.loc[2, "p_value"] == 0.001  # none of 999 permutations reaches it
    assert (found.layers["p_value"].drop(2) > 0.05).all()


@pytest.mark.slow
def test_classes_that_are_random_subsets_are_called_so():
    """p-values are those of chance: of 200 such studies a twentieth is below 0.05, of the whole and of the largest."""
    p_values = np.array([
        (one.p_value, one.layers["p_value"].min())
        for seed in range(200)
        for one in class_effects(study(*drawn(4, 12, 3, seed=seed)), permutations=99).values()
    ])  # fmt: skip
    low, high = 0.05 * 200 - 3 * np.sqrt(0.05 * 0.95 * 200), 0.05 * 200 + 3 * np.sqrt(0.05 * 0.95 * 200)
    counts = (p_values <= 0.05).sum(axis=0)
    assert ((low <= counts) & (counts <= high)).all()
    ratios = [class_effects(study(*drawn(seed=seed)), permutations=1)["net"].ratio for seed in range(50)]
    assert np.mean(np.square(ratios)) == pytest.approx(1 + 1 / 49, abs=0.1)


def test_what_has_no_score_or_no_spread():
    classes, draws = drawn()
    classes[3, 1], draws[:, 4] = np.nan, 1.0
    found = class_effects(study(classes, draws))["net"]
    assert found.lost == 1
    assert found.layers.index.tolist() == [0, 2, 3, 4, 5]
    assert found.layers.loc[4, ["ratio", "p_value"]].isna().all()
    assert found.layers.drop(4).notna().all(axis=None)
    assert np.isfinite([found.ratio, found.p_value]).all()


def test_networks_apart_and_the_same_permutations_for_the_same_seed():
    rows = pd.concat([study(*drawn()), study(*drawn(activations=2, shift={0: 1}), model="other")])
    first, again = (class_effects(rows, seed=4) for _ in range(2))
    assert list(first) == ["net", "other"]
    pd.testing.assert_frame_equal(first["net"].layers, again["net"].layers)
    assert first["other"].p_value < 0.01 < first["net"].p_value


@pytest.mark.parametrize(("classes", "draws"), [(1, 9), (5, 2)])
def test_too_few_signatures(classes, draws):
    with pytest.raises(AffscoreError, match="two classes and three random subsets of net"):
        class_effects(study(*drawn(classes, draws)))
