"""The pages of the API have every public name, and know a name that is none."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from api_reference import PACKAGES, documented, find, public_names

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "book" / "api.md", *sorted((REPOSITORY / "book" / "api").glob("*.md"))]


def test_each_package_is_on_one_page() -> None:
    shown = [name for page in PAGES for name in re.findall(r"\{public-names\} (\S+)", page.read_text())]
    assert sorted(shown) == sorted(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring_and_a_place(package: str) -> None:
    names = public_names(package)
    assert names
    for name, origin in names.items():
        thing = getattr(importlib.import_module(package), name)
        assert documented()[origin].rpartition(".")[2]
        if callable(thing):
            assert thing.__doc__, name


@pytest.mark.parametrize("package", [name for name in PACKAGES if hasattr(importlib.import_module(name), "__all__")])
def test_names_that_are_listed_are_public(package: str) -> None:
    assert set(importlib.import_module(package).__all__) == public_names(package).keys()


def test_a_name_of_two_packages_stands_in_one_place() -> None:
    origin = public_names("affscore.transport")["affinity_score"]
    assert origin == public_names("affscore")["affinity_score"]
    assert documented()[origin] == "affscore.affinity_score"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("affscore.affinity_score", ("affscore", ("affinity_score",))),
        ("affscore.transport.affine_map.linear_part", ("affscore.transport.affine_map", ("linear_part",))),
        ("affscore.Signature.save", ("affscore", ("Signature", "save"))),
        ("affscore.AffinityScore.paired", ("affscore", ("AffinityScore", "paired"))),  # a field
        ("affscore.survey.studies", ("affscore.survey.studies", ())),
        ("affscore.no_such_name", None),
        ("nothing", None),
    ],
)
def test_what_a_reference_finds(name: str, found: tuple[str, tuple[str, ...]] | None) -> None:
    assert find(name) == found
