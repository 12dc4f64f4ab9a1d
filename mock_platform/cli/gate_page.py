"""`verify`: the page with the parts of the gate, and the one status that they have together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from mock_platform.cli.verifying import RunCheck

MAX_LINES = 12
"""Lines of a part on the page; the JUnit file has all of them."""

_PARTS: Mapping[str, tuple[str, str]] = {
    "command": (
        "the command ended with status 0",
        "Run the command by itself, beside `mock-platform serve`; its output is above.",
    ),
    "rules": (
        "every rule with `expect: fired` acted",
        "Let the command make a request that the rule is for, or remove `expect: fired`. "
        "`mock-platform requests` of a running server shows for each request why a rule did not "
        "act.",
    ),
    "requests": (
        "every request reached an operation, and nothing that was sent was ignored",
        "Correct the paths and parameters in the client. `mock-platform operations` lists what "
        "there is; GET /_mock/warnings of a running server has an example of each warning.",
    ),
    "sandbox": (
        "the sandbox had no fault of its own",
        "This is a fault of mock_platform. Please report it with the text above.",
    ),
    "coverage": (
        "the coverage is what it must be",
        "Exercise the lost outcomes again. If they are lost on purpose, write a new baseline: "
        "--coverage=FILE.baseline without --coverage-baseline.",
    ),
    "contract": (
        "the contract breaks nothing that the kept one promised",
        "Adapt the client to the changes, then keep the new contract: mock-platform contract "
        "--out FILE.",
    ),
    "drift": (
        "the other server is as this sandbox declares, but for accepted differences",
        "Look at the report of `mock-platform diff`. Report a wrong sandbox; accept what is known "
        "with --accepted FILE, --accept ID and --reason TEXT of `diff`.",
    ),
}
"""By suite: what holds if it passes, and what to do if it does not."""
_SWITCHES: Mapping[str, str] = {
    "coverage": "--coverage-fail-under, --coverage-baseline",
    "contract": "--contract FILE",
    "drift": "--against URL",
}
"""Parts that are skipped unless an option asks for them."""


class GatePage(Struct, frozen=True):
    """The checks of all parts of the gate."""

    checks: Sequence[RunCheck]

    def list_failed(self) -> list[str]:
        """Returns the parts that failed, in the order of the page."""
        return [part for part in _PARTS if any(c.faults for c in self._list_checks(part))]

    def render_text(self) -> str:
        """Returns the page for a terminal."""
        lines = [f"mock-platform verify: {self._conclude()}", ""]
        for part, (holds, remedy) in _PARTS.items():
            checks = self._list_checks(part)
            if not checks:
                lines.append(f"  skipped  {part:<9} {self._explain_skip(part)}")
            elif part not in self.list_failed():
                lines.append(f"  ok       {part:<9} {holds}")
                lines += [f"             {line}" for line in self._list_notes(part)]
            else:
                lines.append(f"  FAILED   {part:<9} {self._headline(part)}")
                lines += [f"             {line}" for line in self._list_faults(part)]
                lines.append(f"           what to do: {remedy}")
        return "\n".join(lines) + "\n"

    def render_markdown(self) -> str:
        """Returns the page for a pull request or the summary of a job."""
        lines = [f"## mock-platform verify: {self._conclude()}", "", "| part | |", "|---|---|"]
        for part, (holds, _) in _PARTS.items():
            checks = self._list_checks(part)
            state = "failed" if part in self.list_failed() else "ok" if checks else "skipped"
            said = holds if state == "ok" else self._explain_skip(part)
            said = self._headline(part) if state == "failed" else said
            lines.append(f"| {part}: **{state}** | {_escape(said)} |")
        for part in self.list_failed():
            lines += ["", f"### {part}", "", "```text", *self._list_faults(part), "```", ""]
            lines.append(_PARTS[part][1])
        passed = [part for part in _PARTS if part not in self.list_failed()]
        notes = [f"- {part}: {_escape(x)}" for part in passed for x in self._list_notes(part)]
        lines += ["", *notes] if notes else []
        return "\n".join(lines) + "\n"

    def _list_checks(self, part: str) -> list[RunCheck]:
        return [check for check in self.checks if check.suite == part]

    def _list_notes(self, part: str) -> list[str]:
        return [note for check in self._list_checks(part) for note in check.notes]

    def _conclude(self) -> str:
        return f"failed ({', '.join(self.list_failed())})" if self.list_failed() else "passed"

    def _headline(self, part: str) -> str:
        return "; ".join(dict.fromkeys(c.headline for c in self._list_checks(part) if c.faults))

    def _explain_skip(self, part: str) -> str:
        return f"not asked for: {_SWITCHES.get(part, 'no rule has to act')}"

    def _list_faults(self, part: str) -> Iterator[str]:
        faults = [
            line for c in self._list_checks(part) for text in c.faults for line in text.splitlines()
        ]
        yield from islice(faults, MAX_LINES)
        if len(faults) > MAX_LINES:
            yield f"and {len(faults) - MAX_LINES} more lines, which --junit FILE has"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
