"""What the platform serves: a folder for each subject, with its operations, records and rules."""
