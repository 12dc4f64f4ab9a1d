"""Archives of the sandbox's own traffic."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import OPERATIONS
from mock_platform.control.examples import sample
from mock_platform.control.journal import archive
from mock_platform.core.auth.tester_access import Credentials
from mock_platform.core.envelope import Lines
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import MINUTE, Operation
from mock_platform.settings import Settings
from mock_platform.verification.compare.side import OriginalNames
from mock_platform.verification.importing.folder import ImportOptions, import_har
from mock_platform.verification.importing.result import ImportReport
from tests.support import Sandbox
from tests.test_kept_worlds import NOON
from tests.verification.har.support import write_har

_LEFT_OUT = ("oauth2.invalidate_token", "openapi.get")


@cache
def read_first_credentials() -> Credentials:
    """The credentials of a default world as it begins, which are the same in all."""
    return credentials(Sandbox(Settings(freeze=NOON)).platform.worlds.default)


@cache
def list_operations() -> Sequence[Operation]:
    """The operations that have samples: reads first, and last those that end credentials.

    Left out are streams, which do not end, the description, which is no answer from records, and
    what sends or shows a secret that no recording holds: the pages on which users log in, and the
    end of a token.
    """
    found = read_first_credentials()
    listed = []
    order = ("GET", "POST", "PUT", "DELETE")
    for operation in sorted(
        OPERATIONS, key=lambda each: (each.dialect == "oauth", order.index(each.method))
    ):
        is_page = operation.returns.media_type == "text/html"
        if isinstance(operation.returns, Lines) or is_page or operation.id in _LEFT_OUT:
            continue
        try:
            sample(operation, found)
        except LookupError:
            continue
        listed.append(operation)
    return listed


def send_sample(box: Sandbox, operation: Operation) -> None:
    """Send the sample of an operation; with an ended token if no other one is left."""
    try:
        asked = sample(operation, credentials(box.platform.worlds.default))
    except LookupError:
        asked = sample(operation, read_first_credentials())
    body = None if asked.body is None else asked.body.replace(MINUTE, "202603011159")
    box.client.open(asked.path, method=asked.method, headers=asked.headers, data=body)


def send_original(box: Sandbox, operation: Operation) -> None:
    """Send the sample of an operation as a client of the real service would, in original names."""
    asked = sample(operation, credentials(box.platform.worlds.default))
    parts = urlsplit(asked.path)
    kind = dict(asked.headers).get("Content-Type", "").partition(";")[0]
    sent = (asked.body or "").replace(MINUTE, "202603011159").encode()
    target, body = OriginalNames().write_sent(operation, parts.path, parts.query, kind, sent)
    data = None if asked.body is None else body
    box.client.open(target, method=asked.method, headers=asked.headers, data=data)


def write_bare_journal(box: Sandbox, file: Path) -> Path:
    """The journal of a sandbox as an archive of the real service: without the sandbox's headers."""
    document = archive(list(box.world.journal), 0)
    for entry in document["log"]["entries"]:
        shown = entry["response"]["headers"]
        entry["response"]["headers"] = [x for x in shown if not x["name"].startswith("X-Mock-")]
    file.write_bytes(dumps(document))
    return file


def import_entries(folder: Path, *entries: Any, **options: Any) -> ImportReport:
    """What became of an archive with these entries; the folder is called `made`."""
    return import_har(write_har(folder, *entries), folder / "made", ImportOptions(**options))


def read_table(report: ImportReport, name: str) -> list[dict[str, Any]]:
    """The records that an import wrote into the file of a table."""
    found: list[dict[str, Any]] = json.loads((report.folder / f"{name}.json").read_text("utf-8"))
    return found


def read_words(folder: Path) -> set[str]:
    """All words in the files of a folder."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}


def write_journal(box: Sandbox, file: Path) -> Path:
    """The journal of a sandbox as an archive."""
    file.write_bytes(dumps(archive(list(box.world.journal), 0)))
    return file
