"""Scenarios: failures and other behaviour on command, decided by rules, shown in the journal."""
