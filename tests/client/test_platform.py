from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from mock_platform import MockPlatform, Settings
from mock_platform.client.interface import OTHER_WORDS
from mock_platform.serving.http import CannotBind
from mock_platform.world.clock import UPTIME
from mock_platform.world.store.errors import StoreInUse
from tests.commands import check_program
from tests.support import find_inner
from tests.waits import PATIENCE

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def platform() -> Iterator[MockPlatform]:
    """A running sandbox whose clock is frozen."""
    with MockPlatform.start(freeze=NOON) as running:
        yield running


def test_importing_the_package_is_cheap() -> None:
    """The package by itself loads no web framework; a name is loaded when it is used."""
    code = (
        "import sys, mock_platform\n"
        "assert mock_platform.__version__\n"
        "assert not {'flask', 'requests', 'marshmallow', 'httptools'} & set(sys.modules)\n"
        "assert {'MockPlatform', 'Settings', 'WsgiAdapter'} <= set(dir(mock_platform))\n"
        "mock_platform.WsgiAdapter\n"
        "assert not {'flask', 'marshmallow', 'httptools'} & set(sys.modules)\n"
        "mock_platform.MockPlatform\n"
        "assert not {'flask', 'marshmallow', 'httptools'} & set(sys.modules)\n"
        "mock_platform.create_app\n"
        "assert 'marshmallow' in sys.modules\n"
        "mock_platform.create_app()\n"
        "assert 'flask' in sys.modules"
    )

    check_program(code)


def test_an_unknown_name_of_the_package_is_told() -> None:
    """Loading on use does not swallow typing errors."""
    import mock_platform

    with pytest.raises(AttributeError, match="has no attribute 'MokPlatform'"):
        mock_platform.MokPlatform  # noqa: B018


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("url", " Did you mean 'base_url'?"),
        ("requets", " Did you mean 'journal'?"),
        ("jornal", " Did you mean 'journal'?"),
        ("zzz", ""),
    ],
)
def test_an_unknown_attribute_names_the_nearest(
    platform: MockPlatform, name: str, hint: str
) -> None:
    """Words of other tools lead to those of a world; then all that it has is named."""
    said = rf"A world has no attribute '{name}'\.{re.escape(hint)} It has: activate, .*, wsgi\."

    with pytest.raises(AttributeError, match=f"^{said}$"):
        getattr(platform, name)


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_words_of_other_tools_lead_somewhere(platform: MockPlatform, word: str) -> None:
    """None of them is a name here, and what is named in their place is."""
    assert not hasattr(platform, word)
    assert hasattr(type(platform), OTHER_WORDS[word])


