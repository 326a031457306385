"""What XLA leaves behind: cluster nodes in partition graphs, HLO modules in a dump folder."""

import os

from tfsuite import graphs
from tfsuite.checks import require
from tfsuite.lazy import np

CLUSTER_OPS = ("_XlaCompile", "_XlaRun", "XlaLaunch", "_XlaLaunch")
EPS = 2.0**-24


def compiler():
    """xla.compile: in 1.13 and 1.14 it is in contrib."""
    tf1 = graphs.v1()
    if hasattr(tf1, "xla"):
        return tf1.xla.experimental.compile
    from tensorflow.contrib.compiler import xla

    return xla.compile


def clustered(run):
    """The cluster nodes of a traced run, sorted."""
    return sorted(run.ops() & set(CLUSTER_OPS))


def dump_folder():
    """Where this process writes its HLO modules, from XLA_FLAGS."""
    for flag in os.environ.get("XLA_FLAGS", "").split():
        if flag.startswith("--xla_dump_to="):
            return flag.split("=", 1)[1]
    raise RuntimeError("this check runs in a group with --xla_dump_to")


def modules(contains="", stage="before_optimizations"):
    """Names of the modules dumped so far, at one stage."""
    folder = dump_folder()
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(n for n in names if n.endswith(stage + ".txt") and contains in n)


def read(name):
    """The text of a dumped module."""
    with open(os.path.join(dump_folder(), name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


class Compiled(object):
    """The same function three times: compiled, as plain kernels, and in float64."""

    def __init__(self, run, got, plain, wide):
        self.run = run
        self.got = got
        self.plain = plain
        self.wide = wide


def compile_both(function, arguments, wide=True):
    """Run `function(tf1, *tensors)` with xla.compile and without, in one session each.

    Fails unless the compiled run is one XlaLaunch node.
    """
    tf1 = graphs.v1()

    def build(dtype):
        tensors = []
        for value in arguments:
            kind = dtype if dtype and value.dtype == np.float32 else value.dtype
            tensors.append(tf1.placeholder(kind, value.shape))
        return tensors

    with graphs.session() as session:
        tensors = build(None)
        outputs = compiler()(lambda *v: function(tf1, *v), tensors)
        run = graphs.traced(session, outputs[0], dict(zip(tensors, arguments)))
    require(
        "XlaLaunch" in run.ops(), "the run has no XlaLaunch node: %s" % ", ".join(sorted(run.ops()))
    )
    with graphs.session() as session:
        tensors = build(None)
        plain = session.run(function(tf1, *tensors), dict(zip(tensors, arguments)))
    reference = None
    if wide:
        with graphs.session() as session:
            tensors = build("float64")
            reference = session.run(function(tf1, *tensors), dict(zip(tensors, arguments)))
    return Compiled(run, np.asarray(run.value), np.asarray(plain), reference)


def compare(compiled, factor=4):
    """XLA may round in another order, so it is measured by the plain kernels.

    Its distance from float64 is at most `factor` times theirs, or times 16 eps of the largest
    value where theirs is smaller.
    """
    largest = float(np.max(np.abs(compiled.wide)))
    theirs = float(np.max(np.abs(compiled.plain - compiled.wide)))
    ours = float(np.max(np.abs(compiled.got - compiled.wide)))
    unit = max(theirs, 16 * EPS * largest)
    data = {"error": ours / unit, "bound": factor, "unit": "the plain kernels' error"}
    text = "error %.2g of the plain kernels' (bound %d)" % (ours / unit, factor)
    require(np.all(np.isfinite(compiled.got)), "the compiled result is not finite", data)
    require(ours <= factor * unit, text, data)
    return text, data
