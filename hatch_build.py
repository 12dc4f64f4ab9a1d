"""What the build adds: the pages of `docs/` and their site, and whole links in the README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
_PICTURE = re.compile(r"\]\((?!https?:)([^)\s]+\.png)\)")
_RELATIVE = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


class BuildHook(BuildHookInterface[Any]):
    """Puts the pages into the package, without the code that writes some of them.

    The site is added if `make site` has built it: installing from a checkout needs no generator.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add each page to a wheel; an editable install reads those of the checkout."""
        root = Path(self.root)
        pages = [root / name for name in _PAGES]
        pages += [
            file
            for file in sorted((root / "docs").rglob("*"))
            if not {"generators", "__pycache__"} & set(file.relative_to(root).parts)
            and file.parent.name != "images"  # pages are read as text; the site has pictures
        ]
        for file in pages:
            if file.is_file():
                place = file.relative_to(root).as_posix()
                # Beside the README, which has its name.
                place = "index.md" if place == "docs/README.md" else place.removeprefix("docs/")
                build_data["force_include"][str(file)] = f"mock_platform/docs/{place}"
        if (root / "AGENTS.md").is_file():
            build_data["force_include"][str(root / "AGENTS.md")] = "mock_platform/AGENTS.md"
        site = root / "build" / "site"
        if (site / "index.html").is_file():
            build_data["force_include"][str(site)] = "mock_platform/docs/site"


class MetadataHook(MetadataHookInterface):
    """Makes the links of the README absolute: a package index does not have our files."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README as it is shown by a package index."""
        text = Path(self.root, "README.md").read_text("utf-8")
        source = metadata["urls"]["Source"]
        text = _PICTURE.sub(lambda found: f"]({source}/raw/main/{found[1]})", text)
        absolute = _RELATIVE.sub(lambda found: f"]({source}/blob/main/{found[1]})", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute}
