"""The pages on which a user logs in and allows or denies an app (document A, oauth/authorize)."""
