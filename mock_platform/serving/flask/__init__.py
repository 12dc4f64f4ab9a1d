"""The edge: from a WSGI environment to a call, and from a reply to a response."""
