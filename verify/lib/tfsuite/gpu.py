"""What stands between this process and a GPU, layer by layer, and why a layer is missing."""

import ctypes
import glob
import os
import sys

import pytest

from tfsuite.checks import Wrong


def absent(expect, reason):
    """A GPU was asked for: its absence is a failure. Otherwise a skip that says why."""
    if expect.get("device") == "gpu":
        raise Wrong(reason)
    pytest.skip(reason)


def require_cuda_build(expect):
    """Skip what only a CUDA build can have."""
    if expect.get("device") == "cpu":
        pytest.skip("GPU checks were switched off: --device auto or gpu runs them")
    if not expect["build_info"]["is_cuda_build"]:
        absent(expect, "%s is a CPU build; the cuda target has GPU checks" % expect["target"])


def require_gpu(expect):
    """Skip, or fail where a GPU was asked for, with what the driver says."""
    require_cuda_build(expect)
    problem = driver_problem()
    if problem:
        absent(expect, problem)


def driver():
    """(library, number of GPUs, driver's CUDA version); raises OSError without a library."""
    library = ctypes.CDLL("libcuda.so.1")
    code = library.cuInit(0)
    if code:
        return library, -code, 0
    count, version = ctypes.c_int(0), ctypes.c_int(0)
    library.cuDeviceGetCount(ctypes.byref(count))
    library.cuDriverGetVersion(ctypes.byref(version))
    return library, count.value, version.value


def driver_problem():
    """Why no NVIDIA GPU can be used; empty when one can."""
    try:
        _, count, _ = driver()
    except OSError:
        return (
            "no NVIDIA driver here: libcuda.so.1 is not found; "
            "install the driver, or start the container with --gpus all"
        )
    if count < 0:
        return "the NVIDIA driver refuses: cuInit gives error %d; see nvidia-smi" % -count
    if not count:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        if hidden is not None:
            return "CUDA_VISIBLE_DEVICES=%s hides every GPU; unset it" % hidden
        return "the NVIDIA driver sees no GPU; see nvidia-smi"
    return ""


def capability(index=0):
    """The compute capability of a GPU, as (8, 6)."""
    library, _, _ = driver()
    found = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        value = ctypes.c_int(0)
        library.cuDeviceGetAttribute(ctypes.byref(value), attribute, index)
        found.append(value.value)
    return tuple(found)


def sonames(cuda, cudnn):
    """What a build for these versions opens, from NVIDIA's naming: the runtime keeps 11.0 for
    all of CUDA 11, the others carry their major version."""
    parts = (cuda.split(".") + ["0"])[:2]
    major, exact = parts[0], ".".join(parts)
    old = int(major) < 11
    names = [
        "libcudart.so." + (exact if old else "11.0" if major == "11" else major),
        "libcublas.so." + (major if not old or exact in ("10.1", "10.2") else exact),
    ]
    if cudnn:
        names.append("libcudnn.so." + cudnn.split(".")[0])
    return names


def open_library(name):
    """The path under which a library opens: the loader's, or pip's nvidia packages."""
    try:
        ctypes.CDLL(name)
        return name
    except OSError as error:
        reason = str(error)
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib", name)):
            ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
            return path
    raise OSError(reason)
