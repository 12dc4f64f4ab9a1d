"""Requests of a recording that no operation answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mock_platform.verification.importing.folder import import_har
from tests.scenario.support import count_asked
from tests.verification.har.support import make_entry, write_har


def write_archive(folder: Path, urls: list[str]) -> Path:
    """An archive of GET requests, each with an answer of its own."""
    headers = [{"name": "content-type", "value": "application/json"}]
    texts = (json.dumps({"n": n}) for n in range(len(urls)))
    return write_har(folder, *(
        make_entry(url=url, text=text, headers=headers)
        for url, text in zip(urls, texts, strict=True)
    ))  # fmt: skip


@pytest.mark.parametrize("form", ["/nothing/{}", "/nothing?q={}", "/nothing"])
def test_work_grows_evenly(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with its square: each request asks a few rules, however many there are."""
    asked = count_asked(monkeypatch)
    work = {}
    for count in (50, 200):
        asked.clear()
        urls = [f"https://api.x.com{form.format(n)}" for n in range(count)]
        report = import_har(write_archive(tmp_path, urls), tmp_path / str(count))
        assert count == report.answered
        work[count] = len(asked)

    assert work[200] < 5 * work[50]


def test_parameters_belong_to_their_path(tmp_path: Path) -> None:
    """What was sent to one path is no condition on requests to another."""
    urls = [f"https://api.x.com/{path}" for path in ("one?a=1", "one?b=1", "two?c=1")]
    report = import_har(write_archive(tmp_path, urls), tmp_path / "out")
    (file,) = (tmp_path / "out" / "scenarios").glob("as-recorded*")
    rules = json.loads(file.read_text("utf-8"))["rules"]
    assert 3 == report.answered
    assert [["a", "b"], ["a", "b"], ["c"]] == [sorted(rule["when"]["query"]) for rule in rules]
