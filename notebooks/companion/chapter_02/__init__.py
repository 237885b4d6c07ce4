"""Chapter 2, activation functions: what its page takes from the room."""

from companion.chapter_02.figures import activation_domain as activation_domain
from companion.chapter_02.figures import activity as activity
