"""Linux: a command sees a hosts file and a trust store of its own, and its connections lead here.

This reaches every program, whatever its library reads. The command runs in a mount namespace, in
which a file with the platform's hosts lies over `/etc/hosts`, and a bundle with our authority over
each of the system's. The names have addresses of this machine on which nothing listens; a filter of
system calls (seccomp) reports each `connect` of the command to a thread here, which puts the
proxy's address into those to the platform's hosts, and leaves all others as they are. So no port
below 1024 and no rights are needed, and nothing outside the command changes.

The same file is the program that enters the namespace and becomes the command: it runs without the
package, so it needs the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, ip_address
from pathlib import Path

_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
)
"""Where systems keep the authorities that programs trust."""
_PHP_BUNDLES = "vendor/*/*/*/cacert.pem"
"""Where the working folder has those that packages of PHP bring along."""
_HOSTS = Path("/etc/hosts")
_LOOK_UPS = Path("/etc/nsswitch.conf")
_FIRST = IPv4Address("127.77.80.1")
"""The first host's address; each has one of its own, so that a connection tells its host."""
_PORTS = frozenset((80, 443))
_NAME_SERVICE = ":53"
_HERE = socket.inet_aton("127.0.0.1")
_MAPPED = bytes(10) + b"\xff\xff"
"""What is before an IPv4 address in one of IPv6."""

# The numbers of the system's interface (linux/seccomp.h, linux/audit.h, sched.h, sys/mount.h).
_MACHINES = {"x86_64": (0xC000003E, 317, 42), "aarch64": (0xC00000B7, 277, 203)}
"""The architecture, and the system calls `seccomp` and `connect` of it."""
_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_BIND, _PRIVATE, _RECURSIVE = 0x1000, 0x40000, 0x4000
_FILTER, _LISTENER = 1, 8
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_LOAD, _IS, _RETURN = 0x20, 0x15, 0x06
_RECEIVE, _ANSWER, _CONTINUE = 0xC0502100, 0xC0182101, 1
_QUESTION = struct.Struct("=QIIiIQ6Q")
_REPLY = struct.Struct("=QqiI")
_ADDRESS_LENGTHS = (16, 28)
"""Of IPv4 and IPv6; addresses of other kinds never leave this machine."""


class CannotEnclose(Exception):
    """The system does not allow it; the text says what, and why."""


