import re

import pytest
import torchvision

from affscore.models.card import _architectures, architecture_of
from affscore.models.sources.torchvision_networks import names
from companion.mini_zoo import MINI_NETWORKS


@pytest.mark.parametrize("name", names())
def test_every_network_of_torchvision_has_a_family_and_a_publication(name):
    """The publication is the one that torchvision's documentation cites, where it cites one on arXiv."""
    architecture = architecture_of(name)
    document = torchvision.models.get_model_builder(name).__doc__
    cited = re.findall(r"arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5})", document)
    ours = re.search(r"arXiv:(\d{4}\.\d{4,5})$", architecture.publication)[1]
    assert not cited or ours in cited, (architecture, cited)


def test_the_year_is_that_in_which_the_publication_appeared():
    for architecture in _architectures():
        year = 2000 + int(re.search(r"arXiv:(\d\d)", architecture.publication)[1])
        assert architecture.year == (2012 if architecture.begins == "alexnet" else year)


def test_every_line_of_the_table_is_needed():
    used = {architecture_of(name).begins for name in names()}
    assert used == {architecture.begins for architecture in _architectures()}


def test_the_families_of_the_small_networks_are_among_them():
    known = {(architecture.family, architecture.year) for architecture in _architectures()}
    assert {(network.architecture.family, network.architecture.year) for network in MINI_NETWORKS.values()} <= known
