"""The program of a prepared command: it asks `tests/forking.py`, and ends as the command ended.

It loads nothing that Python has not loaded already, so it takes a few milliseconds. PLACE is where
to ask.
"""

import _signal  # type: ignore[import-not-found] # no stub has it
import _socket
import marshal
import posix
import sys

PLACE = "PLACE"
_FILES = (0, 1, 2)


def _read(asked: _socket.socket) -> int:
    number = asked.recv(4, _socket.MSG_WAITALL)
    if not number:
        posix._exit(70)
    return int.from_bytes(number, sys.byteorder)


asked = _socket.socket(_socket.AF_UNIX)
asked.connect(PLACE)
signals = [
    each for each in range(1, _signal.NSIG) if each not in {_signal.SIGKILL, _signal.SIGSTOP}
]
ignored = [each for each in signals if _signal.getsignal(each) is _signal.SIG_IGN]
words = ["mock-platform", *sys.argv[1:]]
told = marshal.dumps((words, posix.getcwdb(), dict(posix.environ), ignored))
passed = b"".join(each.to_bytes(4, sys.byteorder) for each in _FILES)
asked.sendmsg(
    [len(told).to_bytes(4, sys.byteorder)],
    [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)],
)
asked.sendall(told)
forked = _read(asked)
# Also those that are ignored here, as SIGINT is in a job in the background: a server takes them.
for each in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGUSR1):
    _signal.signal(each, lambda number, _: posix.kill(forked, number))
for each in _FILES:  # they belong to the command alone
    posix.close(each)
status = _read(asked)
if posix.WIFSIGNALED(status):
    if posix.WTERMSIG(status) != _signal.SIGKILL:
        _signal.signal(posix.WTERMSIG(status), _signal.SIG_DFL)
    posix.kill(posix.getpid(), posix.WTERMSIG(status))
posix._exit(posix.WEXITSTATUS(status))
