"""`python -m tfenv`."""

from tfenv.cli import main

if __name__ == "__main__":
    main()
