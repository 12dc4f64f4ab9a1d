from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result
from tinydb import TinyDB

from mock_platform import MockPlatform, __version__
from mock_platform.cli.main import group
from mock_platform.serving.http.tls import TlsMaterial
from tests.commands import environment, finished
from tests.live.processes import Served, command, ended, quick, serving
from tests.support import HARBOR, bearer
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

USER = {"id": "9", "screen_name": "nine", "name": "Nine"}


def put(served: Served, table: str, record: Mapping[str, object]) -> None:
    """Put a record into a running server."""
    url = f"{served.url}/_mock/state/{table}/{record['id']}"
    assert requests.put(url, json=record, timeout=PATIENCE).status_code == 200


def names(served: Served) -> list[str]:
    """The screen names of the users that a running server holds."""
    answer = requests.get(f"{served.url}/_mock/state/users", timeout=PATIENCE)
    return [user["screen_name"] for user in answer.json()["records"]]


def refused(*args: object) -> Result:
    """A command that ends before it serves, run in this process."""
    return CliRunner().invoke(group, [*map(str, args)], prog_name="mock-platform")


@contextmanager
def under_load(url: str) -> Iterator[None]:
    """Four clients that ask without a pause, until their server is gone."""
    done, begun = threading.Event(), threading.Barrier(5)

    def ask() -> None:
        with requests.Session() as client, suppress(requests.RequestException):
            client.get(f"{url}/12/accounts", headers=bearer(), timeout=PATIENCE)
            begun.wait(PATIENCE)
            while not done.is_set():
                client.get(f"{url}/12/accounts", headers=bearer(), timeout=PATIENCE)

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    begun.wait(PATIENCE)
    try:
        yield
    finally:
        done.set()
        for client in clients:
            client.join()


# -- READY ---------------------------------------------------------------------------------------


def test_ready_says_where_everything_is() -> None:
    """One line of JSON with exactly the promised keys; whoever connects is answered."""
    with serving() as served:
        url = served.url

        assert served.ready == {
            "url": url, "sandbox": f"{url}/sandbox", "control": f"{url}/_mock",
            "pid": served.process.pid, "version": __version__,
        }  # fmt: skip
        assert url.startswith("http://127.0.0.1:")
        assert requests.get(f"{url}/_mock/health", timeout=PATIENCE).json()["status"] == "ok"


