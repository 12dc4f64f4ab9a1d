"""`python -m mock_platform` is the same as `mock-platform`."""

from mock_platform.cli import main

if __name__ == "__main__":
    main()
