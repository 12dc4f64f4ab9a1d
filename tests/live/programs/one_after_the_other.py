"""Programs of Python, each in a process of its own that has loaded the sandbox already.

Loading it takes longer than what most programs do. Each line of the input asks for one program; an
answer is its status. The processes are forks, so a program meets nothing that another one left.
"""

import gc
import json
import os
import signal
import sys

from mock_platform import MockPlatform

with MockPlatform.start():
    """What every program loads is loaded now; its threads have ended before the first fork."""
gc.freeze()  # collections of the forks would copy what they look at

for line in sys.stdin:
    asked = json.loads(line)
    forked = os.fork()
    if forked == 0:
        for number, name in ((1, asked["output"]), (2, asked["errors"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.alarm(asked["patience"])
        os.chdir(asked["folder"])
        exec(compile(asked["program"], "program", "exec"), {"__name__": "__main__"})
        break
    _, status = os.waitpid(forked, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
