"""Writes a scenario's document as a file: YAML as people write it, else JSON."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from mock_platform.core.jsonio import dumps, pretty
from mock_platform.scenario.source import Malformed, read

YAML_SUFFIX = ".yaml"
JSON_SUFFIX = ".json"
_WIDTH = 100
_TEXT = "tag:yaml.org,2002:str"


def write_document(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return a document as text, and the suffix of a file for it.

    YAML, unless reading it back would give other values: it has no number of more than 18 digits.
    """
    text = _write_yaml(document)
    try:
        same = dumps(read(FilePath(f"scenario{YAML_SUFFIX}"), text.encode()).data) == dumps(
            document
        )
    except Malformed:
        same = False
    return (text, YAML_SUFFIX) if same else (f"{pretty(document)}\n", JSON_SUFFIX)


def _write_yaml(document: Mapping[str, Any]) -> str:
    from ruamel.yaml import YAML  # 40 ms that servers which write no scenario do not pay
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.representer import SafeRepresenter

    class Plain(SafeRepresenter):
        """Writes texts in the style that is easiest to read, and never an alias."""

        def ignore_aliases(self, data: Any) -> bool:
            """Write a value out wherever it occurs: a scenario has no aliases."""
            return True

        def write_text(self, text: str) -> ScalarNode:
            """Return the node of a text."""
            return self.represent_scalar(_TEXT, text, style=_choose_style(text))

    Plain.add_representer(str, Plain.write_text)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Plain
    yaml.default_flow_style = False
    yaml.width = _WIDTH
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.indent(mapping=2, sequence=4, offset=2)
    written = io.StringIO()
    yaml.dump(dict(document), written)
    return written.getvalue()


def _choose_style(text: str) -> str | None:
    """Return the style of a text: a block for lines, folded if long, quoted if it must be."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        return '"'
    whole = all(line == line.strip() for line in lines) and text[:1] not in {"", "\n"}
    if len(lines) > 1:
        return "|" if whole else '"'
    return ">" if whole and len(text) > _WIDTH // 2 and "  " not in text and " " in text else None
