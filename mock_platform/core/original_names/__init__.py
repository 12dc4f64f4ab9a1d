"""The original names of the platform, for worlds that use them (`--names original`).

Inside, everything has neutral names. A request is translated before the operation reads it, an
answer after everything else was done with it: by declared name, in one place each.
"""
