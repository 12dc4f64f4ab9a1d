"""How requests get in: the application, the HTTP server, the proxy, calls in this process."""
