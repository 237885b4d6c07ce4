"""What the figures of notebooks 6 and 8 show: every network, in its family's look, with the numbers of its scores."""

import numpy as np
import pandas as pd
import pytest

from affscore import AffscoreError, signature
from affscore.comparison import distance_matrix
from affscore.plots import raw_signature
from companion.chapter_06 import history, timeline
from companion.clustering import leaf_order, linkage
from companion.figures import dendrogram, distance_heatmap
from companion.style import FAMILIES, family_styles

GENERATOR = np.random.default_rng(0)


SIGNATURES = {
    name: GENERATOR.uniform(0.3, 1, length)
    for name, length in {"alexnet": 7, "vgg11": 10, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}.items()
}


FAMILY_OF = ["Pure convnets", "Pure convnets", "ResNets", "ViTs", "Swins", "mine"]


def test_families_differ_in_more_than_colour():
    styles = family_styles([*FAMILIES, *(f"other {k}" for k in range(20))])
    assert len(set(styles.values())) == len(FAMILIES) + 20
    colours = [colour for colour, _ in styles.values()]
    for colour in set(colours):
        markers = [marker for this, marker in styles.values() if this == colour]
        assert len(set(markers)) == len(markers)


def test_a_family_looks_the_same_whichever_others_are_there():
    assert family_styles(["Swins", "mine"])["Swins"] == family_styles(FAMILIES)["Swins"]


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
