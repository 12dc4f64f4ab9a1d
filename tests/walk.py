"""Which modules one signed PUT of a line item enters: `python -m tests.walk`, in a checkout.

Prints as JSON the modules in the order in which they are first entered, and each pair of modules in
which one calls another that lies above it in the layers of `pyproject.toml`.
"""

from __future__ import annotations

import json
import sys
import threading
import tomllib
from pathlib import Path
from types import FrameType
from typing import Any

import requests

from mock_platform.platform import Platform
from mock_platform.serving.app import make_edge
from mock_platform.serving.http import ServerThread
from mock_platform.settings import Settings
from tests.support import ACCOUNT, signed

ROOT = Path(__file__).parents[1]
PACKAGE = f"{ROOT / 'mock_platform'}/"


class Walk:
    """Notes each call of a function of the package while `on` is true."""

    def __init__(self) -> None:
        self.on = False
        self.modules: dict[str, None] = {}
        self.upwards: dict[tuple[str, str], None] = {}
        pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        layers = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
        self._layer = {
            name: number for number, line in enumerate(layers) for name in line.split(" | ")
        }

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take one event of the interpreter; only calls count."""
        if not self.on or event != "call" or (module := _module(frame)) is None:
            return
        self.modules[module] = None
        back = frame.f_back
        while back is not None and _module(back) is None:
            back = back.f_back
        caller = None if back is None else _module(back)
        if caller is not None and self._height(module) < self._height(caller):
            self.upwards[caller, module] = None

    def _height(self, module: str) -> int:
        return self._layer[module.partition("/")[0].removesuffix(".py")]


def _module(frame: FrameType) -> str | None:
    file = frame.f_code.co_filename
    return file.removeprefix(PACKAGE) if file.startswith(PACKAGE) else None


def walk() -> Walk:
    """Returns what the third PUT over a socket enters: the first ones load and build things."""
    found = Walk()
    threading.setprofile(found.note)  # for the threads that start from now on: the server's
    with ServerThread(make_edge(Platform(Settings()))) as server, requests.Session() as session:
        path = f"{server.url}/12/accounts/{ACCOUNT}/line_items"
        item = session.get(path, headers=signed("GET", path)).json()["data"][0]["id"]
        for name in ("One", "Two", "Three"):
            found.on = name == "Three"
            address = f"{path}/{item}?name={name}"
            session.put(address, headers=signed("PUT", address)).raise_for_status()
        found.on = False
    threading.setprofile(None)
    return found


if __name__ == "__main__":
    done = walk()
    json.dump({"modules": list(done.modules), "upwards": list(done.upwards)}, sys.stdout, indent=1)
