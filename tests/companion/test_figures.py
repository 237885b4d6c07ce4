"""What figures that several chapters draw show: every network, in its family's look, with the numbers of its scores."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import legend_entries, titles, words

from affscore import AffscoreError
from affscore.comparison import distance_matrix
from affscore.network.result import Signature
from affscore.plots import raw_signature
from companion.clustering import linkage
from companion.figures import dendrogram, repeated_signatures
from companion.style import FAMILIES, family_styles
from tests.synthetic_signatures import synthetic

GENERATOR = np.random.default_rng(0)
LENGTHS = {"alexnet": 7, "vgg11": 10, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}
SIGNATURES = {name: GENERATOR.uniform(0.3, 1, length) for name, length in LENGTHS.items()}
FAMILY_OF = ["Pure convnets", "Pure convnets", "ResNets", "ViTs", "Swins", "mine"]

NAMES = [r"$\frac{1$", "cost$_a$", "_hidden", r"a_b^c\d", "$5", "100 % # & ~ {}"]
DISTANCES = pd.DataFrame(np.abs(np.subtract.outer(range(6), range(6))) / 6, NAMES, NAMES)


def test_families_differ_in_more_than_colour_and_look_the_same_whichever_others_are_there():
    styles = family_styles([*FAMILIES, *(f"other {k}" for k in range(20))])
    assert len(set(styles.values())) == len(FAMILIES) + 20
    for colour in {colour for colour, _ in styles.values()}:
        markers = [marker for this, marker in styles.values() if this == colour]
        assert len(set(markers)) == len(markers)
    assert family_styles(["Swins", "mine"])["Swins"] == family_styles(FAMILIES)["Swins"]


def test_the_dendrogram_marks_each_leaf_with_its_family_and_its_signature():
    tree, names = linkage(distance_matrix(SIGNATURES)), list(SIGNATURES)
    axes, beside = dendrogram(tree, names, FAMILY_OF, signatures=SIGNATURES).axes
    rows = dict(zip(axes.get_yticks(), words(axes.get_yticklabels()), strict=True))
    assert sorted(rows.values()) == sorted(SIGNATURES)
    marked = {rows[y]: scatter.get_label() for scatter in axes.collections for x, y in scatter.get_offsets()
              if scatter.get_label() in FAMILY_OF}  # fmt: skip
    assert marked == dict(zip(SIGNATURES, FAMILY_OF, strict=True))
    heights = {round(x, 9) for lines in axes.collections if not len(lines.get_offsets()) > 1
               for path in lines.get_paths() for x in path.vertices[:, 0]}  # fmt: skip
    assert {round(height, 9) for height in tree[:, 2]} <= heights
    for row, (name, line) in enumerate(zip(rows.values(), beside.lines, strict=True)):
        assert len(line.get_ydata()) == len(SIGNATURES[name])
        assert 10 * row < min(line.get_ydata()) <= max(line.get_ydata()) < 10 * (row + 1)
    with pytest.raises(AffscoreError, match="as many names and families"):
        dendrogram(tree, names[1:], FAMILY_OF)


def test_names_in_figures_are_shown_letter_by_letter(tmp_path):
    with plt.rc_context({"svg.fonttype": "none"}):
        dendrogram(linkage(DISTANCES), NAMES, NAMES).savefig(tmp_path / "x.svg")
    shown = (tmp_path / "x.svg").read_text()
    assert all(name.replace("&", "&amp;") in shown for name in NAMES)


def looks(figure):
    """Colour and marker of each entry of the legend."""
    marked = [points for axes in figure.axes for points in axes.collections if not points.get_label().startswith("_")]
    return {
        points.get_label(): (tuple(points.get_edgecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in marked
    }


def test_a_place_has_one_colour_and_marker_whatever_its_functions():
    alone = synthetic([0.5, 0.9], kinds=["first", "after-sum"])
    among = synthetic([0.5, 0.6, 0.7, 0.8, 0.9], kinds=["hidden", "squeeze", "first", "second", "after-sum"])
    few, many = looks(raw_signature(alone)), looks(raw_signature([among, alone]))
    assert len(set(many.values())) == len(many) == 5
    assert few == {label: many[label] for label in few}
    one = synthetic([0.5, 0.6, 0.7], kinds=["hidden", "hidden", "first"])
    table = one.table.assign(activation=["relu", "gelu", "relu"] * 2)
    found = looks(raw_signature(Signature(table, one.metadata)))
    assert list(found) == ["ReLU, GELU", "ReLU, first inside a block"]
    assert len({colour for colour, _ in found.values()}) == len({marker for _, marker in found.values()}) == 2


def test_repeated_signatures_have_a_line_and_a_colour_for_each_size():
    def signatures(*sizes):
        return pd.concat(pd.DataFrame({"index": [1, 0], "n": n, "score": [0.5, n / 1000]}) for n in sizes)

    figure = repeated_signatures({"a": signatures(64, 32), "b": signatures(64)}, "n", label="n = ")
    first, second = figure.axes
    drawn = [[line for line in axes.lines if len(line.get_xydata())] for axes in (first, second)]
    assert [line.get_xydata().tolist() for line in drawn[0]] == [[[1, 0.032], [2, 0.5]], [[1, 0.064], [2, 0.5]]]
    assert titles(figure) == ["a", "b"]
    assert first.get_ylim()[0] == 0  # the smallest score is 0.03
    colours = [line.get_color() for line in (*drawn[0], *drawn[1])]
    assert np.array_equal(colours[1], colours[2])
    assert not np.array_equal(colours[0], colours[1])
    assert legend_entries(figure) == ["n = 32", "n = 64"]
