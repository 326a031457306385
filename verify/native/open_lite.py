"""Started by check_lite: open files as TensorFlow Lite models and print what each raises."""

import sys

import tensorflow as tf


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as stream:
            content = stream.read()
        try:
            tf.lite.Interpreter(model_content=content).allocate_tensors()
        except Exception as error:  # its class is the answer
            print(type(error).__name__)
        else:
            print("nothing")
        sys.stdout.flush()


main()
