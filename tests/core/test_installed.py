"""What is installed: what only some users need is an extra of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.cli.server_context import Watch
from mock_platform.core import installed
from mock_platform.core.installed import MissingExtra, require_extra
from mock_platform.serving.http.tls import TlsMaterial
from tests.support import Sandbox


def test_an_installed_extra_is_enough() -> None:
    """A library that is there needs no word."""
    require_extra("--tls", "tls", "trustme")


def test_a_missing_extra_says_how_to_install_it() -> None:
    """The message names the option, the library and the command."""
    with pytest.raises(MissingExtra) as refusal:
        require_extra("--tls", "tls", "no_library_of_this_name")

    assert str(refusal.value) == (
        "--tls needs no_library_of_this_name, which is not installed. Install it with "
        "pip install 'mock-platform[tls]'"
    )


def test_certificates_and_watches_need_their_extras(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra nothing is begun: no folder, no thread."""
    monkeypatch.setattr(installed, "find_spec", lambda _: None)

    with pytest.raises(MissingExtra, match=r"mock-platform\[tls\]"):
        TlsMaterial.generate(directory=tmp_path / "tls")
    with pytest.raises(MissingExtra, match=r"mock-platform\[watch\]"):
        Watch(box.platform)

    assert list(tmp_path.iterdir()) == []


def test_metrics_need_their_extra(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The route answers 501 with the command that installs it; all other routes answer."""
    monkeypatch.setattr(installed, "find_spec", lambda _: None)

    refused = box.client.get("/_mock/metrics")

    assert 501 == refused.status_code
    assert refused.get_json()["detail"].endswith("pip install 'mock-platform[metrics]'")
    assert 200 == box.client.get("/_mock/health").status_code
