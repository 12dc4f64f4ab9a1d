"""What people hold in Python: a sandbox in their own process, or one elsewhere, with one face."""
