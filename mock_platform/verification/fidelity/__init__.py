"""How true the sandbox's answers are: facts of the real service, asked here, and counted.

`facts` reads them, `publication` undoes what their publication did, `sandbox` asks with what
`instrument` adds, `points` compares, `measure` counts, `report` writes.
"""
