"""Turns recorded traffic into a folder: records, events, and scenarios for all that they are not.

Every recorded request is sent to a sandbox that serves the folder. Where its answer is not the
recorded one, a rule answers with the recorded one, so that what was recorded is answered as it was.
"""
