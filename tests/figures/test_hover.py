"""Figures as SVG with names at their points, as pages and notebooks show them."""

import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest

from affscore import AffscoreError
from affscore.analysis import distance_matrix, linkage
from affscore.figures import dendrogram, distance_heatmap, raw_signature
from affscore.figures.hover import has_names, hover_svg, name_points
from tests.synthetic_signatures import synthetic

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ["hidden", "first", "after-sum", "first", "after-sum"]


def titles(svg):
    return [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_a_signature_names_each_of_its_points():
    result = synthetic([0.91, 0.5, 0.6, 0.7, 0.8], kinds=KINDS, layers=[f"layer{k}" for k in range(5)])
    svg = hover_svg(raw_signature(result))
    found = {title.split(":")[0]: title for title in titles(svg)}
    assert sorted(found) == [f"layer{k}" for k in range(5)]
    assert "ReLU after a sum" in found["layer2"]
    assert "score 0.600" in found["layer2"]
    assert "score 0.910" in found["layer0"]


def test_a_name_lies_at_its_score():
    scores = [0.9, 0.5, 0.6, 0.7, 0.8]
    root = ET.fromstring(hover_svg(raw_signature(synthetic(scores, kinds=KINDS))))
    points = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "point":
            score = float(re.search(r"score ([\d.]+)", group.find(f"{SVG}title").text)[1])
            points[score] = float(group.find(f"{SVG}use").get("y"))
    assert sorted(points) == sorted(scores)
    slope = np.diff([points[score] for score in sorted(scores)])
    np.testing.assert_allclose(slope, slope[0], atol=0.02)  # evenly spaced scores
    assert slope[0] < 0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 30])
def test_however_many_points_each_has_its_name(count):
    figure, axes = plt.subplots()
    name_points(figure, axes.scatter(range(count), range(count)), [f"<{k}> & more" for k in range(count)])
    assert titles(hover_svg(figure)) == [f"<{k}> & more" for k in range(count)]


def test_what_was_not_drawn_has_no_name():
    figure, axes = plt.subplots()
    name_points(figure, axes.scatter([1, 2], [1, np.nan]), ["one", "two"])
    with pytest.raises(AffscoreError, match="each of 1 points that are drawn, got 2"):
        hover_svg(figure)


def test_the_colours_of_text_are_those_of_the_page_and_numbers_in_words_stay():
    svg = hover_svg(raw_signature(synthetic([0.91, 0.5], kinds=["hidden", "after-sum"], noise=0.0123)))
    assert "#000000" not in svg
    assert "currentColor" in svg
    assert re.search(r"± 0\.\d{3} between batches", svg)


def test_two_figures_of_a_page_share_no_id_but_that_of_equal_definitions():
    svgs = [hover_svg(raw_signature(synthetic(scores, kinds=KINDS[:2]))) for scores in ([0.9, 0.5], [0.9, 0.6])]
    first, second = ({e.get("id"): ET.tostring(e) for e in ET.fromstring(svg).iter() if e.get("id")} for svg in svgs)
    for name in first.keys() & second.keys():
        assert first[name].strip() == second[name].strip()


def test_the_same_figure_is_the_same_text():
    one, other = (hover_svg(raw_signature(synthetic([0.9, 0.5], kinds=KINDS[:2]))) for _ in range(2))
    assert one == other


def test_a_row_of_the_tree_is_linked_to_its_signature():
    signatures = {"a": [0.5, 0.6], "b": [0.5, 0.7, 0.7], "c": [0.9]}
    tree = linkage(distance_matrix(signatures))
    svg = hover_svg(dendrogram(tree, list(signatures), ["ViTs", "ViTs", "mine"], signatures=signatures))
    linked = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        if link := group.get("data-link"):
            found = linked.setdefault(link, {})
            for element in group.iter():
                if element.tag == f"{SVG}title":
                    found["named"] = element.text
                if element.tag == f"{SVG}text":
                    found["row"] = element.text
                if element.tag == f"{SVG}path" and "stroke:" in element.get("style"):
                    found["line"] = element.get("d")
            assert f'[data-link="{link}"]' in svg
    assert len(linked) == 3
    for found in linked.values():
        assert found["named"].startswith(f"{found['row']} (")
        assert f"{len(signatures[found['row']])} activations" in found["named"]
        assert len(re.findall("[ML]", found["line"])) == len(signatures[found["row"]])


def test_each_network_of_a_tree_needs_its_signature():
    tree = linkage(distance_matrix({"a": [0.5], "b": [0.6]}))
    with pytest.raises(AffscoreError, match="none for 'b'"):
        dendrogram(tree, ["a", "b"], ["x", "y"], signatures={"a": [0.5]})


def test_only_figures_with_names_are_shown_as_svg():
    signatures = {"a": [0.5, 0.6], "b": [0.5, 0.7]}
    assert not has_names(distance_heatmap(distance_matrix(signatures)))
    figure = raw_signature(synthetic([0.9]))
    assert figure._repr_mimebundle_()["text/html"].startswith("<svg")
    assert distance_heatmap(distance_matrix(signatures))._repr_mimebundle_() is None
