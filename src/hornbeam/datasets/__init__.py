"""Data sets by name: one of our own, those that scikit-learn bundles, and a directory of the user's (HORNBEAM_DATA)."""

from .loading import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
