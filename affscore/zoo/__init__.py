"""Floor 2: networks and data by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.zoo.card import ModelCard as ModelCard
    from affscore.zoo.data.digits import digits as digits
    from affscore.zoo.datasets import load_data as load_data
    from affscore.zoo.models import card_of as card_of
    from affscore.zoo.models import characteristics as characteristics
    from affscore.zoo.models import load_model as load_model
    from affscore.zoo.named_data import ImageSet as ImageSet
    from affscore.zoo.named_data import NamedData as NamedData
    from affscore.zoo.preprocessing import Preprocessing as Preprocessing
    from affscore.zoo.sources import Source as Source
    from affscore.zoo.sources import register as register
    from affscore.zoo.text import TextPreprocessing as TextPreprocessing

__getattr__, __dir__, __all__ = lazy_names(__name__)
