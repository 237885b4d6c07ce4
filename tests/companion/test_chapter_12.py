"""How far signatures move in classes, against formulas and simulation; and the panels of distances."""

import numpy as np
import pandas as pd
import pytest
from drawn import legend_entries, words

from affscore import AffscoreError
from companion.chapter_12.figures import deviation_panels
from companion.chapter_12.measurements import class_effects


def in_classes(classes, draws, model="net"):
    """Rows of scores, (classes, activations) and (subsets, activations)."""
    signatures = [(f"digits:{number}", 0, scores) for number, scores in enumerate(classes)]
    signatures += [("digits", number, scores) for number, scores in enumerate(draws, 1)]
    rows = [(model, data, draw, i, score) for data, draw, scores in signatures for i, score in enumerate(scores)]
    return pd.DataFrame(rows, columns=["model", "dataset", "draw", "index", "score"])


def drawn(classes=10, draws=49, activations=6, shift=0.0, seed=0):
    """Random scores; those of classes vary more in the activation 2, by so much."""
    generator = np.random.default_rng(seed)
    scores = 0.6 + generator.normal(0, 0.01, (classes + draws, activations))
    if shift:
        scores[:classes, 2] += generator.normal(0, shift, classes)
    return scores[:classes], scores[classes:]


class TestClasses:
    def test_ratios_are_what_the_formula_says(self):
        classes, draws = drawn(shift=0.05)
        found = class_effects(in_classes(classes, draws))["net"]
        apart = ((classes - draws.mean(axis=0)) ** 2).mean(axis=0)
        np.testing.assert_allclose(found.layers["ratio"], np.sqrt(apart / draws.var(axis=0, ddof=1)))
        assert found.ratio == pytest.approx(np.sqrt(apart.sum() / draws.var(axis=0, ddof=1).sum()))
        np.testing.assert_allclose(found.layers["change"], classes.mean(axis=0) - draws.mean(axis=0))
        assert found.change == pytest.approx(classes.mean() - draws.mean())
        np.testing.assert_allclose(found.distances, np.linalg.norm(classes - draws.mean(axis=0), axis=1))
        assert found.distances.index.tolist() == [f"digits:{number}" for number in range(10)]
        others = np.array([np.delete(draws, row, axis=0).mean(axis=0) for row in range(len(draws))])
        np.testing.assert_allclose(found.chance, np.linalg.norm(draws - others, axis=1))

    def test_the_activation_that_knows_the_class_is_found_and_no_other(self):
        rows = pd.concat([in_classes(*drawn(shift=0.05)), in_classes(*drawn(), model="other")])
        found, again = (class_effects(rows, seed=0) for _ in range(2))
        assert list(found) == ["net", "other"]
        net = found["net"]
        assert net.p_value == net.layers.loc[2, "p_value"] == 0.001  # none of 999 permutations reaches it
        assert (net.layers["p_value"].drop(2) > 0.05).all()
        assert found["other"].p_value > 0.05
        pd.testing.assert_frame_equal(found["other"].layers, again["other"].layers)

    @pytest.mark.slow
    def test_classes_that_are_random_subsets_are_called_so(self):
        """p-values are those of chance: of 200 studies a twentieth is below 0.05, of the whole and of the largest."""
        p_values = np.array([
            (one.p_value, one.layers["p_value"].min())
            for seed in range(200)
            for one in class_effects(in_classes(*drawn(4, 12, 3, seed=seed)), permutations=99).values()
        ])  # fmt: skip
        counts = (p_values <= 0.05).sum(axis=0)
        assert (abs(counts - 0.05 * 200) <= 3 * np.sqrt(0.05 * 0.95 * 200)).all()

    def test_what_has_no_score_or_no_spread(self):
        classes, draws = drawn()
        classes[3, 1], draws[:, 4] = np.nan, 1.0
        found = class_effects(in_classes(classes, draws))["net"]
        assert found.lost == 1
        assert found.layers.index.tolist() == [0, 2, 3, 4, 5]
        assert found.layers.loc[4, ["ratio", "p_value"]].isna().all()
        assert found.layers.drop(4).notna().all(axis=None)
        assert np.isfinite([found.ratio, found.p_value]).all()

    def test_too_few_signatures(self):
        with pytest.raises(AffscoreError, match="two classes and three random subsets of net"):
            class_effects(in_classes(*drawn(5, 2)))


def test_every_network_and_data_set_has_its_point_in_both_panels_and_chance_in_one():
    rows = [
        ("alexnet", "inverted", 0.2, 0.1, 0.02), ("alexnet", "random", 0.4, 0.3, 0.02), ("$mine", "random", 0.6, 0.5, 0)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["model", "dataset", "euclidean", "dtw", "chance"])
    figure = deviation_panels(table, chance="other digits")
    above, below = figure.axes
    for axes, values in ((above, (0.2, 0.4, 0.6)), (below, (0.1, 0.3, 0.5))):
        points = {line.get_label(): line.get_xydata().tolist() for line in axes.lines if line.get_marker() != "None"}
        assert points == {"inverted": [[values[0], 0]], "random": [[values[1], 0], [values[2], 1]]}
    assert all(line.get_marker() != "None" for line in above.lines)  # no mean over networks of different data
    assert words(below.get_yticklabels()) == ["alexnet", r"\$mine"]
    assert legend_entries(figure) == ["inverted", "random", "other digits"]
    assert [[bar.get_width() for bar in axes.patches] for axes in figure.axes] == [[0.02, 0], []]
    assert not deviation_panels(table).axes[0].patches
