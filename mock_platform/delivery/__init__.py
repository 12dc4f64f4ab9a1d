"""Webhook deliveries: real HTTP requests from threads, never under a world's lock."""
