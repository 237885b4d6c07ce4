"""Floor 3: results on disk."""

from affscore.survey.store import read_signature, write_signature

__all__ = ["read_signature", "write_signature"]
