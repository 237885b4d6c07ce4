"""Where data come from: one module for each source, which names it in ``SOURCES``."""
