"""Hornbeam: one readable decision tree that you can trust."""

__version__ = "0.1.0"
