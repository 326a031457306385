"""Functions compiled ahead of time by `saved_model_cli aot_compile_cpu`, and programs of them."""

import os
import re
import struct
import sys

from tfsuite import elf, programs

# The console script's own entry: a wheel that was installed elsewhere may have no script on PATH.
COMMAND = (
    "import sys; sys.argv[0] = 'saved_model_cli'; "
    "from tensorflow.python.tools.saved_model_cli import main; sys.exit(main())"
)
# Parts of the runtime that only large products, convolutions and sorts call: minutes of compiling.
UNUSED = re.compile(r"(runtime_|dot_lib|convolution_lib|eigen_contraction|sort_lib)")
KINDS = {1: "relocatable", 2: "executable", 3: "shared"}
MACHINES = {62: "x86-64", 183: "aarch64"}


def compile_cpu(model, prefix):
    """(exit status, text) of the command for the serving signature of a SavedModel."""
    command = [sys.executable, "-I", "-c", COMMAND, "aot_compile_cpu", "--dir", model]
    command += ["--tag_set", "serve", "--signature_def_key", "serving_default"]
    return programs.run(
        command + ["--output_prefix", prefix, "--cpp_class", "tfsuite::Aot"],
        TF_CPP_MIN_LOG_LEVEL="0",
    )


def object_file(path):
    """((kind, machine), {section: bytes}) of an ELF file."""
    with open(path, "rb") as stream:
        head = stream.read(20)
    kind, machine = struct.unpack_from("<HH", head, 16)
    sizes = {name: size for name, (_, size) in elf.sections(path).items()}
    return (KINDS.get(kind, kind), MACHINES.get(machine, machine)), sizes


def objects(prefix):
    """The object files of one compilation; newer releases put the constants into their own."""
    folder, name = os.path.split(prefix)
    return sorted(
        os.path.join(folder, n) for n in os.listdir(folder) if re.match(name + r"(_\w+)?\.o$", n)
    )


def runtime(tf, expect, gcc, main, prefix):
    """The objects of a program's own source and of the runtime that the wheel ships as source."""
    home = os.path.join(os.path.dirname(tf.__file__), "xla_aot_runtime_src")
    if not os.path.isdir(home):  # some releases put an API in front of the package
        home = os.path.join(os.path.dirname(programs.headers(tf)), "xla_aot_runtime_src")
    sources = [main]
    for folder, _, names in os.walk(home):
        sources += [
            os.path.join(folder, n) for n in names if n.endswith(".cc") and not UNUSED.match(n)
        ]
    flags = programs.compile_flags(tf, expect) + ["-I" + home, "-I" + os.path.dirname(prefix)]
    made = []
    for number, source in enumerate(sorted(sources)):
        path = os.path.join(os.path.dirname(prefix), "part%d.obj" % number)
        programs.build([gcc, "-c", source, "-o", path] + flags)
        made.append(path)
    return made


def links(tf):
    """What the runtime is linked with: nothing of TensorFlow, but for its Abseil since 2.18 or so."""
    folder = programs.libraries(tf)
    library = os.path.join(folder, programs.framework(tf))
    return [
        "-Wl,--as-needed",
        library,
        "-Wl,--allow-shlib-undefined",
        "-Wl,-rpath," + folder,
        "-lpthread",
    ]


def needs_kernels(program):
    """Whether a program is linked with the libraries that hold TensorFlow's kernels."""
    with open(program, "rb") as stream:
        text = stream.read()
    return b"libtensorflow_cc" in text or b"_pywrap_tensorflow" in text
