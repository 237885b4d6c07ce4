"""Chapter 7, accuracy."""
