"""Worlds on a Redis or Valkey server, which several processes share."""
