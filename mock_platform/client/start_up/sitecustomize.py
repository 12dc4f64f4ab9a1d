"""Loaded by each Python that `run --intercept` starts: leads the platform's hosts to the proxy.

Not every library reads the variables of a proxy, or trusts the authorities that a variable names.
So names of these hosts are looked up as the proxy, which speaks TLS like the host itself, and its
authority is trusted beside whichever others a program loads. A `sitecustomize` of the user's own
still runs. Needs the standard library alone, of Python 3.7 or later.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Callable  # noqa: UP035 - as in Python 3.7

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib loads slowly
_CA = os.environ.get("MOCK_PLATFORM_CA", "")
_PROXY = os.environ.get("MOCK_PLATFORM_PROXY", "").rpartition("//")[2].partition(":")
_HOSTS = frozenset(os.environ.get("MOCK_PLATFORM_HOSTS", "").split(","))
_PORTS = frozenset(("80", "443", "http", "https"))
_PAST = os.environ.get("MOCK_PLATFORM_PAST")


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _note(host: str, port: str) -> None:
    """Keep what was looked up past the proxy, for `--explain`."""
    if _PAST and host not in {"None", "localhost"} and not host.startswith(("127.", "::1")):
        with open(_PAST, "a", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write(host + ":" + port + "\n")


def _lead(host: Any, port: Any) -> tuple[Any, Any]:
    """Return where a connection to this host and port goes."""
    name, number = _as_text(host).rstrip(".").lower(), _as_text(port)
    if port:
        _note(name, number)
    return (_PROXY[0], int(_PROXY[2])) if name in _HOSTS and number in _PORTS else (host, port)


def _lead_names(socket: Any) -> None:
    look_up, kinds = socket.getaddrinfo, (socket.AF_INET, socket.AF_INET6)

    def getaddrinfo(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        return look_up(*_lead(host, port), *more, **named)

    def leading(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, address: Any) -> Any:
            if self.family in kinds and isinstance(address, tuple) and len(address) > 1:
                name = _as_text(address[0])
                if ":" not in name and not name.replace(".", "").isdigit():
                    address = (*_lead(address[0], address[1]), *address[2:])
            return method(self, address)

        return call

    socket.getaddrinfo = getaddrinfo
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, leading(getattr(socket.socket, name)))


def _trust(ssl: Any) -> None:
    load = ssl.SSLContext.load_verify_locations

    def trusting(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *given: Any, **named: Any) -> Any:
            found = method(self, *given, **named)
            if os.path.exists(_CA):  # noqa: PTH110 - as above; gone when the proxy has stopped
                load(self, _CA)
            return found

        return call

    for name in ("load_verify_locations", "load_default_certs", "set_default_verify_paths"):
        setattr(ssl.SSLContext, name, trusting(getattr(ssl.SSLContext, name)))


def _add_to_certifi(certifi: Any) -> None:
    bundle = os.path.join(os.path.dirname(_CA), "ssl_cert_file.pem")  # noqa: PTH118, PTH120
    if os.path.exists(bundle):  # noqa: PTH110
        certifi.where = lambda: bundle


class _Finder:
    """Changes modules when they are imported: importing them here would cost every program time."""

    def __init__(self, changes: dict[str, Callable[[Any], None]]) -> None:
        self._changes = changes
        for name in [name for name in changes if name in sys.modules]:
            changes.pop(name)(sys.modules[name])

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Return how to import one of the modules; others are left to the next finder."""
        change = self._changes.pop(name, None)
        spec = None if change is None else PathFinder.find_spec(name, path)
        if change is None or spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_change(module: ModuleType) -> None:
            run(module)
            change(module)

        spec.loader.exec_module = run_and_change  # type: ignore[method-assign]
        return spec


if _CA and _PROXY[2].isdigit():
    sys.meta_path.insert(
        0, _Finder({"socket": _lead_names, "ssl": _trust, "certifi": _add_to_certifi})
    )

# The user's own module of this name comes next.
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != _HERE]  # noqa: PTH100
_ours = sys.modules.pop("sitecustomize", None)
try:
    import_module("sitecustomize")
except ImportError as fault:
    if fault.name != "sitecustomize":
        raise
finally:
    if _ours is not None:
        sys.modules.setdefault("sitecustomize", _ours)
