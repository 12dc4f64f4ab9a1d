"""Ids: their shapes, and that the same seed draws the same ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.world.ids import Ids, find_moment, unguessable


def ids(seed: int = 0, world: str = "default", drawn: int = 0) -> Ids:
    """A world's ids."""
    return Ids(seed, world, drawn)


def draw_all(source: Ids) -> list[str]:
    """One of each kind."""
    return [
        source.base36(), source.snowflake(), source.media_key(3), source.alphanumeric(40),
        source.digits(7),
    ]  # fmt: skip


class TestShapes:
    """What each kind looks like."""

    @given(st.integers(), st.text("ab/", max_size=3), st.integers(0, 10**6))
    def test_all(self, seed: int, world: str, drawn: int) -> None:
        """Every draw has its kind's shape, whatever the seed, the world and the count."""
        base36, snowflake, media_key, token, pin = draw_all(ids(seed, world, drawn))

        assert re.fullmatch(r"[1-9a-z][0-9a-z]{5}", base36)
        assert re.fullmatch(r"[1-9][0-9]{18}", snowflake)
        assert re.fullmatch(r"3_[1-9][0-9]{18}", media_key)
        assert re.fullmatch(r"[0-9A-Za-z]{40}", token)
        assert re.fullmatch(r"[1-9][0-9]{6}", pin)

    def test_snowflakes_grow(self) -> None:
        """Each one is greater than the one before, whatever was drawn between."""
        source = ids()
        drawn = []
        for number in range(500):
            drawn.append(int(source.snowflake()))
            if number % 3 == 0:
                source.base36()

        assert sorted(set(drawn)) == drawn
        assert drawn[-1] < 2**63

    @pytest.mark.parametrize("kind", ["base36", "alphanumeric", "digits"])
    def test_lengths(self, kind: str) -> None:
        """Lengths go from 1 to 64, and each is the length of what is drawn."""
        for length in (1, 2, 64):
            assert length == len(getattr(ids(), kind)(length))
        for length in (-1, 0, 65):
            source = ids()
            with pytest.raises(ValueError, match=f"an id has 1 to 64 characters, not {length}"):
                getattr(source, kind)(length)
            assert source.drawn == 0

    @pytest.mark.parametrize(
        ("kind", "size"), [("base36", 36), ("alphanumeric", 62), ("digits", 10)]
    )
    def test_every_place_varies(self, kind: str, size: int) -> None:
        """Each place of the longest ids takes every character, the last ones included."""
        source = ids()
        drawn = [getattr(source, kind)(64) for _ in range(900)]
        for place in range(1, 64):
            assert size == len({text[place] for text in drawn})


class TestRepeating:
    """The same again, and never what another draws."""

    def test_same_seed(self) -> None:
        """One seed and one name result in one sequence."""
        one, two = ids(5, "w"), ids(5, "w")

        assert [draw_all(one) for _ in range(3)] == [draw_all(two) for _ in range(3)]

    def test_going_on(self) -> None:
        """The count alone is enough to go on where a world stopped."""
        whole = ids()
        draw_all(whole)
        rest = ids(drawn=whole.drawn)

        assert draw_all(whole) == draw_all(rest)

    def test_fixed_for_ever(self) -> None:
        """The sequence is part of what people's tests rely on; it does not change by accident."""
        expected = [
            "vdbain", "1990000000009631202", "3_1990000000014215173",
            "8iDKx3QgLuhJexcgOWEmMzhKCp3iu9UtqhpeJ6z2", "3264195",
        ]  # fmt: skip

        assert expected == draw_all(ids())

    @pytest.mark.parametrize(
        ("seed", "world"), [(1, "default"), (0, "other"), (0, ""), (-1, "default")]
    )
    def test_others(self, seed: int, world: str) -> None:
        """Another seed or another world shares nothing."""
        one, two = ids(), ids(seed, world)
        mine = {text for _ in range(50) for text in draw_all(one)}
        theirs = {text for _ in range(50) for text in draw_all(two)}

        assert not {text for text in mine & theirs if len(text) > 7}

    def test_no_repeats(self) -> None:
        """A world does not draw an id twice."""
        source = ids()
        drawn = [draw() for _ in range(300) for draw in (source.snowflake, source.base36)]

        assert len(drawn) == len(set(drawn))


class TestFractions:
    """fraction: chance that depends on its labels alone."""

    @given(st.lists(st.text(max_size=4) | st.integers(), max_size=3))
    def test_range(self, labels: list[object]) -> None:
        """It is at least 0 and below 1, and asking draws nothing."""
        source = ids()

        assert 0 <= source.fraction(*labels) < 1
        assert source.fraction(*labels) == source.fraction(*labels)
        assert source.drawn == 0

    def test_independent_of_draws(self) -> None:
        """What was drawn before does not matter; seed, world and labels do."""
        source = ids()
        before = source.fraction("rule", 1)
        draw_all(source)

        assert before == source.fraction("rule", 1)
        others = {
            before,
            source.fraction("rule", 2),
            ids(1).fraction("rule", 1),
            ids(0, "other").fraction("rule", 1),
        }
        assert len(others) == 4

    def test_labels_are_kept_apart(self) -> None:
        """A slash within a label is not a border between two."""
        source = ids()

        assert source.fraction("a/b", "c") != source.fraction("a", "b/c")

    def test_even(self) -> None:
        """Fractions spread evenly."""
        source = ids()
        below = sum(source.fraction("rule", number) < 0.25 for number in range(4000))

        assert 900 < below < 1100


class TestUnguessable:
    """Values that no seed foretells."""

    def test_shape(self) -> None:
        """Letters and digits of the length asked for, never the same twice."""
        assert re.fullmatch(r"[0-9A-Za-z]{32}", unguessable())
        assert re.fullmatch(r"[0-9A-Za-z]{5}", unguessable(5))
        assert len({unguessable() for _ in range(100)}) == 100


class TestMoments:
    """snowflake(moment): the time is in front."""

    def test_moment(self) -> None:
        """An id has the milliseconds of its moment, and grows with each draw at one moment."""
        source, moment = ids(), datetime(2026, 11, 20, 10, 0, 0, 123_000, tzinfo=UTC)
        drawn = [source.snowflake(moment) for _ in range(3)]

        assert sorted(set(drawn)) == drawn
        assert {moment} == {find_moment(one) for one in drawn}
        assert {19} == {len(one) for one in drawn}

    @pytest.mark.parametrize("year", [1970, 2010, 2079, 2300])
    def test_outside(self, year: int) -> None:
        """Moments before and after all such ids result in ids that any program can read."""
        first, second = (
            int(ids(drawn=n).snowflake(datetime(year, 1, 1, tzinfo=UTC))) for n in (0, 1)
        )

        assert 0 < first < second < 2**63


def test_stamps_depend_on_the_number_alone() -> None:
    """They are the same in whatever order they are asked for, and draw no id."""
    numbers = [0, 1, 63, 64, 1, 10**12]
    ids, again = Ids(seed=7, world="shop"), Ids(seed=7, world="shop")
    found = {number: ids.stamp(number) for number in numbers}

    assert {number: again.stamp(number) for number in sorted(found, reverse=True)} == found
    assert len(set(found.values())) == len(found)
    assert {16} == {len(stamp) for stamp in found.values()}
    assert Ids(seed=8, world="shop").stamp(0) != found[0]
    assert 0 == ids.drawn
