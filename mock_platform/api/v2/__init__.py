"""The v2 interface: its conventions, and a folder for each subject."""
