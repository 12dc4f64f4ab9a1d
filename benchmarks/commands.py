"""Processor time of commands that print, and of imports, beside an empty Python and Flask.

Run it with `python benchmarks/commands.py`. Seconds over an empty Python, the least of several
rounds; the ratio is to `import flask` in the same rounds.
"""

from __future__ import annotations

import resource
import subprocess
import sys

ROUNDS = 7
EMPTY = (sys.executable, "-c", "pass")
FLASK = (sys.executable, "-c", "import flask")
COMMAND = "from mock_platform.cli import main; main()"


def command(*args: str) -> tuple[str, ...]:
    """The command line in a fresh Python."""
    return (sys.executable, "-c", COMMAND, *args)


MEASURED: dict[str, tuple[str, ...]] = {
    "import flask": FLASK,
    "import MockPlatform": (sys.executable, "-c", "from mock_platform import MockPlatform"),
    "import create_app": (sys.executable, "-c", "from mock_platform import create_app"),
    "mock-platform --help": command("--help"),
    "mock-platform credentials": command("credentials"),
    "mock-platform operations": command("operations"),
    "mock-platform where": command("where", "GET /12/accounts"),
}


def processor_seconds(args: tuple[str, ...]) -> float:
    """Processor time of a process and of the system for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    wanted = {"empty": EMPTY, **MEASURED}
    rounds = [{n: processor_seconds(a) for n, a in wanted.items()} for _ in range(ROUNDS + 1)][1:]
    least = {name: min(each[name] for each in rounds) for name in wanted}
    over = {name: least[name] - least["empty"] for name in MEASURED}
    for name, seconds in over.items():
        print(f"{name:30} {seconds:7.3f} s  x{seconds / over['import flask']:5.2f}")


if __name__ == "__main__":
    main()
