"""Test suites that ask the same of several test doubles: how long each takes, from start to end.

Run it with `python benchmarks/suites.py`, `--help` lists its options. Each suite in `peers/` has
200 tests, each with a fresh state and the same five requests and assertions. It runs in a pytest
process of its own with no plugin but those it needs, in turn with the others; medians of the rounds
count. What a test takes is counted from a run with one test. Peers that are not installed are left
out, and it is said how to get them. The last table compares with what is wanted.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from mock_platform.world.clock import UPTIME

PEERS = Path(__file__).with_name("peers")
NPM = Path("build/peers")
NPM_PACKAGES = "wiremock @stoplight/prism-cli"
BASES = {
    "responses": "with_responses",
    "httpserver": "with_httpserver",
    "ours": "in_process_bearer",
}
PLUGIN = "mock_platform.pytest_plugin"


@dataclass(frozen=True)
class Suite:
    """A suite, what it represents and what it needs."""

    name: str
    title: str
    checks: str
    plugins: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    def missing(self, node_modules: Path) -> str | None:
        """How to get what is not there; `None` if all is."""
        if not all(map(find_spec, self.modules)):
            return "pip install --editable '.[bench]'"
        for program in self.programs:
            if shutil.which(program) is None:
                return f"put {program} on the path"
        if not all((node_modules / package).is_dir() for package in self.packages):
            return f"npm install --ignore-scripts --prefix {node_modules.parent} {NPM_PACKAGES}"
        return None


SUITES = (
    Suite("nothing", "pytest alone", "nothing"),
    Suite("world_only", "mock_platform, no request", "nothing", plugins=(PLUGIN,)),
    Suite(
        "in_process_bearer",
        "mock_platform, in-process",
        "token, parameters, body, rules between records; keeps state",
        plugins=(PLUGIN,),
    ),
    Suite(
        "in_process_oauth1",
        "mock_platform, in-process, signed",
        "the same, and the OAuth 1.0a signature of each request",
        plugins=(PLUGIN,),
    ),
    Suite("over_socket", "mock_platform, over a socket", "as in-process", plugins=(PLUGIN,)),
    Suite(
        "with_responses",
        "responses",
        "method and address; answers are written beforehand",
        modules=("responses",),
    ),
    Suite(
        "with_responses_oauth1",
        "responses, signed",
        "the same; the client signs as in production, nobody looks at it",
        modules=("responses", "requests_oauthlib"),
    ),
    Suite(
        "with_httpserver",
        "pytest-httpserver",
        "method, path and body as expected; answers are written beforehand",
        plugins=("pytest_httpserver.pytest_plugin",),
        modules=("pytest_httpserver",),
    ),
    Suite(
        "with_moto",
        "moto, S3",
        "parameters (botocore, in the client), rules of S3; keeps state; no credentials",
        modules=("moto", "boto3"),
    ),
    Suite(
        "with_moto_kept",
        "moto, S3, boto3 session kept",
        "the same",
        modules=("moto", "boto3"),
    ),
    Suite(
        "with_wiremock",
        "WireMock",
        "method, path and body as stubbed; answers are written beforehand",
        programs=("java",),
        packages=("wiremock",),
    ),
    Suite(
        "with_prism",
        "Prism",
        "that credentials are sent, parameters and body by schema; keeps no state",
        programs=("node",),
        packages=("@stoplight/prism-cli",),
    ),
)


@dataclass
class Times:
    """What the runs of a suite took, in seconds: with all tests, and with one."""

    whole: list[float] = field(default_factory=list)
    one: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def figures(self, tests: int) -> tuple[float, float, float]:
        """Seconds of a whole run, of the processor in one, and for each test after the first."""
        whole = statistics.median(self.whole)
        one = statistics.median(self.one)
        return whole, statistics.median(self.processor), (whole - one) / (tests - 1)


class Failed(Exception):
    """A suite does not pass: what it said last."""


class Runner:
    """Runs suites in a folder of its own."""

    def __init__(self, folder: Path, node_modules: Path) -> None:
        self._folder = folder
        self._node_modules = node_modules
        (folder / "pytest.ini").write_text("[pytest]\n")
        told = subprocess.run(
            [sys.executable, "-m", "mock_platform", "openapi"], check=True, stdout=subprocess.PIPE
        )
        (folder / "openapi.json").write_bytes(told.stdout)
        others = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE")
        self._environment = {k: v for k, v in os.environ.items() if k not in others}
        self._environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def run(self, suite: Suite, tests: int) -> tuple[float, float]:
        """Seconds by the clock and of the processor, children included.

        Raises:
            Failed: A test failed, or the suite could not be run.
        """
        command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "--rootdir", "."]
        command += ["--basetemp", "temporary", "-p", "no:cacheprovider"]
        for plugin in suite.plugins:
            command += ["-p", plugin]
        command += [str(PEERS / f"{suite.name}.py"), "--tests", str(tests)]
        command += ["--node-modules", str(self._node_modules), "--openapi", "openapi.json"]
        used = _processor()
        begun = UPTIME()
        done = subprocess.run(
            command,
            check=False,
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        taken = UPTIME() - begun
        if done.returncode:
            raise Failed("\n".join(done.stdout.splitlines()[-15:]))
        return taken, _processor() - used


def _processor() -> float:
    """Seconds that ended children used of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(runner: Runner, suites: Iterable[Suite], rounds: int, tests: int) -> dict[Suite, Times]:
    """Times by suite; those that do not pass are reported and left out."""
    found = {}
    for suite in suites:
        try:
            runner.run(suite, 1)  # compiles modules and fills the disk's cache
        except Failed as fault:
            print(f"{suite.title} does not run here:\n{fault}\n", file=sys.stderr)
        else:
            found[suite] = Times()
    for _ in range(rounds):
        for suite, times in found.items():
            times.one.append(runner.run(suite, 1)[0])
            whole, processor = runner.run(suite, tests)
            times.whole.append(whole)
            times.processor.append(processor)
    return found


