"""Where records are kept: in memory, and in files that outlive the process."""
