"""Finished results by the name of their network, in a store that the test makes."""

import dataclasses

import pytest

import affscore
from affscore import AffscoreError
from companion.shipped import shipped_signature


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results with the names of networks that they are not of: only names are looked at here."""
    made = affscore.signature("mini:digitsnet", "digits", n=16, images=16, criteria=False, progress=False)
    place = tmp_path_factory.mktemp("shipped")
    of = {
        "a": ("vgg11", "vgg11.pth", "mean"),
        "b": ("vgg11", "random", "mean"),
        "c": ("nets.py:tiny", "tiny.pt", "mean"),
        "d": ("nets.py:tiny", "tiny.pt", "sample"),
        "e": ("vgg13", "random", "mean"),
        "f": ("vgg16", "one.pth", "mean"),
        "g": ("vgg16", "two.pth", "mean"),
    }
    for name, (model, weights, reduction) in of.items():
        columns = {"model": model, "weights": weights, "reduction": reduction}
        result = dataclasses.replace(
            made, table=made.table.assign(**columns), metadata={**made.metadata, **columns, "key": name}
        )
        result.save(place / f"{name}.parquet")
    return place


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("vgg11", {}, "a"),
        ("vgg11@random", {}, "b"),
        ("tiny", {}, "c"),
        ("nets.py:tiny", {}, "c"),
        ("tiny", {"reduction": "sample"}, "d"),
        ("vgg16@two.pth", {}, "g"),
        ("tiny", {"reduction": "sample", "order": "reduce-first"}, "d"),
    ],
)
def test_a_result_by_name(folder, name, options, key):
    assert shipped_signature(name, **options, folder=folder).metadata["key"] == key


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("vgg12", {}, "did you mean .*vgg11"),
        ("zzz", {}, r"load_results\(companion.shipped.RESULTS\) shows"),
        ("vgg13", {}, "there are weights random: name them behind an @"),
        ("vgg11@other.pth", {}, "there are weights random, vgg11.pth"),
        ("vgg11", {"reduction": "sum"}, "are for mean with activate-first; there is none for sum"),
        ("vgg16", {}, "2 results are called .*one.pth on digits, n=16 or two.pth on digits.*behind an @"),
        ("nets.py:tiny@x.pt", {}, "there are weights tiny.pt"),
        ("tiny", {"reduction": "men"}, "reduction must be one of"),
    ],
)
def test_a_name_that_is_none(folder, name, options, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        shipped_signature(name, **options, folder=folder)
