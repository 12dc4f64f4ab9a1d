"""A page of the console is a value: its name in the navigation and the routes behind it."""

from __future__ import annotations

from msgspec import Struct

from mock_platform.control.route import Route


class ConsolePage(Struct, frozen=True):
    """One entry of the navigation. The routes are those of the page and of its actions."""

    title: str
    """The entry in the navigation."""
    path: str
    """The path below `/_mock` that the entry leads to."""
    routes: tuple[Route, ...]

    def leads_to(self, path: str) -> bool:
        """Whether a path below `/_mock` is that of this entry or of a page under it."""
        under = "/console/requests" if self.path == "/" else self.path
        return path in {self.path, under} or path.startswith(f"{under}/")
