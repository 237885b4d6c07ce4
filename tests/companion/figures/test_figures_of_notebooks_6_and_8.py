"""What the figures of notebooks 6 and 8 show: every network, in its family's look, with the numbers of its scores."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.legend import Legend

from affscore import AffscoreError, signature
from affscore.comparison import distance_matrix
from affscore.network.result import Signature
from affscore.plots import raw_signature
from affscore.plots.style import PAGE_WIDTH
from companion.analysis import leaf_order, linkage
from companion.figures import dendrogram, distance_heatmap, score_distributions, score_histograms, timeline
from companion.papers import history
from companion.style import FAMILIES, family_styles
from tests.synthetic_signatures import synthetic

GENERATOR = np.random.default_rng(0)
SIGNATURES = {
    name: GENERATOR.uniform(0.3, 1, length)
    for name, length in {"alexnet": 7, "vgg11": 10, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}.items()
}
FAMILY_OF = ["Pure convnets", "Pure convnets", "ResNets", "ViTs", "Swins", "mine"]


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def test_families_differ_in_more_than_colour():
    styles = family_styles([*FAMILIES, *(f"other {k}" for k in range(20))])
    assert len(set(styles.values())) == len(FAMILIES) + 20
    colours = [colour for colour, _ in styles.values()]
    for colour in set(colours):
        markers = [marker for this, marker in styles.values() if this == colour]
        assert len(set(markers)) == len(markers)


def test_a_family_looks_the_same_whichever_others_are_there():
    assert family_styles(["Swins", "mine"])["Swins"] == family_styles(FAMILIES)["Swins"]


def test_the_timeline_shows_the_three_numbers_of_each_network():
    table = history(SIGNATURES)
    figure = timeline(table)
    axes = figure.axes[0]
    assert figure.get_figwidth() == PAGE_WIDTH
    assert [label.get_text() for label in axes.get_xticklabels()] == table["name"].tolist()
    assert legend_entries(figure) == ["Pure convnets", "ResNets", "ViTs", "Swins", "mine"]
    places = dict(zip(axes.get_xticks(), table.index, strict=True))
    drawn = [path.vertices for lines in axes.collections for path in lines.get_paths() if len(path.vertices) == 2]
    bars = {
        places[ends[0, 0]]: sorted(ends[:, 1]) for ends in drawn if ends[0, 0] == ends[1, 0] and ends[0, 0] in places
    }
    for name, row in table.iterrows():
        assert bars[name] == pytest.approx([row["min"], row["max"]])
    points = {places[x]: y for bars in axes.containers for x, y in bars.lines[0].get_xydata()}
    assert points == pytest.approx(table["median"].to_dict())


def test_the_timeline_names_each_year_once_and_says_where_there_is_none():
    axes = timeline(history(SIGNATURES)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["2012", "2014", "2015", "2020", "2021", "?"]
    with pytest.raises(AffscoreError, match="at least one network"):
        timeline(history(SIGNATURES).iloc[:0])


def test_the_timeline_has_a_gap_between_years_and_each_year_above_its_networks():
    table = history(SIGNATURES | {"vgg13": [0.5, 0.6]})
    axes = timeline(table).axes[0]
    years = table["year"].astype("string").fillna("?").tolist()
    places = np.array(axes.get_xticks())
    assert np.diff(places).tolist() == [1.0 if one == next_ else 1.5 for one, next_ in pairwise(years)]
    for text in axes.texts:
        own = places[[year == text.get_text() for year in years]]
        assert text.get_position()[0] == pytest.approx(own.mean())


def test_the_heatmap_has_the_distances_in_the_order_asked_for():
    distances = distance_matrix(SIGNATURES)
    order = leaf_order(distances, linkage(distances))
    figure = distance_heatmap(distances, order)
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.collections[0].get_array(), distances.loc[order, order])
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == order
    written = [float(text.get_text()) for text in axes.texts]
    assert written == pytest.approx(distances.loc[order, order].to_numpy().ravel(), abs=0.005)
    assert figure.axes[1].get_ylabel() == "DTW distance"


def test_a_large_heatmap_has_no_numbers_in_its_cells():
    many = {f"n{k}": [k / 40, 0.5] for k in range(36)}
    axes = distance_heatmap(distance_matrix(many)).axes[0]
    assert len(axes.texts) == 0
    assert len(axes.get_yticklabels()) == 36


@pytest.mark.parametrize("order", [["alexnet"], ["alexnet"] * 6])
def test_an_order_must_hold_each_network_once(order):
    with pytest.raises(AffscoreError, match="each of the 6 networks once"):
        distance_heatmap(distance_matrix(SIGNATURES), order)


def test_the_dendrogram_marks_each_leaf_with_its_family():
    tree = linkage(distance_matrix(SIGNATURES))
    figure = dendrogram(tree, list(SIGNATURES), FAMILY_OF)
    axes = figure.axes[0]
    rows = dict(zip(axes.get_yticks(), [label.get_text() for label in axes.get_yticklabels()], strict=True))
    assert sorted(rows.values()) == sorted(SIGNATURES)
    marked = {rows[y]: scatter.get_label() for scatter in axes.collections for x, y in scatter.get_offsets()
              if scatter.get_label() in FAMILY_OF}  # fmt: skip
    assert marked == dict(zip(SIGNATURES, FAMILY_OF, strict=True))
    heights = {round(x, 9) for lines in axes.collections if not len(lines.get_offsets()) > 1
               for path in lines.get_paths() for x in path.vertices[:, 0]}  # fmt: skip
    assert {round(height, 9) for height in tree[:, 2]} <= heights
    assert "joined" in axes.get_xlabel()
    with pytest.raises(AffscoreError, match="as many names and families"):
        dendrogram(tree, list(SIGNATURES)[1:], FAMILY_OF)


def test_beside_the_tree_each_row_has_the_signature_of_its_network():
    tree, names = linkage(distance_matrix(SIGNATURES)), list(SIGNATURES)
    axes, beside = dendrogram(tree, names, FAMILY_OF, signatures=SIGNATURES).axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    for row, (name, line) in enumerate(zip(rows, beside.lines, strict=True)):
        assert len(line.get_ydata()) == len(SIGNATURES[name])
        assert 10 * row < min(line.get_ydata()) <= max(line.get_ydata()) < 10 * (row + 1)
    with pytest.raises(AffscoreError, match=f"a signature for each network, got none for '{names[1]}'"):
        dendrogram(tree, names, FAMILY_OF, signatures={names[0]: [0.5]})


def test_distributions_show_every_score():
    figure = score_distributions(SIGNATURES, FAMILY_OF)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(SIGNATURES)
    styles = family_styles(FAMILY_OF)
    points = [scatter for scatter in axes.collections if scatter.get_offsets().size and len(scatter.get_sizes())]
    assert len(points) == len(SIGNATURES)
    for place, (scatter, scores, family) in enumerate(zip(points, SIGNATURES.values(), FAMILY_OF, strict=True)):
        np.testing.assert_array_equal(scatter.get_offsets()[:, 1], scores)
        assert np.abs(scatter.get_offsets()[:, 0] - place).max() < 0.4
        assert tuple(scatter.get_facecolor()[0]) == to_rgba(styles[family][0])
    shapes = [shape for shape in axes.collections if shape not in points]
    assert len(shapes) == 1  # the networks with fewer than 15 scores have none
    assert axes.get_ylim()[0] > 0.2  # the smallest is 0.3
    with pytest.raises(AffscoreError, match="a family for each"):
        score_distributions(SIGNATURES, ["ViTs"])


def test_equal_scores_have_no_density():
    axes = score_distributions({"flat": [0.5] * 19}, ["ViTs"]).axes[0]
    (points,) = axes.collections
    assert len(points.get_offsets()) == 19
    assert not axes.lines


def test_kinds_are_stacked_and_a_score_beyond_one_by_rounding_counts():
    axes = score_histograms({"one": {"first": [0.7, 0.7], "second": [0.7], "third": [0.7, 1 + 1e-12]}}).axes[0]
    tops = [[(bar.get_y(), bar.get_height()) for bar in bars if bar.get_height()] for bars in axes.containers]
    assert tops == [[(0, 2)], [(2, 1)], [(3, 1), (0, 1)]]


def test_histograms_count_every_score_once():
    panels = {
        "plain": {"first": [0.5, 0.52, 0.7], "second": [0.7]},
        "residual": {"first": [0.5, 0.5], "after a sum": [0.95, 1.0, 0.99]},
    }
    figure = score_histograms(panels)
    assert [axes.get_title() for axes in figure.axes] == list(panels)
    assert legend_entries(figure) == ["first", "second", "after a sum"]
    for axes, panel in zip(figure.axes, panels.values(), strict=True):
        counted = {bars.get_label(): sum(bar.get_height() for bar in bars) for bars in axes.containers}
        assert counted == {kind: len(scores) for kind, scores in panel.items()}
    looks = {kind: set() for kind in legend_entries(figure)}
    for bars in (bars for axes in figure.axes for bars in axes.containers):
        looks[bars.get_label()] |= {(bar.get_facecolor(), bar.get_hatch()) for bar in bars}
    assert all(len(look) == 1 for look in looks.values())
    assert len({hatch for look in looks.values() for _, hatch in look}) == 3
    top = max(bar.get_y() + bar.get_height() for axes in figure.axes for bars in axes.containers for bar in bars)
    assert top == 2  # 0.5 and 0.52 in one bin, 0.7 and 0.7 of two kinds on top of each other, 0.99 and 1
    for nothing in ({}, {"plain": {}}):
        with pytest.raises(AffscoreError, match="at least one panel"):
            score_histograms(nothing)


def test_raw_signatures_can_be_called_something_else():
    result = signature("mini:digitsnet", "digits", n=32, images=64, criteria=False, progress=False)
    figure = raw_signature([result, result], titles=["one", "other"])
    spread = result.summary["score_std"].mean()
    assert [axes.get_title() for axes in figure.axes] == [
        f"{name}, ± {spread:.3f} between batches" for name in ("one", "other")
    ]


def test_figures_of_frames_do_not_change_them():
    table = history(SIGNATURES)
    before = table.copy()
    timeline(table)
    pd.testing.assert_frame_equal(table, before)


def looks(figure):
    """Colour and marker of each entry of the legend."""
    axes = [points for axes in figure.axes for points in axes.collections if not points.get_label().startswith("_")]
    found = {
        points.get_label(): (tuple(points.get_edgecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in axes
    }
    plt.close(figure)
    return found


def test_a_kind_looks_the_same_whatever_other_kinds_are_there():
    alone = synthetic([0.5, 0.9], kinds=["first", "after-sum"])
    among = synthetic([0.5, 0.6, 0.7, 0.8, 0.9], kinds=["hidden", "squeeze", "first", "second", "after-sum"])
    few, many = looks(raw_signature(alone)), looks(raw_signature([among, alone]))
    assert len(set(many.values())) == len(many) == 5
    assert few == {label: many[label] for label in few}


def test_two_functions_of_a_kind_share_its_colour_and_have_markers_of_their_own():
    one = synthetic([0.5, 0.6, 0.7], kinds=["hidden", "hidden", "first"])
    table = one.table.assign(activation=["relu", "gelu", "relu"] * 2)
    found = looks(raw_signature(Signature(table, one.metadata)))
    assert list(found) == ["ReLU", "GELU", "ReLU, first of a block"]
    assert found["ReLU"][0] == found["GELU"][0] != found["ReLU, first of a block"][0]
    assert len({marker for _, marker in found.values()}) == 3
