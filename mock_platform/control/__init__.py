"""The control plane: everything under `/_mock`."""
