"""The names that the library loads when they are first used."""

from types import ModuleType

import pytest

import affscore


def test_every_name_is_found():
    for name in affscore.__all__:
        assert getattr(affscore, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        affscore.nothing


def test_the_directory_of_a_package_is_its_public_names():
    import affscore.cli  # whose modules are no public name, and not the names that a package imports for itself

    assert set(affscore.__all__) < set(dir(affscore))
    inside = set(dir(affscore)) - set(affscore.__all__)
    assert inside == {name for name in inside if isinstance(getattr(affscore, name), ModuleType)}
    assert not {"cli", "lazy", "annotations", "TYPE_CHECKING", "lazy_names"} & inside
    assert dir(affscore.models) == affscore.models.__all__
