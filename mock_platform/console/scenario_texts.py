"""The texts of scenarios: their files as they are, else what is known of them as YAML."""

from __future__ import annotations

from mock_platform.scenario.document import Scenario
from mock_platform.scenario.source import MAX_BYTES
from mock_platform.scenario.writing import write_document

_HEADING = "# "


def find_text(scenario: Scenario) -> tuple[str, str]:
    """Returns the text of a scenario and the name of a file for it.

    The file of the scenario is returned as its author wrote it, with its comments.
    """
    file = scenario.file
    if file is not None:
        try:
            content = file.read_bytes()
        except OSError:  # removed since; what the server knows of it remains
            content = b""
        if content and len(content) <= MAX_BYTES:
            return content.decode("utf-8-sig", "replace"), file.name
    text, suffix = write_document(scenario.document)
    return text, f"{scenario.name}{suffix}"


def find_comments(scenario: Scenario) -> dict[str, str]:
    """Returns what the author wrote beside the parameters: comments at the ends of their lines."""
    text, name = find_text(scenario)
    if name.endswith(".json") or not scenario.parameters:
        return {}
    return _read_comments(text)


def _read_comments(text: str) -> dict[str, str]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        # The document was read before, within bounds and without aliases.
        parameters = YAML(typ="rt", pure=True).load(text)["parameters"]
    except (YAMLError, KeyError, TypeError):
        return {}
    found = getattr(parameters, "ca", None)
    comments: dict[str, str] = {}
    for key, tokens in (found.items if found is not None else {}).items():
        token = tokens[2]
        first = "" if token is None else str(token.value).strip().partition("\n")[0]
        if first.startswith(_HEADING):
            comments[key] = first.removeprefix(_HEADING).strip()
    return comments
