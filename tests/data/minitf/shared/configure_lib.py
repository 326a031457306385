"""The part of configure.py that both releases share: questions, Bazel's bounds, the files written.

Variables, defaults and the lines that come out are those of the real configure.py (what it reads
and writes was measured); the code is not.
"""

import os
import re
import subprocess
import sys

YES = ("1", "t", "true", "y", "yes")
NO = ("0", "f", "false", "n", "no")


class Configuration:
    def __init__(self, environ):
        self.environ = dict(environ)
        self.lines = []

    def ask(self, name, question, default):
        """A variable, else the user's answer; an empty answer or no terminal is the default."""
        if name in self.environ:
            return self.environ[name]
        try:
            return input("%s [Default is %s]: " % (question, default)) or default
        except EOFError:
            print()
            return default

    def ask_bool(self, name, question, default):
        answer = self.ask(name, question + " [y/n]", "y" if default else "n").lower()
        if answer in YES:
            return True
        if answer in NO:
            return False
        sys.exit("Invalid value of %s: %s" % (name, answer))

    def write(self, line):
        self.lines.append(line)

    def action_env(self, name, value):
        self.write('build --action_env %s="%s"' % (name, value))


def check_bazel(question, least, most, environ):
    """Ask Bazel for its version with `question`, and end where it is out of bounds."""
    try:
        out = subprocess.check_output(["bazel", *question], stderr=subprocess.DEVNULL).decode()
    except (OSError, subprocess.CalledProcessError):
        sys.exit("Cannot find bazel. Please install bazel.")
    label = re.search(r"(?:Build label: |^bazel )(\S+)", out, re.MULTILINE)
    version = numbers(label.group(1)) if label else None
    if version is None:
        # As the real one: a Bazel built from source has no number, and is let through.
        print("WARNING: current bazel installation is not a release version.")
        print("Make sure you are running at least bazel %s" % least)
        return
    print("You have bazel %s installed." % label.group(1))
    if version < numbers(least):
        sys.exit("Please upgrade your bazel installation to version %s or higher" % least)
    if version > numbers(most) and "TF_IGNORE_MAX_BAZEL_VERSION" not in environ:
        sys.exit("Please downgrade your bazel installation to version %s or lower" % most)


def numbers(text):
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(n) for n in found.groups()) if found else None


def python(conf):
    path = conf.ask("PYTHON_BIN_PATH", "Please specify the location of python.", sys.executable)
    if not os.access(path, os.X_OK):
        sys.exit("Invalid python path: %s cannot be found" % path)
    script = "import site, sysconfig; print((getattr(site, 'getsitepackages', list)() or [sysconfig.get_path('purelib')])[0])"
    library = conf.environ.get("PYTHON_LIB_PATH")
    if not library:
        library = subprocess.check_output([path, "-c", script]).decode().strip()
    conf.action_env("PYTHON_BIN_PATH", path)
    conf.action_env("PYTHON_LIB_PATH", library)
    conf.write('build --python_path="%s"' % path)
    with open("tools/python_bin_path.sh", "w") as stream:
        stream.write('export PYTHON_BIN_PATH="%s"\n' % path)


def cuda(conf, default_capabilities):
    if not conf.ask_bool("TF_NEED_CUDA", "Do you wish to build TensorFlow with CUDA support?", False):
        return
    for name in ("TF_CUDA_VERSION", "TF_CUDNN_VERSION", "TF_CUDA_PATHS", "CUDA_TOOLKIT_PATH"):
        if name in conf.environ:
            conf.action_env(name, conf.environ[name])
    capabilities = conf.ask("TF_CUDA_COMPUTE_CAPABILITIES", "Capabilities", default_capabilities)
    conf.action_env("TF_CUDA_COMPUTE_CAPABILITIES", capabilities)
    if "GCC_HOST_COMPILER_PATH" in conf.environ:
        conf.action_env("GCC_HOST_COMPILER_PATH", conf.environ["GCC_HOST_COMPILER_PATH"])
    conf.write("build --config=cuda")


def opt_flags(conf, default):
    for flag in conf.ask("CC_OPT_FLAGS", "Optimization flags", default).split():
        conf.write("build:opt --copt=%s" % flag)
        conf.write("build:opt --host_copt=%s" % flag)


def finish(conf):
    with open(".tf_configure.bazelrc", "w") as stream:
        stream.write("\n".join(conf.lines) + "\n")
    print("Configuration finished")
