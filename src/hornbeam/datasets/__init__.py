"""Data sets by name: one of our own, those that scikit-learn bundles, a directory of the user's."""

from .loading import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
