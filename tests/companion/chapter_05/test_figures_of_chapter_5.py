"""What the figures of notebooks 6 and 8 show: every network, in its family's look, with the numbers of its scores."""

from matplotlib import pyplot as plt
from matplotlib.legend import Legend

from affscore.network.result import Signature
from affscore.plots import raw_signature
from companion.chapter_05.figures import score_histograms
from tests.synthetic_signatures import synthetic


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


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
