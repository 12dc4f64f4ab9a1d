"""The version of the package, readable without importing the rest."""

__version__ = "0.1.0"
