"""The server: everything between a socket and a WSGI callable.

`ServerThread` serves inside a test or another program, `serve_forever` serves for the command line.
Both run one event loop in a thread of this process (`loop_server`). With several processes,
`serving.cluster` hands requests over to the process of their world.

It is our own because scenarios need faults on the wire, which an application behind WSGI cannot
make; because framing and deadlines have to be strict, and streams and delays must not hold threads;
and because a test suite starts and stops many servers. llhttp and h2 do the parsing.

The WSGI environ contains what PEP 3333 requires, and:

`REQUEST_URI`
    Path and query as the client wrote them, starting with `/`: an OAuth 1.0a signature covers them.
`PATH_INFO`
    The decoded path, with encoded slashes, one character for each byte.
`wsgi.input`
    The whole body: an application is called after everything arrived.
`core.connection.CONNECTION`
    The client's connection, for network faults and pauses.
"""

from mock_platform.serving.http.backend import RequestLog
from mock_platform.serving.http.binding import Bound, CannotBind
from mock_platform.serving.http.loop_server import ServerThread, Stop, serve_forever

__all__ = [
    "Bound",
    "CannotBind",
    "RequestLog",
    "ServerThread",
    "Stop",
    "serve_forever",
]
