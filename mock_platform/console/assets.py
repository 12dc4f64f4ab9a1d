"""The files that pages load: style sheet, scripts, icon.

Each has the hash of its content in its address, so browsers keep it until it changes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from flask import Response

from mock_platform.control.refusal import ControlRefusal
from mock_platform.control.route import ControlRequest, Route

FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"


class Assets:
    """The files by name; they are read once."""

    def __init__(self) -> None:
        files = [file for file in sorted(FOLDER.iterdir()) if file.suffix in _TYPES]
        self._files = {file.name: file.read_bytes() for file in files}
        self._hashes = {
            name: hashlib.sha256(data).hexdigest()[:16] for name, data in self._files.items()
        }

    def locate(self, name: str) -> str:
        """Returns the path of a file below `/_mock`."""
        return f"/console/assets/{self._hashes[name]}/{name}"

    def send_file(self, request: ControlRequest) -> Response:
        """One file of the pages."""
        name = request.args["name"]
        data = self._files.get(name)
        if data is None or self._hashes[name] != request.args["hash"]:
            raise ControlRefusal(404, "The console has no such file; reload the page.")
        kind = _TYPES[Path(name).suffix]
        return Response(data, content_type=kind, headers={"Cache-Control": _FOREVER})

    @property
    def route(self) -> Route:
        """The route of all files."""
        return Route("GET", "/console/assets/<hash>/<name>", self.send_file, media_type="*/*")
