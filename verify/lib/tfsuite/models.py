"""Keras models with and without eager execution, in all its versions."""

from tfsuite import graphs


def eager(tf):
    """Whether operations run at once: TensorFlow 2, unless it was told otherwise."""
    return hasattr(tf, "executing_eagerly") and tf.executing_eagerly()


def version(expect):
    """2 or 3, as text: Keras's major version in this release."""
    return expect.get("features", {}).get("keras", "2")


def reset(tf):
    """Forget the models made so far, which share one graph in TensorFlow 1."""
    tf.keras.backend.clear_session()


def one_layer(tf, layer, shape):
    """A model of one layer on inputs of `shape`, batch left out."""
    inputs = tf.keras.layers.Input(shape=shape)
    return tf.keras.models.Model(inputs, layer(inputs))


def gradients(tf, model, loss, x):
    """d loss(model(x)) / d weights, as arrays."""
    if eager(tf):
        with tf.GradientTape() as tape:
            value = loss(model(tf.constant(x), training=False))
        return [g.numpy() for g in tape.gradient(value, model.trainable_weights)]
    tf1 = graphs.v1()
    found = tf1.gradients(loss(model.outputs[0]), model.trainable_weights)
    return tf1.keras.backend.get_session().run(found, {model.inputs[0]: x})
