"""The papers' own formula under its public name; it is computed in :mod:`affscore.transport.published`."""

from affscore.transport.published import affinity_score as affinity_score

__all__ = ["affinity_score"]
