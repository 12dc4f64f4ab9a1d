"""Failures by name, the problem types, their codes and how each looks on the wire."""
