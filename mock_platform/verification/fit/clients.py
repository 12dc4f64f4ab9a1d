"""What the methods of published client libraries send, from `clients.json`, which is generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from mock_platform.core.jsonio import loads
from mock_platform.verification.fit.source import SourceFile

_PASSED_OVER = frozenset(
    ["default", "readWrite", "readOnly", "client", "login", "appLogin", "loginWithOAuth2",
     "refreshOAuth2Token"]
)  # fmt: skip
Methods = Mapping[str, Sequence[str]]
"""What each method sends, `POST https://api.x.com/2/tweets`, by `Class.method`."""


class Clients:
    """The methods of client libraries, by library."""

    def __init__(self, known: Mapping[str, Methods]) -> None:
        self.known = known
        self.methods = {
            key.rpartition(".")[2].partition(" ")[0] for each in known.values() for key in each
        }
        """The last names of all methods."""

    def find_library(self, dotted: str) -> str:
        """Return the library of a dotted name, empty if no library has it."""
        found = [lib for lib in self.known if dotted == lib or dotted.startswith(f"{lib}.")]
        return max(found, key=len, default="")

    def list_imported(self, sources: Iterable[SourceFile]) -> set[str]:
        """Return the libraries that files import."""
        names = {each for source in sources for each in source.module.imports.values()}
        return {self.find_library(each.replace("|", ".")) for each in names} - {""}

    def find(self, dotted: str) -> Sequence[str] | None:
        """Return what a method sends, `None` if it is no method that is known."""
        library = self.find_library(dotted)
        if not library:
            return None
        names = dotted[len(library) + 1 :].replace("()", "").split(".")
        names = [name for name in names if name not in _PASSED_OVER]
        for length in (3, 2, 1):
            sent = self.known[library].get(".".join(names[-length:])) if names else None
            if sent is not None:
                return sent
        # Of what another method returned, such as `client.accounts(id).campaigns()`.
        ways = {
            tuple(sent) for key, sent in self.known[library].items()
            if key.rpartition(".")[2] == names[-1:][0] and "." in key
        } if len(names) > 2 else set()  # fmt: skip
        return ways.pop() if len(ways) == 1 else None


def read_clients() -> Clients:
    """Return the methods of the libraries that this package knows."""
    text = files("mock_platform").joinpath("verification", "fit", "clients.json").read_bytes()
    return Clients(loads(text))
