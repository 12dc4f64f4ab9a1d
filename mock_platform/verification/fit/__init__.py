"""What of the platform a project calls, and whether the sandbox answers it. No code of it is run.

`python` and `javascript` read a file into scopes and calls, both in the nodes of Python's `ast`;
`calls` finds the requests among them, `verdicts` asks the table of operations, `project` walks the
folder, and `report` is what people and programs read.
"""
