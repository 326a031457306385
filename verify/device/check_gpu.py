"""The GPU in layers: driver, CUDA's libraries, TensorFlow's devices, code, and real work."""

import pytest
from tfsuite import gpu, graphs
from tfsuite.checks import check, require, same
from tfsuite.lazy import np


@check(
    "device.gpu_driver",
    proves="The NVIDIA driver answers, has a GPU, and is new enough for the build's CUDA.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_gpu_driver(expect):
    gpu.require_gpu(expect)
    _, count, version = gpu.driver()
    built = expect["build_info"].get("cuda_version", "")
    if built:
        major = int(built.split(".")[0])
        require(
            version // 1000 >= major,
            "the driver is for CUDA %d.%d, the build for %s"
            % (version // 1000, version % 1000 // 10, built),
        )
    return "%d GPU(s), driver for CUDA %d.%d" % (count, version // 1000, version % 1000 // 10)


@check(
    "device.cuda_libraries",
    proves="The CUDA and cuDNN libraries that the build opens can be opened here.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_cuda_libraries(expect):
    gpu.require_cuda_build(expect)
    cuda = expect["build_info"].get("cuda_version", "")
    if not cuda:
        pytest.skip("no CUDA version is known for this wheel")
    opened, missing = [], []
    for name in gpu.sonames(cuda, expect["build_info"].get("cudnn_version", "")):
        try:
            opened.append(gpu.open_library(name))
        except OSError:
            missing.append(name)
    if missing:
        reason = (
            "%s not found: install CUDA %s, or pip's nvidia packages, and put them on "
            "LD_LIBRARY_PATH" % (", ".join(missing), cuda)
        )
        gpu.absent(expect, reason)
    return ", ".join(opened)


def run_on_gpu(tf1, build, values):
    """Run `build(tensors)` pinned to the GPU, with everything recorded."""
    config = tf1.ConfigProto(allow_soft_placement=False)
    config.gpu_options.allow_growth = True
    with graphs.session(config) as session:
        with tf1.device("/gpu:0"):
            tensors = [tf1.placeholder(v.dtype, v.shape) for v in values]
            op = build(*tensors)
        return graphs.traced(session, op, dict(zip(tensors, values)))


def on_gpu(run, part):
    """The devices that ran a node with `part` in its name."""
    return sorted({d.device for d in run.devices for n in d.node_stats if part in n.node_name})


@check(
    "device.gpu_listed",
    proves="TensorFlow lists every GPU that the driver has.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_gpu_listed(tf1, expect):
    gpu.require_gpu(expect)
    config = tf1.ConfigProto()
    config.gpu_options.allow_growth = True
    with graphs.session(config) as session:
        names = [d.name for d in session.list_devices() if d.device_type == "GPU"]
    _, count, _ = gpu.driver()
    same("the number of GPUs in TensorFlow", len(names), count)
    return ", ".join(names)


@check(
    "device.gpu",
    proves="A matrix product placed on the GPU runs there, and is right.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_gpu(tf1, expect):
    gpu.require_gpu(expect)
    x = np.random.RandomState(1).uniform(-1, 1, (64, 64)).astype("float32")
    run = run_on_gpu(tf1, lambda a: tf1.matmul(a, a, name="product"), [x])
    where = on_gpu(run, "product")
    require(any("gpu" in name.lower() for name in where), "the op ran on %s" % where)
    wide = x.astype("float64")
    # TF32 units keep ten bits of the factors; everything else is far nearer.
    bound = 2.0**-10 * np.dot(np.abs(wide), np.abs(wide))
    require(np.all(np.abs(run.value - np.dot(wide, wide)) <= bound), "the product is wrong")
    return "%s ran the op" % where[0]


@check(
    "device.gpu_convolution",
    proves="A convolution on the GPU runs there, through cuDNN, and is right.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_gpu_convolution(tf1, expect):
    gpu.require_gpu(expect)
    random = np.random.RandomState(2)
    x = random.uniform(-1, 1, (2, 8, 8, 4)).astype("float32")
    w = random.uniform(-1, 1, (3, 3, 4, 8)).astype("float32")
    run = run_on_gpu(
        tf1,
        lambda a, b: tf1.nn.conv2d(a, b, strides=[1, 1, 1, 1], padding="VALID", name="conv"),
        [x, w],
    )
    where = on_gpu(run, "conv")
    require(any("gpu" in name.lower() for name in where), "the op ran on %s" % where)
    want = np.zeros((2, 6, 6, 8))
    for i in range(3):
        for j in range(3):
            want += np.dot(x[:, i : i + 6, j : j + 6, :].astype("float64"), w[i, j])
    require(np.max(np.abs(run.value - want)) <= 0.02, "the convolution is wrong")
    with open("/proc/self/maps") as stream:
        cudnn = sorted({line.split("/")[-1].strip() for line in stream if "libcudnn" in line})
    require(bool(cudnn), "no cuDNN library is loaded in this process")
    return "%s; %s" % (where[0], ", ".join(cudnn[:2]))


@check(
    "device.gpu_architecture",
    proves="The wheel has code for this GPU: native, or PTX that the driver translates.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_gpu_architecture(expect):
    gpu.require_gpu(expect)
    claims = expect["build_info"].get("cuda_compute_capabilities")
    if not claims:
        pytest.skip("the architectures of this wheel are not known")
    major, minor = gpu.capability()
    number = major * 10 + minor
    native = [c for c in claims if c.startswith("sm_") and int(c[3:]) // 10 == major]
    native = [c for c in native if int(c[3:]) <= number]
    if native:
        return "GPU %d.%d runs native code %s" % (major, minor, native[-1])
    ptx = [c for c in claims if c.startswith("compute_") and int(c[8:]) <= number]
    require(bool(ptx), "GPU %d.%d: the wheel has only %s" % (major, minor, ", ".join(claims)))
    return "GPU %d.%d starts slowly: the driver translates %s" % (major, minor, ptx[-1])


@check(
    "device.two_gpus",
    proves="A tensor goes from one GPU to the next and comes back unchanged.",
    catches=["gpu-pretended"],
    platforms=["linux"],
)
def check_two_gpus(tf1, expect):
    gpu.require_gpu(expect)
    _, count, _ = gpu.driver()
    if count < 2:
        pytest.skip("this machine has one GPU; two are needed for this")
    config = tf1.ConfigProto(allow_soft_placement=False)
    config.gpu_options.allow_growth = True
    with graphs.session(config) as session:
        with tf1.device("/gpu:0"):
            x = tf1.placeholder("float32", [4], name="x")
            first = tf1.add(x, 1.0, name="first")
        with tf1.device("/gpu:1"):
            second = tf1.multiply(first, 2.0, name="second")
        run = graphs.traced(session, second, {x: [0.0, 1.0, 2.0, 3.0]})
    same("the values", run.value.tolist(), [2.0, 4.0, 6.0, 8.0])
    where = on_gpu(run, "second")
    require(any("gpu:1" in name.lower() for name in where), "the second op ran on %s" % where)
    return "first on GPU:0, second on GPU:1"
