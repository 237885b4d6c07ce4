"""Numbers in sentences and on axes: sizes, depths, years, and the ends of GoogLeNet's scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_15 import networks
from affscore.papers.alexnet_to_transformers.figure_16 import checkpoints
from affscore.papers.comparison import COMPUTED, LOOKED_UP, OurNumber, Row, compare
from affscore.papers.printed import PrintedNumber, printed_numbers
from affscore.papers.protocol import few_images, survey_command
from affscore.zoo.card import architecture_of
from affscore.zoo.models import characteristics

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_computed, _looked_up = (partial(OurNumber, way=way, exact=True) for way in (COMPUTED, LOOKED_UP))


def rows(results: AllResults) -> Iterator[Row]:
    """What is computed from public metadata, looked up, or measured of GoogLeNet."""
    size = characteristics(["vgg16", "googlenet"])["parameters"]
    counted = {
        "alexnet_layers": _computed(_depth("alexnet"), why="the last of its eight layers has no ReLU"),
        "vgg16_per_googlenet": OurNumber(
            float(size["vgg16"] / size["googlenet"]),
            way=COMPUTED,
            how="torchvision's networks, GoogLeNet without its auxiliary classifiers",
            why="the sentence says almost 20",
        ),
        "networks_on_more_data": _looked_up(len(networks()), how="names in figure 15"),
        "self_supervised_checkpoints": _looked_up(
            len(checkpoints()), how="names in figure 16, one of which is a wide ResNet-50"
        ),
    }
    for number in printed_numbers("numbers_in_text", {"published": (f"{PAPER}, {{place}}", "{item}")}):
        name, _, what = number.row.rpartition("_")
        if what == "score":
            yield _end_of_googlenet(results, number)
        elif what == "depth":
            yield compare(number, _computed(_depth(name), how="the most activations on a path"))
        else:
            yield compare(number, _year(name) if what == "year" else counted[number.row])


def _depth(name: str) -> float:
    return float(characteristics([name])["depth"].iloc[0])


def _year(name: str) -> OurNumber:
    """The year in which the architecture was first made public."""
    architecture = architecture_of(name)
    assert architecture is not None  # the file has years of architectures alone
    how = f"first made public: {architecture.publication.partition(':')[0]}"
    return _looked_up(architecture.year, how=how, why="ours is the year in which it was first made public")


def _end_of_googlenet(results: AllResults, number: PrintedNumber) -> Row:
    """The smallest or the largest score of GoogLeNet."""
    end, measured = "min" if "lowest" in number.row else "max", results.as_printed.signatures
    our = analogue = None
    if "googlenet" in measured:
        found = results.as_printed.estimate("googlenet", end)
        our = OurNumber(found.value, found.error, how="".join(few_images({"googlenet": measured["googlenet"]})))
    if "googlenet" in results.mini.signatures:
        analogue = float(results.mini.summaries["googlenet"]["score"].agg(end)), "mini:googlenet on digits"
    return compare(number, our, analogue, survey_command(["googlenet"]))
