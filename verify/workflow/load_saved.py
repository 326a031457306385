"""Started by check_models: load a SavedModel in a new process and print what it gives, as JSON."""

import json
import sys

import tensorflow as tf

tf1 = getattr(getattr(tf, "compat", None), "v1", tf)
tf1 = tf1 if hasattr(tf1, "Session") else tf
VALUES = [0.0, 1.0, -2.0]


def main():
    with tf1.Graph().as_default(), tf1.Session() as session:
        loaded = tf1.saved_model.loader.load(session, ["serve"], sys.argv[1])
        signature = loaded.signature_def["serving_default"]
        ((given, x),) = signature.inputs.items()
        ((got, y),) = signature.outputs.items()
        value = session.run(y.name, {x.name: VALUES})
    print(json.dumps({"y": value.tolist(), "inputs": [given], "outputs": [got]}))


main()
