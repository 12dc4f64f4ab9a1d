"""Stores for records: in memory, and in files that outlive the process."""
