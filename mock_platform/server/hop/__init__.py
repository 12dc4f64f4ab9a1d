"""The hop: a request that reached another process than its world's is answered by that one.

The process that read the request (the front) keeps the client's connection and everything that is
said on it: limits, TLS, framing, the log. The process of the world (the owner) makes the answer as
if the client were its own. Between them is one connection for each pair of processes, which carries
all requests at once as frames (`frames`). What an application may do to a connection travels as
well: pauses, network faults, raw bytes, and in the other direction that a client has left or does
not read.

No thread waits for a hop. `placed` decides which requests take it, `handing` is the front,
`taking` the owner, `link` the connection between them.
"""
