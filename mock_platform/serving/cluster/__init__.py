"""Placement: in which of several processes a world lives, and how that process is reached.

A world lives in one process at a time. A process that gets a request for another process's world
hands it over. With one process there is no placement. `placement` knows where a world lives, by its
name or by a lease, and `directory` finds a world by a credential.

The hop is how a request reaches that process. The one that read the request (the front) keeps the
client's connection and everything that is said on it: limits, TLS, framing, the log. The process of
the world (the owner) makes the answer as if the client were its own. Between them is one connection
for each pair of processes, which carries all requests at once as frames (`frames`). What an
application may do to a connection travels as well: pauses, network faults, raw bytes, and in the
other direction that a client has left or does not read.

No thread waits for a hop. `hop` decides which requests take it, and has all connections of a
process: `forwarding` is the front, `answering` the owner, `link` the connection between them.
`channel` refuses who else connects. `connection_moves` passes a whole connection on instead, if its
client keeps asking for the worlds of another process.
"""

from __future__ import annotations

from mock_platform.serving.cluster.placement import Misplaced, Place, Placement

__all__ = ["Misplaced", "Place", "Placement"]