def test_the_error_of_a_property_is_its_own(
    platform: MockPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for an attribute that does not exist."""
    monkeypatch.delattr(platform, "_addresses")

    with pytest.raises(AttributeError, match="_addresses"):
        platform.base_url  # noqa: B018 - it raises


@pytest.mark.live
def test_it_stops_at_once_and_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping waits for no interval, closes the port, and may be repeated."""
    monkeypatch.setattr("mock_platform.serving.http.backend.SWEEP_SECONDS", 10 * PATIENCE)
    platform = MockPlatform.start()
    requests.get(f"{platform.control_url}/health", timeout=PATIENCE)
    began = UPTIME()
    platform.stop()

    assert UPTIME() - began < PATIENCE
    platform.stop()
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{platform.control_url}/health", timeout=PATIENCE)


def test_a_taken_port_is_told() -> None:
    """A fixed port that is in use is reported, and the store is released."""
    with MockPlatform.start() as platform:
        port = int(platform.base_url.rpartition(":")[2])

        with pytest.raises(CannotBind, match="in use"):
            MockPlatform.start(port=port)


def test_settings_give_no_port(platform: MockPlatform) -> None:
    """The default port of `serve` is not used in Python: two servers start from one value."""
    settings = Settings()

    with MockPlatform.start(settings) as one, MockPlatform.start(settings) as other:
        assert one.base_url != other.base_url


def test_overrides_are_settings(tmp_path: Path) -> None:
    """Any setting may be passed by name, folders as text, moments as ISO 8601."""
    (tmp_path / "users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "Nine"}]')

    with MockPlatform.start(
        Settings(seed=4), fixtures=str(tmp_path), freeze="2026-03-01T12:00:00Z", delivery_attempts=1
    ) as platform:
        assert "9" in platform.state["users"]
        assert platform.clock.now() == NOON
        assert find_inner(platform).settings.seed == 4
        assert find_inner(platform).settings.delivery.attempts == 1


@pytest.mark.parametrize(
    ("name", "hint"), [("fixture", "'fixtures'"), ("delivery_attempt", "'delivery_attempts'")]
)
def test_an_unknown_setting_names_the_nearest(name: str, hint: str) -> None:
    """A misspelt setting is refused with what was meant."""
    wrong: dict[str, Any] = {name: 1}

    with pytest.raises(TypeError, match=rf"setting '{name}' does not exist\. Did you mean {hint}"):
        MockPlatform.start(None, **wrong)


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"names": "orignal"}, ValueError, "'names' is 'neutral' or 'original' or None, not 'or"),
        ({"warnings": "errors"}, ValueError, "not 'errors'. Did you mean 'error'?"),
        ({"strict": "yes"}, TypeError, "'strict' is True or False, not 'yes'."),
        ({"port": "8080"}, TypeError, "'port' is a whole number, not '8080'."),
        ({"seed": True}, TypeError, "'seed' is a whole number, not True."),
        ({"lease": "2s"}, TypeError, "'lease' is a number, not '2s'."),
        ({"public_hosts": "x"}, TypeError, "is a tuple, with a text in each place, not 'x'."),
        ({"delivery_attempts": "3"}, TypeError, "'delivery_attempts' is a whole number, not '3'."),
        # The type says so as well; those who do not check types are told at run time.
        ({"settings": Settings(auth="of")}, ValueError, "'auth' is 'strict' or 'off', not 'of'. D"),  # type: ignore[arg-type]
        (
            {"settings": 8080},
            TypeError,
            "by name, as in seed=7, or as mock_platform.Settings(…), n",
        ),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused(
    given: dict[str, Any], kind: type[Exception], told: str
) -> None:
    """It is not taken and then read by nothing; the message says what is allowed."""
    with pytest.raises(kind, match=re.escape(told)):
        MockPlatform.start(**given)


def test_other_forms_of_the_same_value_are_taken() -> None:
    """A list for a tuple, a whole number for a number, 1 for true."""
    values: dict[str, Any] = {"public_hosts": ["x"], "lease": 3, "strict": 1}

    with MockPlatform.start(**values) as platform:
        assert find_inner(platform).settings.strict


# -- sessions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("auth", "path", "status"),
    [
        ("oauth1", "/12/accounts", 200),
        ("bearer", "/12/accounts", 200),
        ("oauth2", "/2/activity/subscriptions", 200),
        (None, "/12/accounts", 401),
    ],
)
def test_sessions_call_as_they_were_asked_to(
    platform: MockPlatform, auth: Any, path: str, status: int
) -> None:
    """A session signs, sends a token, or does neither; the journal says how the caller came."""
    platform.clock.travel("2026-11-20T12:00:00Z")
    answer = platform.session(auth).get(path)

    (entry,) = platform.journal
    assert status == answer.status_code == entry.status
    assert entry.caller is not None
    assert (auth or "none") == entry.caller["scheme"]
    assert auth not in {"oauth1", "oauth2"} or entry.caller["user"] == "2244994945"
    assert entry.id == answer.headers["X-Mock-Request-Id"]


# -- a world -------------------------------------------------------------------------------------


def test_moving_the_clock_lets_due_things_happen(platform: MockPlatform) -> None:
    """A transition that falls due by an advance has happened when it returns."""
    job = {
        "id": "55", "webhook_id": platform.credentials["webhook_id"], "state": "IN_PROGRESS",
        "from_date": "202603010000", "to_date": "202603010100",
        "created_at": "2026-03-01T12:00:00.000Z",
    }  # fmt: skip
    platform.state["replay_jobs"].put(job, unchecked=True)
    world = find_inner(platform).worlds.default
    with world.work():
        world.transitions.begin("replay_job", "55")

    platform.clock.advance(seconds=2)

    assert (platform.state["replay_jobs"].get("55") or {})["state"] == "COMPLETE"


