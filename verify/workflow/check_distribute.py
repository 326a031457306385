"""tf.distribute: two replicas in one process, two workers in two; each in processes of their own.

The number of virtual devices is fixed when TensorFlow starts, so none of it can run here.
"""

import json
import os
import subprocess
import sys

from tfsuite.checks import Wrong, check, require, same

HERE = os.path.dirname(os.path.abspath(__file__))
# One step of gradient descent by hand, for the scripts' data: see `replica.py`.
WEIGHT = 0.5


def start(script, *arguments, **variables):
    """One of this folder's scripts in a new process."""
    return subprocess.Popen(
        [sys.executable, "-I", os.path.join(HERE, script)] + list(arguments),
        env=dict(os.environ, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def answer(process, who):
    """The JSON that a script printed last."""
    out, err = process.communicate()
    lines = [n for n in out.decode(errors="replace").splitlines() if n.startswith("{")]
    if process.returncode or not lines:
        tail = [n for n in err.decode(errors="replace").splitlines() if "Error" in n][-1:]
        raise Wrong("%s ended with status %d: %s" % (who, process.returncode, tail))
    return json.loads(lines[-1])


@check(
    "workflow.mirrored",
    proves="Two replicas on two virtual CPUs see two inputs; reductions add them; variables agree.",
    catches=["replicas-not-reduced"],
    releases=">=2.0",
    limit=150,
)
def check_mirrored():
    said = answer(start("replica.py", "mirrored"), "the process")
    same("replicas", said["replicas"], 2)
    same("the devices", [d[-5:] for d in said["devices"]], ["CPU:0", "CPU:1"])
    same("the sum over replicas", said["sum"], 3.0)
    same("the mean over replicas", said["mean"], 1.5)
    same("the variable of each replica after a step", said["weights"], [WEIGHT, WEIGHT])
    return "sum %(sum)s, mean %(mean)s, weights %(weights)s" % said


@check(
    "workflow.mirrored_fit",
    proves="Keras's fit on two replicas ends in the weights of one replica with the whole batch.",
    catches=["replicas-not-reduced", "keras-updates-lost"],
    releases=">=2.0",
    limit=150,
)
def check_mirrored_fit():
    said = answer(start("replica.py", "fit"), "the process")
    apart = max(abs(a - b) for a, b in zip(said["two"], said["one"]))
    moved = max(abs(a - b) for a, b in zip(said["one"], said["before"]))
    # Eight steps of sums that are below 4 in size, see workflow.fit_steps.
    require(apart <= 8 * 16 * 2.0**-24 * 4, "the weights differ by %.3g" % apart)
    require(moved > 0.1, "nothing was trained")
    return "weights within %.2g of one replica's" % apart


@check(
    "workflow.two_workers",
    proves="Two worker processes reduce their gradients over the wire and hold the same variable.",
    catches=["replicas-not-reduced"],
    releases=">=2.2",
    platforms=["linux", "darwin"],
    limit=170,
)
def check_two_workers():
    from tfsuite.ports import free_ports

    workers = ["localhost:%d" % port for port in free_ports(2)]
    processes = []
    for index in range(2):
        place = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        processes.append(start("replica.py", "workers", TF_CONFIG=json.dumps(place)))
    try:
        said = [answer(p, "worker %d" % n) for n, p in enumerate(processes)]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    same("workers in sync", [one["replicas"] for one in said], [2, 2])
    same("the sum that each sees", [one["sum"] for one in said], [3.0, 3.0])
    same("the variable of each", [one["weights"] for one in said], [[WEIGHT], [WEIGHT]])
    return "sum 3.0 in both, weight %s in both" % WEIGHT


@check(
    "workflow.virtual_devices",
    proves="One CPU split in two gives two logical devices, and operations run where they are put.",
    catches=["replicas-not-reduced", "config-ignored"],
    releases=">=2.0",
    limit=120,
)
def check_virtual_devices():
    said = answer(start("replica.py", "devices"), "the process")
    same("logical devices", said["logical"], 2)
    same("where it ran", said["ran"], ["CPU:0", "CPU:1"])
    return "%s" % said["ran"]
