"""Started by check_lite: open files as TensorFlow Lite models and print what each raises."""

import sys

import tensorflow as tf

SPARE = 2 << 30


def limit_memory():
    """No more than two GiB on top: a length that is read from a broken file may be any number."""
    try:
        import resource
    except ImportError:  # Windows
        return
    try:
        with open("/proc/self/statm") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
    except OSError:  # macOS
        return
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE, used + SPARE))


def main():
    limit_memory()
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
