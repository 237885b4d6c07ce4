"""Reading and writing one signature, under the names of before: :mod:`affscore.network.files` does it."""

from affscore.network.files import check_destination, write_signature
from affscore.network.result import load_signature as read_signature

__all__ = ["check_destination", "read_signature", "write_signature"]
