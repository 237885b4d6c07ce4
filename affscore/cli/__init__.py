"""The command ``affscore``: a module for each of its commands."""

from affscore.cli.main import app, main

__all__ = ["app", "main"]
