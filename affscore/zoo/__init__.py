"""Floor 2: networks and data by name."""

from affscore.zoo.characteristics import characteristics
from affscore.zoo.data.digits import digits
from affscore.zoo.datasets import load_data
from affscore.zoo.mini import hard_task, list_models
from affscore.zoo.models import ModelCard, card_of, load_model
from affscore.zoo.named_data import ImageSet, NamedData
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.text import TextPreprocessing

__all__ = [
    "ImageSet",
    "ModelCard",
    "NamedData",
    "Preprocessing",
    "TextPreprocessing",
    "card_of",
    "characteristics",
    "digits",
    "hard_task",
    "list_models",
    "load_data",
    "load_model",
]
