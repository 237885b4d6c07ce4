"""Networks and data by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.models.card import ModelCard as ModelCard
    from affscore.models.data import DataSource as DataSource
    from affscore.models.data import ImageSet as ImageSet
    from affscore.models.data import NamedData as NamedData
    from affscore.models.data import load_data as load_data
    from affscore.models.data import register_data as register_data
    from affscore.models.data.images import digits as digits
    from affscore.models.preprocessing import Preprocessing as Preprocessing
    from affscore.models.preprocessing import TextPreprocessing as TextPreprocessing
    from affscore.models.sources import Source as Source
    from affscore.models.sources import card_of as card_of
    from affscore.models.sources import load_model as load_model
    from affscore.models.sources import register as register

__getattr__, __dir__, __all__ = lazy_names(__name__)
