from __future__ import annotations

import gc
import re
from contextlib import nullcontext, suppress

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group
from mock_platform.serving.process import load_operations, load_quickly
from tests.commands import python


def test_nothing_is_collected_while_modules_are_loaded() -> None:
    """Afterwards the collector runs again, and leaves out what was made before."""
    with load_quickly():
        paused = not gc.isenabled()
        made: list[list[int]] = [[] for _ in range(1000)]
        before = gc.get_freeze_count()

    assert paused
    assert gc.isenabled()
    assert gc.get_freeze_count() >= before + len(made)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_goes_on_as_it_was(
    monkeypatch: pytest.MonkeyPatch, *, enabled: bool
) -> None:
    """It is paused while the sandbox is made, and then as the run had it, also after an error."""
    state = [enabled]
    monkeypatch.setattr(gc, "isenabled", lambda: state[-1])
    monkeypatch.setattr(gc, "enable", lambda: state.append(True))
    monkeypatch.setattr(gc, "disable", lambda: state.append(False))

    with suppress(ZeroDivisionError), load_quickly():
        assert not gc.isenabled()
        raise ZeroDivisionError

    assert gc.isenabled() is enabled


def test_two_threads_may_load_at_the_same_time() -> None:
    """Whoever ends last, nothing stays as it was set for the time of loading."""
    compile_ = re.compile
    first, second = load_quickly(), load_quickly()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)

    assert re.compile is compile_
    assert gc.isenabled()


def test_a_program_keeps_only_what_it_wants() -> None:
    """A sandbox is loaded quickly into it, and what else exists there is collected as before."""
    program = (
        "import gc; from mock_platform import MockPlatform; MockPlatform.start().stop(); "
        "import marshmallow.validate as v; "
        "print(gc.isenabled(), gc.get_freeze_count(), '_pattern' in vars(v.Email.DOMAIN_REGEX))"
    )

    assert "True 0 False" == python("-c", program).stdout.strip()


_CHECK_ADDRESSES = """
import re
from mock_platform.serving.process import load_quickly
compile_ = re.compile
with load_quickly():
    import mock_platform.serving.app
    others = isinstance(re.compile("[\u00a1-\uffff]", re.IGNORECASE), re.Pattern)
from marshmallow.validate import Email, ValidationError
assert re.compile is compile_
waits = "_pattern" not in vars(Email.DOMAIN_REGEX)
Email()("zoë@müller.example")
try:
    Email()("zoë@")
except ValidationError:
    print(waits, others)
"""


def test_the_pattern_of_mail_addresses_is_compiled_when_it_is_used() -> None:
    """It does not cost time at the start, and checks addresses as it always did."""
    assert python("-c", _CHECK_ADDRESSES).stdout.strip() == "True True"


@pytest.mark.parametrize(
    "words",
    ["assumptions", "check a.yaml", "contract", "failures x", "fidelity", "fit .",
     "import --har pyproject.toml --to x", "open pyproject.toml", "openapi", "run true", "serve"],
)  # fmt: skip
def test_commands_that_load_all_operations_do_so_quickly(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Each begins with that; in a process that has them already nothing is set."""

    def stop() -> None:
        raise ZeroDivisionError

    assert isinstance(load_operations(), nullcontext)
    for name in ("checking", "printing", "service", "serving"):
        monkeypatch.setattr(f"mock_platform.cli.{name}_commands.load_operations", stop)

    assert isinstance(CliRunner().invoke(group, words.split()).exception, ZeroDivisionError)
