"""One CPU as two logical devices: asked for before TensorFlow starts its runtime."""

from tfsuite.checks import check, require, same


@check(
    "device.virtual_cpus",
    proves="One CPU can be split into two logical devices, and tensors move between them.",
    catches=["eager-device-ignored", "virtual-devices-ignored"],
    releases=">=2.4",
)
def check_virtual_cpus(tf):
    (cpu,) = tf.config.list_physical_devices("CPU")
    half = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(cpu, [half, half])
    names = [d.name for d in tf.config.list_logical_devices("CPU")]
    same("the number of logical CPUs", len(names), 2)
    with tf.device("/CPU:1"):
        there = tf.ones([2, 2]) * 3.0
    with tf.device("/CPU:0"):
        here = there + 1.0
    require(there.device.endswith("CPU:1"), "the first tensor is on %s" % there.device)
    require(here.device.endswith("CPU:0"), "the second tensor is on %s" % here.device)
    same("the value", here.numpy().tolist(), [[4.0, 4.0], [4.0, 4.0]])
    return ", ".join(names)
