from __future__ import annotations

import pytest

from mock_platform.scenario.pattern import (
    MAX_PATTERN_CHARACTERS,
    MAX_STEPS,
    MAX_TEXT_CHARACTERS,
    BadPattern,
    compile_pattern,
    count_steps,
)
from mock_platform.world.clock import UPTIME
from tests.waits import PATIENCE


@pytest.mark.parametrize(("pattern", "text"), [
    ("[a-z0-9]+", "abc1"),
    ("(?:foo|bar)-\\d{3}", "bar-123"),
    ("\\d+\\.\\d+\\.\\d+", "1.20.3"),
    (".*retry.*", "please retry now"),
    ("(?i)paused", "PAUSED"),
    ("a" * MAX_PATTERN_CHARACTERS, "a" * MAX_PATTERN_CHARACTERS),
])  # fmt: skip
def test_usual_patterns_are_taken(pattern: str, text: str) -> None:
    """What one needs for ids and names works."""
    assert compile_pattern(pattern).fullmatch(text)


@pytest.mark.parametrize(("pattern", "expected"), [
    ("(a+)+", "repetition within a repetition"),
    ("(a|aa)*", "repetition within a repetition"),
    ("(a?){30}a{30}", "repetition within a repetition"),
    (".*.*.*.*x", "three open repetitions"),
    ("a?" * 30, "three open repetitions"),
    (r"(a)\1", "back references"),
    ("(?=a)b", "look-around"),
    ("(?:(?:^){9999}){9999}.*", "what may be empty"),
    ("(?:a{0}){99}", "what may be empty"),
    ("(a", "no regular expression"),
    ("[a&&b]", "no regular expression"),
    ("a" * (MAX_PATTERN_CHARACTERS + 1), "at most 200 characters"),
])  # fmt: skip
def test_patterns_that_could_hang_are_refused(pattern: str, expected: str) -> None:
    """Nested and too many repetitions, and what is no pattern at all."""
    with pytest.raises(BadPattern, match=expected):
        compile_pattern(pattern)


@pytest.mark.parametrize(("pattern", "steps"), [
    ("it[a-z]{4}", 1),
    (".*", 257),
    (".*a.*", 257 * 258 // 2),
    (".*.*.*x", MAX_STEPS),
    ("[0-9]{1,3}", 3 * 8),
    ("(?:ab|c)d?", 2 * 2 * 8),
    ("a{0,99}b{0,99}", 100 * 100),
    (".*retry now.*", 257 * 258 // 2),
    (".*.*.*" + r"\B" * 90 + "x", MAX_STEPS * 90),
    (".*.*.*(?:a{2}){50}x", MAX_STEPS * (50 * (8 + 2) // 8)),
])  # fmt: skip
def test_steps(pattern: str, steps: int) -> None:
    """What a pattern takes at most follows from its repetitions and its alternatives."""
    compile_pattern(pattern)

    assert steps == count_steps(pattern)


@pytest.mark.parametrize("pattern", ["a?" * 19, "(?:ab|c)" * 19, "(?:ab|c).*.*.*x", ".*.*.*a?x"])
def test_many_choices_are_refused(pattern: str) -> None:
    """Optional parts and alternatives take longer than open repetitions, and count for more."""
    with pytest.raises(BadPattern, match="many alternatives"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [".*.*.*x", "a*a*a*b", "[ab]*?[ab]*?[ab]*c"])
def test_the_worst_that_is_taken_ends_soon(pattern: str) -> None:
    """Three open repetitions on the longest text that is looked at take a moment."""
    started = UPTIME()

    assert compile_pattern(pattern).fullmatch("a" * MAX_TEXT_CHARACTERS) is None
    assert UPTIME() - started < PATIENCE
