"""What XLA leaves behind: cluster nodes in partition graphs, HLO modules in a dump folder."""

import os

CLUSTER_OPS = ("_XlaCompile", "_XlaRun", "XlaLaunch", "_XlaLaunch")


def clustered(run):
    """The cluster nodes of a traced run, sorted."""
    return sorted(run.ops() & set(CLUSTER_OPS))


def dump_folder():
    """Where this process writes its HLO modules, from XLA_FLAGS."""
    for flag in os.environ.get("XLA_FLAGS", "").split():
        if flag.startswith("--xla_dump_to="):
            return flag.split("=", 1)[1]
    raise RuntimeError("this check runs in a group with --xla_dump_to")


def modules(contains=""):
    """Names of the modules dumped so far, before optimisation."""
    folder = dump_folder()
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(n for n in names if n.endswith("before_optimizations.txt") and contains in n)
