"""Authentication: credentials of all kinds, OAuth 1.0a signatures and why one did not match."""