def test_it_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    """With --stop-with-stdin a server stops cleanly when its parent was killed."""
    log = tmp_path / "log"
    serve = command("serve", "--port", 0, "--stop-with-stdin")
    parent = (
        "import subprocess\n"
        f"with open({str(log)!r}, 'w') as log:\n"
        f"    subprocess.Popen({serve}, stdin=subprocess.PIPE, stderr=log).wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline().removeprefix("READY "))
        answer = requests.get(f"{ready['control']}/health", timeout=PATIENCE)
        process.kill()
        rest = process.stdout.read()  # it ends when the server, too, has closed it

    assert 200 == answer.status_code
    assert "" == rest
    assert log.read_text("utf-8").endswith("Stopped.\n")


def test_it_stops_cleanly_on_a_signal() -> None:
    """A request whose body is still coming is answered; then the server ends in good order.

    Its status is 0, standard output has nothing but READY, and the port is free again.
    """
    with serving() as served:
        port = int(served.url.rpartition(":")[2])
        body = b"grant_type=client_credentials"
        head = (
            f"POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            client.sendall(head.encode() + body[:5])
            # An answer on another connection: by then the first one has been taken up.
            requests.get(f"{served.url}/_mock/health", timeout=PATIENCE)
            served.process.send_signal(signal.SIGTERM)
            client.sendall(body[5:])
            answer = client.recv(65536)

        assert answer.startswith(b"HTTP/1.1 403 ")
        assert served.process.wait(PATIENCE) == 0
        assert served.stop() == 0
        assert served.rest() == ""
        assert served.log[-1].endswith(" Stopped.")
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_the_hint_works(served: Served) -> None:
    """The log begins with the pages to open, and a curl line that can be copied."""
    pages = served.wait_for_log("Console: ")
    line = served.wait_for_log("Try: ").partition("Try: ")[2]

    for page in (f"{served.url}/_mock/", f"{served.url}/_mock/docs/"):
        assert page in pages.split()
        assert 200 == requests.get(page, timeout=PATIENCE).status_code

    out = finished(line, shell=True, check=True)

    assert HARBOR.key == json.loads(out.stdout)["app"]["consumer_key"]


# -- exit status ---------------------------------------------------------------------------------


def test_a_taken_port_is_status_3(served: Served) -> None:
    """The message says what to do; nothing is printed on standard output."""
    port = served.url.rpartition(":")[2]

    result = refused("serve", "--port", port)

    assert (3, "") == (result.exit_code, result.stdout)
    assert f"127.0.0.1:{port}: the port is in use" in result.stderr
    assert "or 0 to choose a free one" in result.stderr


@pytest.mark.parametrize(
    ("file", "text", "words", "told"),
    [
        ("users.json", '[{"id": "x", "screen_name": "ok", "name": "x"}]',
         "serve --port 0 --fixtures {0}", "{0}/users.json:1:3: record 0, field id"),
        ("users.json", "[{}]", "run --fixtures {0} -- touch {0}/ran", "users.json:1:2"),
        ("state.json", '{"_default": {"1": {"mine": true}}}',
         "serve --port 0 --store tinydb:{0}/state.json", "so it is not changed"),
        ("authority.pem", "no certificate",
         "serve --port 0 --tls --tls-folder {0}", "Delete it to get a new one"),
    ],
    ids=["fixtures", "fixtures of a run", "store", "authority"],
)  # fmt: skip
def test_files_that_cannot_be_used_are_status_4(
    tmp_path: Path, file: str, text: str, words: str, told: str
) -> None:
    """The message says what is wrong; nothing is bound, nothing run, and the file stays."""
    (tmp_path / file).write_text(text)

    result = refused(*words.format(tmp_path).split())

    assert (4, "") == (result.exit_code, result.stdout)
    assert told.format(tmp_path) in result.stderr
    assert "Traceback" not in result.stderr
    assert text == (tmp_path / file).read_text()
    assert not (tmp_path / "ran").exists()


# -- kept worlds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("durability", "number"),
    [("snapshot", signal.SIGTERM), ("log", signal.SIGINT), ("fsync", signal.SIGTERM)],
)
def test_a_clean_stop_loses_nothing(tmp_path: Path, durability: str, number: int) -> None:
    """Records of every world, and its clock, go on at the next start, under each durability.

    However busy its threads are when the signal comes, the server ends in good order.
    """
    args = ("--store", f"tinydb:{tmp_path / 'state.json'}", "--durability", durability)
    moment = "2027-01-01T00:00:00.000Z"
    with serving(*args, command=quick) as served:
        put(served, "users", USER)
        requests.put(f"{served.url}/_mock/worlds/w1", json={"from": "default"}, timeout=PATIENCE)
        freeze = {"action": "freeze", "to": moment}
        requests.put(f"{served.url}/~w1/_mock/clock", json=freeze, timeout=PATIENCE)
        with under_load(served.url):
            os.kill(served.pid, number)
            assert served.stop(number) == 0  # a second signal does not cut it short

    with TinyDB(tmp_path / "state.json") as file:
        assert "nine" in [document["screen_name"] for document in file.table("users")]
    with MockPlatform.start(store=args[1], durability=durability) as platform:
        assert "nine" in [user["screen_name"] for user in platform.state["users"]]
        url = f"{platform.base_url}/~w1/_mock/clock"
        clock = requests.get(url, timeout=PATIENCE).json()
        assert clock == {"now": moment, "frozen": True}


def test_a_store_in_use_is_status_4(tmp_path: Path) -> None:
    """A second server on the same file is kept out, and the message names the first one."""
    store = f"tinydb:{tmp_path / 'state.json'}"
    with serving("--store", store, command=quick) as served:
        result = refused("serve", "--port", 0, "--store", store)

        assert result.exit_code == 4
        assert any(f"in use by process {pid}:" in result.stderr for pid in served.pids)


# -- addresses -----------------------------------------------------------------------------------


def test_every_interface_wants_a_control_token() -> None:
    """On 0.0.0.0 a token is made up, printed in READY and in the log, and needed."""
    with serving("--host", "0.0.0.0", command=quick) as served:
        token = served.ready["control_token"]
        url = f"{served.url}/_mock/credentials"

        assert served.url.startswith("http://127.0.0.1:")
        assert token in served.wait_for_log("X-Mock-Control-Token")
        assert requests.get(url, timeout=PATIENCE).status_code == 401
        sent = {"X-Mock-Control-Token": token}
        assert requests.get(url, headers=sent, timeout=PATIENCE).status_code == 200
        line = served.wait_for_log("Try: ").partition("Try: ")[2]
        out = finished(line, shell=True, check=True)
        assert "app" in json.loads(out.stdout)


def test_a_token_of_ones_own_is_not_repeated() -> None:
    """Who chose the token knows it; READY does not spread it."""
    with serving("--host", "0.0.0.0", "--control-token", "open-sesame", command=quick) as served:
        assert "control_token" not in served.ready
        sent = {"X-Mock-Control-Token": "open-sesame"}
        answer = requests.get(f"{served.url}/_mock/health", headers=sent, timeout=PATIENCE)
        assert answer.status_code == 200
        assert "-H 'X-Mock-Control-Token: TOKEN' " in served.wait_for_log("Try: ")
        assert served.stop() == 0
        assert "open-sesame" not in "".join([served.line, served.rest(), *served.log])


def test_https_names_its_authority(tmp_path: Path) -> None:
    """READY holds the file to trust; a kept authority is the same at the next start."""
    kept = TlsMaterial.generate(("127.0.0.1",), tmp_path).ca.read_text()
    with serving("--tls", "--tls-folder", tmp_path, command=quick) as served:
        authority = Path(served.ready["ca"])
        answer = requests.get(f"{served.url}/_mock/health", verify=str(authority), timeout=PATIENCE)

        assert served.url.startswith("https://127.0.0.1:")
        assert tmp_path == authority.parent
        assert kept == authority.read_text()
        assert answer.status_code == 200


# -- the log -------------------------------------------------------------------------------------


def test_the_log_can_be_json() -> None:
    """One object a line, everything in it by name.

    `--server` named one of two servers; it is accepted, and reported to change nothing.
    """
    with serving("--log-format", "json", "--server", "granian", command=quick) as served:
        requests.get(f"{served.url}/12/nowhere", headers=bearer(), timeout=PATIENCE)
        line = json.loads(served.wait_for_log("/12/nowhere"))
        hint = json.loads(served.wait_for_log("Try: "))
        served.wait_for_log("--server is ignored")

    assert line | {"timestamp": "", "ms": 0, "id": ""} == {
        "event": "request", "level": "info", "timestamp": "", "method": "GET", "url": "/12/nowhere",
        "status": 404, "ms": 0, "id": "", "why": "No operation has the path /12/nowhere.",
    }  # fmt: skip
    assert hint["level"] == "info"


# -- watching ------------------------------------------------------------------------------------


def test_changed_fixtures_are_loaded_again(tmp_path: Path) -> None:
    """A sound change resets the default world and serves new ones; other worlds stay.

    Before, the faults of another change were logged, and the last sound fixtures stayed.
    """
    file = tmp_path / "users.json"
    file.write_text(json.dumps([USER]))
    with serving("--fixtures", tmp_path, "--watch", command=quick) as served:
        requests.put(f"{served.url}/_mock/worlds/old", timeout=PATIENCE)
        put(served, "users", {"id": "10", "screen_name": "ten", "name": "Ten"})
        file.write_text('[{"id": "9"}]')
        served.wait_for_log("the last valid ones stay")
        served.wait_for_log("users.json:1:2: record 0, field ")
        assert {"nine", "ten"} <= set(names(served))

        file.write_text(json.dumps([USER | {"screen_name": "neun"}]))
        served.wait_for_log("loaded again", each=True)
        requests.put(f"{served.url}/_mock/worlds/new", timeout=PATIENCE)

        assert "neun" in names(served)
        assert not {"nine", "ten"} & set(names(served))
        for world, name in (("old", "nine"), ("new", "neun")):
            answer = requests.get(f"{served.url}/~{world}/_mock/state/users/9", timeout=PATIENCE)
            assert name == answer.json()["screen_name"]
        assert served.stop() == 0


# -- run -----------------------------------------------------------------------------------------


def test_run_hands_addresses_and_credentials_over(tmp_path: Path) -> None:
    """The command reaches the server by what it finds in its environment.

    Its status is that of the end, and a store is written then.
    """
    store = f"tinydb:{tmp_path / 'state.json'}"
    script = (
        "import os, requests, sys\n"
        "for name in ('URL', 'SANDBOX_URL'):\n"
        "    base = os.environ['MOCK_PLATFORM_' + name]\n"
        "    token = os.environ['MOCK_PLATFORM_BEARER_TOKEN']\n"
        "    answer = requests.get(base + '/12/accounts', timeout=120,\n"
        "                          headers={'Authorization': 'Bearer ' + token})\n"
        "    ids = [account['id'] for account in answer.json()['data']]\n"
        "    print(os.environ['MOCK_PLATFORM_ACCOUNT_ID'] in ids)\n"
        "url = os.environ['MOCK_PLATFORM_URL'] + '/_mock/state/users/9'\n"
        f"requests.put(url, json={USER!r}, timeout=120).raise_for_status()\n"
        "sys.exit(7)\n"
    )

    result = ended("run", "--store", store, "--", sys.executable, "-c", script)

    assert (7, "True\nTrue\n", "") == (result.returncode, result.stdout, result.stderr)
    with TinyDB(tmp_path / "state.json") as file:
        assert "nine" in [document["screen_name"] for document in file.table("users")]


IGNORED = (
    "import os, requests, sys\n"
    "token = os.environ['MOCK_PLATFORM_BEARER_TOKEN']\n"
    "answer = requests.get(os.environ['MOCK_PLATFORM_URL'] + '/12/accounts?cuont=7', timeout=120,\n"
    "                      headers={'Authorization': 'Bearer ' + token})\n"
    "print(answer.status_code, sys.argv[1:])\n"
)


@pytest.mark.parametrize(("options", "status"), [((), 200), (("--warnings", "error"), 400)])
def test_run_sums_warnings_up(options: tuple[str, ...], status: int) -> None:
    """At the end it prints what was ignored; with `--warnings error` the command was refused.

    Options before the command are the server's, those after it the command's own.
    """
    result = ended("run", *options, sys.executable, "-c", IGNORED, "--auth")

    assert (0, f"{status} ['--auth']\n") == (result.returncode, result.stdout)
    assert (
        "mock-platform: 1 request with warnings:\n"
        "  1 x unknown-parameter, accounts.list: GET /12/accounts?cuont=7: parameter 'cuont' is "
        "not one of this operation and was ignored; did you mean 'count'?\n"
    ) == result.stderr


def test_run_ends_with_the_status_of_its_command() -> None:
    """As a shell reports it: the status, 128 and the signal, 127 and 126 where nothing ran."""
    commands = [
        ["sh", "-c", "exit 7"], ["sh", "-c", "kill -TERM $$"], ["sh", "-c", "kill -KILL $$"],
        ["no-such-command"], ["/"],
    ]  # fmt: skip
    one_after_the_other = (
        "import contextlib, io, json, sys\n"
        "from mock_platform.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    sys.argv = ['mock-platform', 'run', '--', *words]\n"
        "    with contextlib.redirect_stderr(io.StringIO()) as said:\n"
        "        try: main()\n"
        "        except SystemExit as end: print(end.code, bool(said.getvalue()))\n"
    )

    statuses = subprocess.run(
        [sys.executable, "-c", one_after_the_other, json.dumps(commands)], stdout=subprocess.PIPE,
        text=True, check=True, env=environment(),
    ).stdout.splitlines()  # fmt: skip

    assert ["7 False", "143 False", "137 False", "127 True", "126 True"] == statuses


def test_run_passes_signals_on() -> None:
    """The command gets each signal and decides; its status is the end's."""
    numbers = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1]
    script = (
        "import signal, sys\n"
        f"numbers = {[int(number) for number in numbers]}\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, numbers)\n"
        "print('ready', flush=True)\n"
        "for _ in numbers:\n"
        f"    print(signal.sigtimedwait(numbers, {PATIENCE}).si_signo, flush=True)\n"
        "sys.exit(5)\n"
    )
    process = subprocess.Popen(
        command("run", "--", sys.executable, "-c", script), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for number in numbers:
            process.send_signal(number)
            assert process.stdout.readline() == f"{int(number)}\n"

        assert process.wait(PATIENCE) == 5
