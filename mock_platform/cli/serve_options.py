"""The arguments of `serve`, as one value for the process or the processes that serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from mock_platform.cli import logs
from mock_platform.core.platform_hosts import Interception
from mock_platform.settings import Settings

if TYPE_CHECKING:
    from mock_platform.verification.compare.shadow import ShadowSettings


class ServeOptions(Struct, frozen=True):
    """The arguments of `serve`."""

    settings: Settings
    tls: bool = False
    tls_folder: Path | None = None
    log_format: logs.LogFormat = "text"
    log_level: logs.LogLevel = "info"
    watch: bool = False
    stop_with_stdin: bool = False
    workers: int = 1
    intercept: Interception | None = None
    """What a proxy for the platform's real hosts does; `None` without one."""
    shadow: ShadowSettings | None = None
    """To which service requests are sent as well; `None` for none."""