def test_deliveries_are_copies(platform: MockPlatform) -> None:
    """The list of deliveries can be changed without changing the world."""
    find_inner(platform).worlds.default.deliveries.append({"id": "d1", "status": 200})

    platform.deliveries[0]["status"] = 500

    assert [{"id": "d1", "status": 200}] == platform.deliveries
    assert platform.wait_for_deliveries(PATIENCE)


# -- faults --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("broken")
def test_a_fault_is_raised_by_the_call_that_met_it() -> None:
    """In-process, the handler's own exception comes out of the call, and nowhere else."""
    with MockPlatform.start() as platform:
        with pytest.raises(ZeroDivisionError, match="for /12/accounts"):
            platform.session("oauth1").get("/12/accounts")
        with pytest.raises(ZeroDivisionError):
            platform.world("w1").session("bearer").get("/12/accounts")
        headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}
        with pytest.raises(ZeroDivisionError):
            platform.world("w1").test_client().get("/12/accounts", headers=headers)

        (entry,) = platform.journal.find(operation="accounts.list")
        assert entry.status == 500
        assert "ZeroDivisionError" in (entry.traceback or "")
        platform.raise_errors()


@pytest.mark.live
@pytest.mark.usefixtures("broken")
def test_a_fault_over_the_network_is_raised_at_the_end() -> None:
    """The client gets a 500; the block ends with the handler's exception, reported once."""
    platform = MockPlatform.start()
    headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}

    with pytest.raises(ZeroDivisionError, match="for /12/accounts"), platform:
        answer = requests.get(f"{platform.base_url}/12/accounts", headers=headers, timeout=PATIENCE)

    assert answer.status_code == 500
    platform.stop()


@pytest.mark.live
@pytest.mark.usefixtures("broken")
def test_several_faults_come_together() -> None:
    """`raise_errors` raises everything since the last time, once."""
    with MockPlatform.start() as platform:
        headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}
        for _ in range(2):
            requests.get(f"{platform.base_url}/12/accounts", headers=headers, timeout=PATIENCE)

        with pytest.raises(ExceptionGroup) as raised:
            platform.raise_errors()

        assert [ZeroDivisionError] * 2 == [type(fault) for fault in raised.value.exceptions]
        platform.raise_errors()


@pytest.mark.live
@pytest.mark.usefixtures("broken")
def test_a_fault_does_not_hide_what_the_block_raised() -> None:
    """An assertion that failed because of a 500 is raised itself, with the reason noted on it."""
    platform = MockPlatform.start()
    headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}

    def block() -> None:
        with platform:
            answer = requests.get(
                f"{platform.base_url}/12/accounts", headers=headers, timeout=PATIENCE
            )
            assert answer.status_code == 200

    with pytest.raises(AssertionError) as raised:
        block()

    assert ["The sandbox itself also failed: ZeroDivisionError: for /12/accounts"] == (
        raised.value.__notes__
    )


# -- store and https -----------------------------------------------------------------------------


def test_a_kept_store_goes_on(tmp_path: Path) -> None:
    """What was changed in a sandbox with a file is there in the next one, and the file is free."""
    store = f"tinydb:{tmp_path / 'state.json'}"
    with MockPlatform.start(store=store) as platform:
        platform.world("w1").state["users"].delete("3805104374")
        with pytest.raises(StoreInUse):
            MockPlatform.start(store=store)

    with MockPlatform.start(store=store) as platform:
        assert ["default", "w1"] == platform.worlds
        assert "3805104374" not in platform.world("w1").state["users"]


@pytest.mark.live
def test_https_has_an_authority_to_trust() -> None:
    """With `tls` clients that trust the authority's file are served; the others are not."""
    with MockPlatform.start(tls=True) as platform:
        assert platform.ca is not None
        url = f"{platform.base_url}/_mock/health"

        assert url.startswith("https://127.0.0.1:")
        assert requests.get(url, verify=str(platform.ca), timeout=PATIENCE).status_code == 200
        assert platform.session("oauth1").get("/12/accounts").status_code == 200
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(url, timeout=PATIENCE)
