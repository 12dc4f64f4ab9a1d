"""Time: instants in and out, and the clock of a world."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.world import clock as clock_module
from mock_platform.world.clock import (
    DURATION_PATTERN,
    UPTIME,
    Clock,
    machine_now,
    parse_duration,
    parse_instant,
    parse_relative,
    read_seconds,
    wire_millis,
    wire_seconds,
)
from tests.waits import PATIENCE

START = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)
MOMENTS = st.datetimes(timezones=st.just(UTC))


class Machine:
    """The machine's time, moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def run(self, seconds: float) -> None:
        """Let real time pass."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Real time under the test's control."""
    machine = Machine()
    monkeypatch.setattr(clock_module, "machine_now", lambda: machine.now)
    return machine


def at(seconds: float) -> datetime:
    """So many seconds after the start."""
    return START + timedelta(seconds=seconds)


class TestInstants:
    """parse_instant, wire_seconds, wire_millis."""

    @pytest.mark.parametrize(("text", "expected"), [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:30", datetime(2026, 11, 20, 10, 30, tzinfo=UTC)),
        ("2026-11-20T10:30Z", datetime(2026, 11, 20, 10, 30, tzinfo=UTC)),
        ("2026-11-20t10:30:05z", datetime(2026, 11, 20, 10, 30, 5, tzinfo=UTC)),
        ("2026-11-20T10:30:05.1Z", datetime(2026, 11, 20, 10, 30, 5, 100_000, tzinfo=UTC)),
        ("2026-11-20T10:30:05,12Z", datetime(2026, 11, 20, 10, 30, 5, 120_000, tzinfo=UTC)),
        ("2026-11-20T10:30:05.123456789Z", datetime(2026, 11, 20, 10, 30, 5, 123_456, tzinfo=UTC)),
        ("2026-11-20T10:30:00+02:00", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
        ("2026-11-20T10:30:00-0230", datetime(2026, 11, 20, 13, 0, tzinfo=UTC)),
        ("2026-11-20T00:00:00+23:59", datetime(2026, 11, 19, 0, 1, tzinfo=UTC)),
        ("2028-02-29T23:59:59Z", datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)),
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
    ])  # fmt: skip
    def test_read(self, text: str, expected: datetime) -> None:
        """Dates, minutes, seconds, fractions and offsets are read; without an offset it is UTC."""
        assert expected == parse_instant(text)
        assert parse_instant(text).tzinfo is UTC

    @pytest.mark.parametrize("text", [
        "", "now", "2026", "2026-11", "20261120", "2026-W47-5", "2026-324",
        "2026-11-20 10:30:00", "2026-11-20T10", "2026-11-20T10:30:", "2026-11-20T1030",
        "2026-11-20Z", "2026-11-20T10:30:00.Z", "2026-11-20T10:30:00.1234567890Z",
        "2026-11-20T10:30:00+02", "2026-11-20T10:30:00 Z", " 2026-11-20", "2026-11-20\n",
        "2026-11-20T10:30.5Z", "٢٠٢٦-11-20", "12026-11-20", "-026-11-20",
    ])  # fmt: skip
    def test_other_forms(self, text: str) -> None:
        """Every other form is refused, those that some parsers take included."""
        with pytest.raises(ValueError, match="not an ISO 8601 date-time such as"):
            parse_instant(text)

    @pytest.mark.parametrize(
        "text",
        ["2026-13-01", "2026-00-01", "2026-02-29", "2026-11-31", "0000-01-01", "2026-11-20T24:00",
         "2026-11-20T10:60", "2026-11-20T10:30:60Z", "2026-11-20T10:30:00+24:00",
         "2026-11-20T10:30:00+02:60", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"],
    )  # fmt: skip
    def test_no_real_moment(self, text: str) -> None:
        """The right form is not enough: the moment has to exist."""
        with pytest.raises(ValueError, match=r"range|must be in"):
            parse_instant(text)

    @pytest.mark.parametrize(("text", "seconds"), [
        ("now", 0), ("now-0s", 0), ("now+1s", 1), ("now-90m", -5400), ("now+2h", 7200),
        ("now-99999d", -99999 * 86400),
    ])  # fmt: skip
    def test_relative(self, text: str, seconds: int) -> None:
        """A distance from now is a sign, up to five digits and a unit."""
        assert timedelta(seconds=seconds) == parse_relative(text)

    @pytest.mark.parametrize("text", [
        "", "Now", "now ", "now-", "now-1", "now - 2h", "now1s", "now-1.5h", "now-1w",
        "now-100000d", "now+\u0661s", "now+1s\n", "2026-11-20",
    ])  # fmt: skip
    def test_not_relative(self, text: str) -> None:
        """Other texts are left to those who read instants."""
        assert parse_relative(text) is None

    @given(MOMENTS)
    def test_round_trip(self, moment: datetime) -> None:
        """What is written reads as the same moment, cut to seconds or milliseconds."""
        assert moment.replace(microsecond=0) == parse_instant(wire_seconds(moment))
        whole = moment.microsecond // 1000 * 1000
        assert moment.replace(microsecond=whole) == parse_instant(wire_millis(moment))

    def test_written(self) -> None:
        """Both forms end in Z, are cut and not rounded, and have years of four digits."""
        moment = datetime(999, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)

        assert wire_seconds(moment) == "0999-01-02T03:04:05Z"
        assert wire_millis(moment) == "0999-01-02T03:04:05.999Z"


class TestRunning:
    """A clock that runs with real time."""

    def test_runs(self, machine: Machine) -> None:
        """A new clock shows real time, and goes with it."""
        clock = Clock()
        assert clock.now() == START
        assert not clock.frozen

        machine.run(5)

        assert at(5) == clock.now()

    def test_travel(self, machine: Machine) -> None:
        """After a journey it runs on from there."""
        clock = Clock()
        clock.travel(at(-1000))
        machine.run(3)

        assert at(-997) == clock.now()

    @pytest.mark.parametrize("seconds", [0, 0.5, -0.5, 90_000, -90_000])
    def test_advance(self, machine: Machine, seconds: float) -> None:
        """It moves by fractions, forth and back, and adds up."""
        clock = Clock()
        clock.advance(seconds)
        clock.advance(seconds)
        machine.run(1)

        assert at(2 * seconds + 1) == clock.now()

    def test_resume(self, machine: Machine) -> None:
        """Resuming a clock that runs changes nothing."""
        clock = Clock()
        clock.advance(7)
        clock.resume()
        machine.run(1)

        assert at(8) == clock.now()

    @pytest.mark.parametrize("seconds", [1e12, -1e12, 1e300])
    @pytest.mark.parametrize("frozen_at", [None, START])
    def test_end_of_time(
        self, machine: Machine, frozen_at: datetime | None, seconds: float
    ) -> None:
        """What is no date is refused, and the clock stays where it was."""
        clock = Clock(frozen_at)
        with pytest.raises(OverflowError):
            clock.advance(seconds)

        assert clock.now() == START


class TestStanding:
    """A clock that is frozen."""

    def test_from_the_start(self, machine: Machine) -> None:
        """A clock can begin frozen."""
        clock = Clock(at(50))
        machine.run(5)

        assert clock.frozen
        assert at(50) == clock.now()

    def test_freeze(self, machine: Machine) -> None:
        """It stops at the present moment of the world, or at a chosen one."""
        clock = Clock()
        clock.advance(10)
        clock.freeze()
        machine.run(5)
        assert at(10) == clock.now()

        clock.freeze(at(20))
        assert at(20) == clock.now()

        clock.freeze()
        assert at(20) == clock.now()

    def test_moved_while_standing(self, machine: Machine) -> None:
        """Travelling and advancing move it, and it stays there."""
        clock = Clock(START)
        clock.travel(at(100))
        clock.advance(0.25)
        machine.run(5)

        assert clock.frozen
        assert at(100.25) == clock.now()

    def test_resume(self, machine: Machine) -> None:
        """It continues from where it was, whatever time has passed."""
        clock = Clock(at(100))
        machine.run(5)
        clock.resume()
        machine.run(1)

        assert not clock.frozen
        assert at(101) == clock.now()

    def test_other_offsets(self) -> None:
        """An instant with another offset is shown as UTC; one without any is refused."""
        east = datetime(2026, 11, 20, 12, 0, tzinfo=timezone(timedelta(hours=2)))
        clock = Clock(east)
        assert (START, UTC) == (clock.now(), clock.now().tzinfo)

        for jump in (clock.freeze, clock.travel, Clock):
            with pytest.raises(ValueError, match="2026-11-20T10:00:00 has no offset from UTC"):
                jump(START.replace(tzinfo=None))
        assert clock.now() == START


class TestWaiting:
    """real_seconds_until and on_jump."""

    @pytest.mark.parametrize(
        ("start", "seconds", "expected"),
        [(None, 5, 5.0), (None, 0, 0.0), (None, -5, 0.0),
         (START, 5, None), (START, 0, 0.0), (START, -5, 0.0)],
    )  # fmt: skip
    def test_seconds(
        self, machine: Machine, start: datetime | None, seconds: float, expected: float | None
    ) -> None:
        """A running clock says how long it takes, a frozen one never gets there by itself."""
        assert expected == Clock(start).real_seconds_until(at(seconds))

    def test_listeners(self) -> None:
        """Every kind of jump is reported to all listeners, after it happened."""
        clock = Clock(START)
        told: list[tuple[int, datetime]] = []
        for number in (1, 2):
            clock.on_jump(lambda number=number: told.append((number, clock.now())))  # type: ignore[misc]
        state = clock.state()
        jumps: list[tuple[Callable[[], None], datetime]] = [
            (lambda: clock.freeze(at(1)), at(1)),
            (lambda: clock.travel(at(2)), at(2)),
            (lambda: clock.advance(1), at(3)),
            (lambda: clock.restore(state), START),
        ]
        for jump, then in jumps:
            told.clear()
            jump()

            assert [(1, then), (2, then)] == told
        told.clear()
        clock.resume()
        assert [number for number, _ in told] == [1, 2]


class TestState:
    """state and restore."""

    @pytest.mark.parametrize("frozen", [True, False])
    def test_round_trip(self, machine: Machine, frozen: bool) -> None:
        """A clock restored from another's state, by way of JSON, shows the same time."""
        clock = Clock()
        clock.advance(12.5)
        if frozen:
            clock.freeze(at(3.000001))
        other = Clock(at(77))
        other.restore(orjson.loads(orjson.dumps(clock.state())))
        machine.run(2)

        assert clock.state() == other.state()
        assert frozen == other.frozen
        assert clock.now() == other.now()

    def test_of_nothing(self, machine: Machine) -> None:
        """Without a word about it, a clock runs with real time."""
        clock = Clock(at(5))
        clock.restore({})

        assert clock.now() == START


class TestDoors:
    """Real time itself."""

    def test_machine(self) -> None:
        """The machine's time is UTC and goes forward; so does the measure of durations."""
        first, mark = machine_now(), UPTIME()

        assert machine_now().tzinfo is UTC
        assert machine_now() >= first
        assert UPTIME() >= mark

    def test_read_during_jumps(self) -> None:
        """Whoever reads while another freezes and resumes always sees a time."""
        clock = Clock()
        stop = threading.Event()
        seen: list[datetime] = []

        def read() -> None:
            while not stop.is_set():
                seen.append(clock.now())

        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(500):
            clock.freeze(START)
            clock.resume()
        stop.set()
        reader.join(PATIENCE)

        assert all(isinstance(moment, datetime) for moment in seen)
        assert not reader.is_alive()


@pytest.mark.parametrize("frozen", [True, False])
def test_bounds(frozen: bool) -> None:
    """A clock goes to the first and the last moment of its years, not beyond, however it moves."""
    clock = Clock(datetime(2026, 1, 1, tzinfo=UTC)) if frozen else Clock()
    second = timedelta(seconds=1)

    for inside in (clock_module.EARLIEST, clock_module.LATEST - second):
        clock.travel(inside)
    before = clock.state()
    for outside in (clock_module.EARLIEST - second, clock_module.LATEST):
        for move in (clock.travel, clock.freeze):
            with pytest.raises(ValueError, match="outside the years 1970 to 8999"):
                move(outside)
        with pytest.raises(ValueError, match="outside the years"):
            clock.restore({"frozen_at": outside.isoformat()})
    with pytest.raises(ValueError, match="outside the years"):
        clock.advance(2)

    assert before == clock.state()


@pytest.mark.parametrize(("text", "seconds"), [
    ("500ms", 0.5),
    ("2s", 2),
    ("1.5s", 1.5),
    ("15m", 900),
    ("1h", 3600),
    ("1d", 86400),
    ("1h30m", 5400),
    ("0s", 0),
])  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    """A number with a unit is so many seconds, several add up; a plain number is seconds."""
    assert seconds == parse_duration(text) == read_seconds(text) == read_seconds(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "2 s", "-2s", "2w", "1,5s", "2s ", "٢s", "1h30"])
def test_no_durations(text: str) -> None:
    """Anything else is refused, by the pattern as well."""
    assert re.fullmatch(DURATION_PATTERN, text, re.ASCII) is None
    with pytest.raises(ValueError, match="not a duration such as 500ms"):
        parse_duration(text)
