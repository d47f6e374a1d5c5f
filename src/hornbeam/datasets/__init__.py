"""Data sets by name: every one as a `Dataset`."""

from .dataset import Dataset
from .loading import load, names
from .openml import load_openml

__all__ = ["Dataset", "load", "load_openml", "names"]