class Enclosure:
    """Files for one command, and the thread that leads its connections."""

    def __init__(self, hosts: Sequence[str], ca: Path, port: int) -> None:
        """`port` is the proxy's on this machine; the files are made in the folder of `ca`."""
        self._seen: list[str] = []
        self._names = {str(_FIRST + number): name for number, name in enumerate(hosts)}
        self._to = struct.pack(">H", port)
        self._folder = ca.with_name("files")
        self._ca = ca.read_text("ascii")

    def start(self, command: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start the command.

        Raises:
            CannotEnclose: It was not started, because the system does not allow this.
        """
        if sys.platform != "linux":
            raise CannotEnclose("only Linux has the namespaces that lay files over a command's")
        try:
            files = self._write_files()
        except OSError as fault:
            raise CannotEnclose(f"{fault.filename}: {fault.strerror}") from fault
        machine = platform.machine()
        job = {"command": command, "environ": dict(environ), "files": files, "machine": machine}
        ours, theirs = socket.socketpair()
        with ours, theirs:
            words = [sys.executable, "-I", "-S", __file__, str(theirs.fileno())]
            child = subprocess.Popen(words, pass_fds=[theirs.fileno()])  # noqa: S603 - our own file
            theirs.close()
            ours.sendall(json.dumps(job).encode())
            ours.shutdown(socket.SHUT_WR)
            told, found, _, _ = socket.recv_fds(ours, 1000, 1)
        if not found:
            child.wait()
            raise CannotEnclose(told.decode() or "the program that prepares it ended")
        name = "mock-platform-connections"
        threading.Thread(target=self._lead, args=(found[0],), name=name, daemon=True).start()
        return child

    def list_seen(self) -> list[str]:
        """Return each connection to the platform's hosts and to other machines: host and port."""
        return [target for target in self._seen if not target.endswith(_NAME_SERVICE)]

    # -- details ----------------------------------------------------------------------------------

    def _write_files(self) -> list[tuple[str, str]]:
        """Return pairs: a new file, and the file of the system that it lies over."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        lines = "".join(f"{address} {name}\n" for address, name in self._names.items())
        contents = {_HOSTS: lines + _HOSTS.read_text("utf-8", "replace")}
        if _LOOK_UPS.is_file():
            # A service of the system would look names up outside, where the file is another one.
            text = _LOOK_UPS.read_text("utf-8", "replace")
            contents[_LOOK_UPS] = "".join(
                "hosts: files dns\n" if line.startswith("hosts:") else line
                for line in text.splitlines(keepends=True)
            )
        for name in (*map(Path, _BUNDLES), *Path.cwd().glob(_PHP_BUNDLES)):
            if (bundle := name.resolve()).is_file():
                contents[bundle] = f"{bundle.read_text('utf-8', 'replace')}\n{self._ca}"
        pairs = []
        for number, (over, text) in enumerate(contents.items()):
            file = self._folder / f"{number}-{over.name}"
            file.write_text(text, "utf-8")
            file.chmod(0o644)  # a command may give up its user's rights; the folder stays private
            pairs.append((str(file), str(over)))
        return pairs

    def _lead(self, listener: int) -> None:
        """Look at each connection of the command until all of its processes have ended."""
        import fcntl  # not on Windows, where the package is imported as well

        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        try:
            while waiting.poll()[0][1] & select.POLLIN:
                question = bytearray(_QUESTION.size)
                try:
                    fcntl.ioctl(listener, _RECEIVE, question)
                    number, process, *_, address, length, _, _, _ = _QUESTION.unpack(question)
                    self._look_at(process, address, length)
                    fcntl.ioctl(listener, _ANSWER, _REPLY.pack(number, 0, 0, _CONTINUE))
                except OSError:  # the process has ended meanwhile
                    continue
        finally:
            os.close(listener)

    def _look_at(self, process: int, at: int, length: int) -> None:
        """Count a connection that leaves this machine; lead one to the platform's hosts here.

        The system reads the address again when it continues, so it can be changed where it is.
        """
        try:
            with open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123
                memory.seek(at)
                sent = memory.read(length)
                family, port = int.from_bytes(sent[:2], sys.byteorder), int.from_bytes(sent[2:4])
                if family not in {socket.AF_INET, socket.AF_INET6}:
                    return
                where = slice(4, 8) if family == socket.AF_INET else slice(8, 24)
                shown = ip_address(sent[where].removeprefix(_MAPPED))
                name = self._names.get(str(shown))
                if name is not None and port in _PORTS:
                    for place, value in ((2, self._to), (where.stop - len(_HERE), _HERE)):
                        memory.seek(at + place)
                        memory.write(value)
        except OSError:  # the process ended, or may not be looked at
            return
        if name is not None or not (shown.is_loopback or shown.is_unspecified):
            self._seen.append(f"{name or shown}:{port}")


# The program that becomes the command.


def _become(channel: socket.socket) -> None:
    with channel.makefile("rb") as sent:
        job = json.loads(sent.read())
    try:
        listener = _enter(job["files"], *_find_machine(job["machine"]))
    except OSError as fault:
        channel.sendall(f"{fault.filename}: {fault.strerror}".encode())
        sys.exit(1)
    socket.send_fds(channel, [b"."], [listener])
    os.close(listener)
    channel.close()
    for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    command = job["command"]
    try:
        os.execvpe(command[0], command, job["environ"])  # noqa: S606 - the user's own
    except OSError as fault:
        print(f"Error: {command[0]} cannot be run: {fault.strerror}.", file=sys.stderr)
        sys.exit(126)


def _find_machine(name: str) -> tuple[int, int, int]:
    if name not in _MACHINES:
        raise OSError(0, "its system calls are not known here", name)
    return _MACHINES[name]


def _enter(files: Sequence[tuple[str, str]], machine: int, seccomp: int, connect: int) -> int:
    """Enter a namespace with these files, begin to report connections, and return where."""
    system = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), what)
        return result

    user, group = os.getuid(), os.getgid()
    if system.unshare(_NEW_MOUNTS) < 0:
        check(system.unshare(_NEW_MOUNTS | _NEW_USERS), "a namespace (unshare)")
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path("/proc/self", name).write_text(text, "ascii")
    check(system.mount(None, b"/", None, _PRIVATE | _RECURSIVE, None), "a private mount")
    for file, over in files:
        check(system.mount(file.encode(), over.encode(), None, _BIND, None), f"a mount at {over}")
    # The filter: is it this architecture, `connect`, and an address of a length of the Internet's?
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4), (_IS, 0, 5, machine),
        (_LOAD, 0, 0, 0), (_IS, 0, 3, connect),
        (_LOAD, 0, 0, 32), (_IS, 2, 0, _ADDRESS_LENGTHS[0]), (_IS, 1, 0, _ADDRESS_LENGTHS[1]),
        (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY),
    ]  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    found = system.syscall(seccomp, _FILTER, _LISTENER, ctypes.create_string_buffer(program))
    return check(found, "a filter of system calls (seccomp)")


if __name__ == "__main__":
    _become(socket.socket(fileno=int(sys.argv[1])))
