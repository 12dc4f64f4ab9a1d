"""One isolated universe: records, clock, ids, journal, rate windows, transitions, credentials."""
