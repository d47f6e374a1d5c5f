"""The `hornbeam` command: one module a command; only the command that runs imports what it needs."""

from .app import app as main

__all__ = ["main"]
