"""The version, where the real tree has it."""

VERSION = "1.15.5"
VERSION_MAJOR = VERSION.split(".")[0]
