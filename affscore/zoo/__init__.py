"""Floor 2: networks and images by name."""

from affscore.zoo.datasets import ImageSet, load_data
from affscore.zoo.digits import digits
from affscore.zoo.models import ModelCard, card_of, load_model
from affscore.zoo.preprocessing import Preprocessing

__all__ = ["ImageSet", "ModelCard", "Preprocessing", "card_of", "digits", "load_data", "load_model"]
