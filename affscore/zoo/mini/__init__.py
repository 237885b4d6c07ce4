"""The mini zoo: small members of every family of the papers, trained on handwritten digits.

The networks themselves are in :mod:`affscore.zoo.mini.registry`, which imports torchvision.
"""

from affscore.zoo.mini.tables import hard_task, list_models

__all__ = ["hard_task", "list_models"]
