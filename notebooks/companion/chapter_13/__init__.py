"""Chapter 13, where is the non-linearity?: what its page takes from the room."""

from companion.chapter_13.figures import unexplained_shares as unexplained_shares
from companion.chapter_13.measurements import PARTS as PARTS
from companion.chapter_13.measurements import unexplained as unexplained
from companion.chapter_13.measurements import unexplained_by_kind as unexplained_by_kind
