"""The web console: pages under `/_mock/` for people who would rather look than call routes."""
