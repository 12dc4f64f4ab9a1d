"""Python runs what is in this folder at its start: it is in PYTHONPATH of commands."""
