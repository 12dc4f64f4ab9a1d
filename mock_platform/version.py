"""The version of the package, readable without importing the rest."""

__version__ = "0.2.0"
