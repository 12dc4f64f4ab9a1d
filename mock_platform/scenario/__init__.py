"""Scenarios: failures and other behaviour on command, decided by rules, told in the journal."""
