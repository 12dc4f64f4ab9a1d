"""The report on which tests stayed green although the platform failed: text, JSON, JUnit, HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field, to_builtins

from mock_platform.core.jsonio import pretty
from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.verification.reports import Format, count_noun, render_page

Result = Literal["survived", "noticed", "unmet", "endless"]


class Trial(Struct, frozen=True):
    """One test, run again while an operation failed."""

    test: str
    operation: str
    failure: str
    result: Result
    """`survived`: it stayed green. `unmet`: it did not call the operation this time. `endless`: it
    was stopped after its time limit.
    """


class MutationReport(Struct):
    """What a run found, or a worker of it."""

    seed: int = 0
    begun: bool = False
    """Whether the tests ended, so that failures could be tried."""
    tests: int = 0
    """Green tests that called operations of a sandbox in their process."""
    expected: int = 0
    """Failures that a test met without help; it is about them, so they were not tried."""
    left_out: int = 0
    """Failures that were not tried, because the time was used up."""
    not_green: int = 0
    """Tests that were not green without a failure, or not twice in one process; none was tried."""
    trials: list[Trial] = field(default_factory=list)

    def select(self, *results: Result) -> list[Trial]:
        """Return the trials that ended so, by operation, failure and test."""
        found = [trial for trial in self.trials if trial.result in results]
        return sorted(found, key=lambda trial: (trial.operation, trial.failure, trial.test))

    def add(self, other: MutationReport) -> None:
        """Add what another worker found."""
        self.begun |= other.begun
        self.tests += other.tests
        self.expected += other.expected
        self.left_out += other.left_out
        self.not_green += other.not_green
        self.trials += other.trials

    def as_json(self) -> dict[str, Any]:
        """Return the report as the JSON file has it."""
        survived = to_builtins(self.select("survived"))
        return {
            "tests": self.tests,
            "failures": len(self.select("survived", "noticed")),
            "survived": [{n: v for n, v in each.items() if n != "result"} for each in survived],
            "endless": len(self.select("endless")),
            "unmet": len(self.select("unmet")),
            "expected": self.expected,
            "left_out": self.left_out,
            "not_green": self.not_green,
            "seed": self.seed,
        }

    def group(self) -> dict[str, dict[str, list[str]]]:
        """Return the tests that stayed green, by operation and by failure."""
        found: dict[str, dict[str, list[str]]] = {}
        for trial in self.select("survived"):
            of_operation = found.setdefault(trial.operation, {})
            of_operation.setdefault(trial.failure, []).append(trial.test)
        return found

    def summarize(self) -> list[str]:
        """Return the counts, a sentence each."""
        survived, given = (len(self.select(*r)) for r in (("survived",), ("survived", "noticed")))
        if not self.begun:
            return ["no failure was tried, as the run was stopped before"]
        if not self.tests:
            return ["no green test called an operation of a sandbox in this process"]
        lines = [
            f"{count_noun(self.tests, 'test')} met {count_noun(given, 'failure')}, one at a time; "
            f"{survived or 'none'} passed unnoticed"
        ]
        more = (
            (self.left_out, "not tried, as the time was used up (--mock-mutate-budget)"),
            (len(self.select("unmet")), "not met, as the test did not call the operation again"),
            (len(self.select("endless")), "stopped, as the test waited too long"),
            (self.expected, "not tried, as the test meets it anyway"),
        )
        lines += [f"{count_noun(count, 'failure')} {text}" for count, text in more if count]
        if self.not_green:
            lines.append(f"{count_noun(self.not_green, 'test')} not tried, as not green without it")
        return lines

    def describe(self) -> Iterator[str]:
        """Yield the lines of the text: the counts, and who stayed green under which failure."""
        yield from self.summarize()
        for operation, of_operation in self.group().items():
            yield ""
            yield operation
            for failure, tests in of_operation.items():
                yield f"  {failure}"
                yield from (f"    {test}" for test in tests)


def render(report: MutationReport, form: Format) -> str:
    """Return the report in one of the formats."""
    makers: Mapping[Format, Callable[[], str]] = {
        "text": lambda: "\n".join(report.describe()) + "\n",
        "json": lambda: pretty(report.as_json()),
        "junit": lambda: _render_junit(report),
        "html": lambda: render_page("mutation", lines=report.summarize(), groups=report.group()),
    }
    return makers[form]()


def _render_junit(report: MutationReport) -> str:
    """Return JUnit XML: a case for each failure of an operation; it fails if tests stayed green."""
    survived = report.group()
    suites: dict[str, dict[str, Sequence[str]]] = {}
    for trial in report.select("survived", "noticed"):
        green = survived.get(trial.operation, {}).get(trial.failure, ())
        suites.setdefault(trial.operation, {})[trial.failure] = green
    return write_junit(
        "mock_platform failures in turn",
        [(name, [_make_case(*each) for each in cases.items()]) for name, cases in suites.items()],
    )


def _make_case(failure: str, tests: Sequence[str]) -> JunitCase:
    if not tests:
        return JunitCase(failure)
    text = f"{count_noun(len(tests), 'test')} stayed green"
    return JunitCase(failure, failure=text, kind="survived", details="\n".join(tests))
