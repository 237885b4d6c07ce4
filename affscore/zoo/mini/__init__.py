"""The mini zoo: small members of every family of the papers, trained on handwritten digits."""

from affscore.zoo.mini.registry import MINI_NETWORKS, MiniNetwork, seeded
from affscore.zoo.mini.residual import DigitsNet
from affscore.zoo.mini.tables import hard_task, list_models

__all__ = ["MINI_NETWORKS", "DigitsNet", "MiniNetwork", "hard_task", "list_models", "seeded"]
