"""The static site: the pages of `docs/`, searchable, without anything from another address."""
