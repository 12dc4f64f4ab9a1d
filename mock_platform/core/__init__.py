"""The parts of every operation, and the pipeline that each request passes through."""
