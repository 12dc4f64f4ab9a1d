"""The advertising interface: its conventions, and a folder for each subject."""
