"""One isolated world: records, clock, ids, journal, rate windows, transitions, credentials."""
