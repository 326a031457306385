"""What the wheel should be: expect.json, written by whoever starts the suite."""

import json
import os

_LOADED = {}


def load():
    path = os.environ["TFSUITE_EXPECT"]
    if path not in _LOADED:
        with open(path, encoding="utf-8") as stream:
            fields = json.load(stream)
        if fields.get("schema") != 1:
            raise ValueError("expect.json has schema %r, this suite reads 1" % fields.get("schema"))
        fields["profile"] = os.environ.get("TFSUITE_PROFILE", "full")
        _LOADED[path] = fields
    return _LOADED[path]
