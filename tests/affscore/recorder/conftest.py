"""The fixtures of tests/affscore/network."""

from tests.affscore.network.conftest import images, one_thread_and_the_same_weights  # noqa: F401
