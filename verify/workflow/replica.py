"""Started by check_distribute: one strategy, printed as JSON. TensorFlow 2 only.

The step: w is 2, replica r sees x = r + 1, the loss is w*x; the gradients 1 and 2 are averaged to
1.5, and one step with rate 1 leaves w at 0.5.
"""

import json
import os
import sys

import tensorflow as tf


def split_cpu():
    """Two logical CPUs of one."""
    experimental = tf.config.experimental
    listed = getattr(tf.config, "list_physical_devices", experimental.list_physical_devices)
    cpu = listed("CPU")[0]
    kind = getattr(tf.config, "LogicalDeviceConfiguration", None)
    if kind is not None and hasattr(tf.config, "set_logical_device_configuration"):
        tf.config.set_logical_device_configuration(cpu, [kind(), kind()])
    else:
        one = experimental.VirtualDeviceConfiguration
        experimental.set_virtual_device_configuration(cpu, [one(), one()])


def call(strategy, function, *arguments):
    """strategy.run, which was experimental_run_v2 before 2.2."""
    run = getattr(strategy, "run", None) or strategy.experimental_run_v2
    return run(function, args=arguments)


def step(strategy, number=None):
    """What every replica sees, and the variable after one averaged step.

    `number` is a worker's place: TensorFlow 2.3 numbers the replicas of each worker from zero.
    """
    options = {}
    if not hasattr(strategy, "run"):  # before 2.2 a replica may not assign without saying how
        options["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
    with strategy.scope():
        w = tf.Variable(2.0, **options)
    reduce = tf.distribute.ReduceOp

    def replica():
        context = tf.distribute.get_replica_context()
        place = context.replica_id_in_sync_group if number is None else number
        seen = tf.cast(place, tf.float32) + 1.0
        with tf.GradientTape() as tape:
            loss = w * seen
        gradient = tape.gradient(loss, w)
        mean = context.all_reduce(reduce.MEAN, gradient)
        w.assign_sub(mean)
        return seen

    numbers = tf.function(lambda: call(strategy, replica))()
    local = strategy.experimental_local_results
    return {
        "replicas": strategy.num_replicas_in_sync,
        "sum": float(strategy.reduce(reduce.SUM, numbers, axis=None)),
        "mean": float(strategy.reduce(reduce.MEAN, numbers, axis=None)),
        "weights": [float(v.numpy()) for v in local(w)],
        "devices": [v.device for v in local(w)],
    }


def mirrored():
    split_cpu()
    return step(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]))


def workers():
    kind = getattr(tf.distribute, "MultiWorkerMirroredStrategy", None)
    place = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    return step((kind or tf.distribute.experimental.MultiWorkerMirroredStrategy)(), place)


def fit():
    import numpy as np

    split_cpu()
    x = np.random.RandomState(51).uniform(-1, 1, (64, 3)).astype("float32")
    y = x.dot(np.array([[1.5], [-2.0], [0.5]], "float32")) + np.float32(0.25)
    start = [np.array([[0.1], [0.2], [0.3]], "float32"), np.array([0.4], "float32")]

    def trained(strategy):
        with strategy.scope():
            layers = tf.keras.layers
            model = tf.keras.models.Sequential([layers.Dense(1, input_shape=(3,))])
            model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
        model.set_weights(start)
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
        model.fit(data, epochs=2, verbose=0)
        return np.concatenate([w.ravel() for w in model.get_weights()]).tolist()

    return {
        "one": trained(tf.distribute.OneDeviceStrategy("/cpu:0")),
        "two": trained(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])),
        "before": np.concatenate([w.ravel() for w in start]).tolist(),
    }


def devices():
    split_cpu()
    listed = getattr(tf.config, "list_logical_devices", None)
    found = (listed or tf.config.experimental.list_logical_devices)("CPU")
    ran = []
    for number in range(2):
        with tf.device("/cpu:%d" % number):
            ran.append((tf.constant(1.0) + 1.0).device[-5:])
    return {"logical": len(found), "ran": ran}


print(json.dumps(globals()[sys.argv[1]]()))