def show(found: dict[Suite, Times], tests: int) -> None:
    """Print the table, and what each suite's double checks."""
    named = {suite.name: times for suite, times in found.items()}
    bases = {told: named[name] for told, name in BASES.items() if name in named}
    print(" " * 61 + "".join(f"{f'x {told}':>23}" for told in bases))
    heads = "".join(f"{head:>9}" for head in ("whole s", "cpu s", "ms/test"))
    print(" " * 34 + heads + f"{'whole':>9}{'cpu':>7}{'test':>7}" * len(bases))
    for suite, times in found.items():
        whole, cpu, test = times.figures(tests)
        figures = (whole, cpu, test * 1000)
        line = f"{suite.title:34}" + "".join(f"{figure:9.2f}" for figure in figures)
        for base in bases.values():
            base_whole, base_cpu, base_test = base.figures(tests)
            line += f"{whole / base_whole:9.2f}{cpu / base_cpu:7.2f}{test / base_test:7.2f}"
        print(line)
    print("\nWhat is checked:")
    for suite in found:
        print(f"  {suite.title:34}{suite.checks}")


def compare(found: dict[Suite, Times], tests: int) -> None:
    """Print what is wanted beside what was measured, as far as its suites ran."""
    took = {suite.name: times.figures(tests) for suite, times in found.items()}
    first = {suite.name: statistics.median(times.one) for suite, times in found.items()}
    measured = (
        ("a whole run in-process, x responses", 1.4, "in_process_bearer", "with_responses",
         lambda own, other: took[own][0] / took[other][0]),
        ("a whole run over a socket, x pytest-httpserver", 0.8, "over_socket", "with_httpserver",
         lambda own, other: took[own][0] / took[other][0]),
        ("a test's requests in-process, x responses", 1.15, "in_process_bearer", "with_responses",
         lambda own, other: (took[own][2] - took.get("world_only", (0, 0, 0))[2]) / took[other][2]),
        ("the plugin's share of a test, in ms", 0.3, "world_only", "nothing",
         lambda own, other: (took[own][2] - took[other][2]) * 1000),
        ("import and first world, in s over pytest alone", 0.25, "world_only", "nothing",
         lambda own, other: first[own] - first[other]),
    )  # fmt: skip
    print("\nWhat is wanted:")
    for what, most, own, other, compute in measured:
        if own in took and other in took:
            value = compute(own, other)
            said = "reached" if value <= most else "missed"
            print(f"  {what:50} {value:7.2f}   wanted at most {most}: {said}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The same suite against several test doubles.")
    parser.add_argument("--rounds", type=int, default=3, help="how often each suite is run (3)")
    parser.add_argument("--tests", type=int, default=200, help="how many tests it has (200)")
    parser.add_argument(
        "--suites", nargs="+", choices=[suite.name for suite in SUITES], help="only these (all)"
    )
    parser.add_argument(
        "--npm", type=Path, default=NPM, help=f"folder with node_modules of WireMock, Prism ({NPM})"
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.tests < 2:
        parser.error("at least one round of two tests")
    node_modules = options.npm.absolute() / "node_modules"
    missing: dict[str | None, list[Suite]] = {}
    wanted = options.suites or [suite.name for suite in SUITES]
    for suite in (suite for suite in SUITES if suite.name in wanted):
        missing.setdefault(suite.missing(node_modules), []).append(suite)
    present = missing.pop(None, [])
    for remedy, suites in missing.items():
        titles = "; ".join(suite.title for suite in suites)
        print(f"Left out: {titles}. To have them: {remedy}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), node_modules)
        found = measure(runner, present, options.rounds, options.tests)
    show(found, options.tests)
    compare(found, options.tests)


if __name__ == "__main__":
    main()
