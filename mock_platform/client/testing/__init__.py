"""The common base of the pytest plugin and the unittest mixin: worlds for tests, and reports."""
