"""Apply the edits of edits.json to a source tree: edit.py edits.json TREE. Written by tfenv.

An edit whose text is not there as often as it was is an error, and then nothing is written.
"""

import io
import json
import os
import sys

def main(edits, tree):
    texts = {}
    for edit in json.load(io.open(edits, encoding="utf-8")):
        path = os.path.join(tree, *edit["file"].split("/"))
        if path not in texts:
            with io.open(path, encoding="utf-8", newline="") as stream:
                texts[path] = stream.read()
        found = texts[path].count(edit["find"])
        if found != edit["count"]:
            sys.stderr.write("error: the source is not the one that the edits are for\n")
            sys.stderr.write("  why: %s has %r %d times, not %d\n" % (edit["file"], edit["find"], found, edit["count"]))
            sys.stderr.write("  fix: unpack the locked source again; edit nothing by hand\n")
            return 5
        if edit["replace"]:
            texts[path] = texts[path].replace(edit["find"], edit["replace"])
            print("edited %s: %s" % (edit["file"], edit["reason"]))
    for path, text in texts.items():
        with io.open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
    return 0

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
