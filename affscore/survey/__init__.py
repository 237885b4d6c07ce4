"""Floor 3: many jobs, and their results on disk."""

from affscore.survey.files import read_signature, write_signature
from affscore.survey.keep import kept_signatures
from affscore.survey.report import Report
from affscore.survey.store import Store
from affscore.survey.survey import survey
from affscore.survey.tables import load_results, stored_signatures

__all__ = [
    "Report",
    "Store",
    "kept_signatures",
    "load_results",
    "read_signature",
    "stored_signatures",
    "survey",
    "write_signature",
]
