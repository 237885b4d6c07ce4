"""How a result looks. One function draws one figure and returns it; it draws what it is given."""

from __future__ import annotations

from affscore.plots.signature import compared_signatures as compared_signatures
from affscore.plots.signature import raw_signature as raw_signature
from affscore.plots.signature import scores_over_steps as scores_over_steps
from affscore.plots.signature import specification_curve as specification_curve
from affscore.plots.style import house_style as house_style
