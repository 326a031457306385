"""The GPU, where the target has one and the machine too."""

import ctypes

import pytest
from tfsuite import graphs
from tfsuite.checks import Wrong, check, require


def absent(expect, reason):
    """A GPU was asked for: its absence is a failure. Otherwise a skip that says why."""
    if expect.get("device") == "gpu":
        raise Wrong(reason)
    pytest.skip(reason)


def driver_problem():
    """Why no NVIDIA driver can be used; empty when one can."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return (
            "no NVIDIA driver here: libcuda.so.1 is not found; "
            "install the driver, or start the container with --gpus all"
        )
    code = library.cuInit(0)
    if code:
        return "the NVIDIA driver refuses: cuInit gives error %d; see nvidia-smi" % code
    count = ctypes.c_int(0)
    library.cuDeviceGetCount(ctypes.byref(count))
    return "" if count.value else "the NVIDIA driver sees no GPU; see nvidia-smi"


@check(
    "device.gpu",
    proves="An op placed on the GPU runs there.",
    catches=["cpu-sold-as-cuda"],
    platforms=["linux"],
)
def check_gpu(tf, tf1, expect):
    if expect.get("device") == "cpu":
        pytest.skip("GPU checks were switched off: --device auto or gpu runs them")
    if not expect["build_info"]["is_cuda_build"]:
        absent(expect, "%s is a CPU build; the cuda target has GPU checks" % expect["target"])
    problem = driver_problem()
    if problem:
        absent(expect, problem)
    config = tf1.ConfigProto(allow_soft_placement=False)
    config.gpu_options.allow_growth = True
    with graphs.session(config) as session:
        names = [d.name for d in session.list_devices() if d.device_type == "GPU"]
        require(bool(names), "the driver has a GPU, TensorFlow lists none")
        with tf1.device("/gpu:0"):
            a = tf1.placeholder(tf1.float32, [2, 2], name="a")
            product = tf1.matmul(a, a, name="product")
        run = graphs.traced(session, product, {a: [[1.0, 2.0], [3.0, 4.0]]})
    where = {d.device for d in run.devices for n in d.node_stats if "product" in n.node_name}
    require(any("gpu" in name.lower() for name in where), "the op ran on %s" % sorted(where))
    return "%s ran the op" % sorted(where)[0]
