"""How true the sandbox's answers are: facts of the real service, asked here, and counted.

`facts` reads them, `sandbox` asks, `points` compares, `measure` counts, `report` writes.
"""
