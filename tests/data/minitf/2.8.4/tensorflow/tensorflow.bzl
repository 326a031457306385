"""The version, where the real tree has it."""

VERSION = "2.8.4"
VERSION_MAJOR = VERSION.split(".")[0]
