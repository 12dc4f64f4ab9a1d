"""Builds the site into a folder: `python -m docs.generators.site build/site`, in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.generators.site.building import build

if len(sys.argv) != 2:
    sys.exit("usage: python -m docs.generators.site FOLDER")
place = Path(sys.argv[1])
build(place)
print(f"The site is {place / 'index.html'}")
