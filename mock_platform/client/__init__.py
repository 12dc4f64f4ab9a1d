"""The Python interface of a sandbox: in this process or on a server elsewhere."""
