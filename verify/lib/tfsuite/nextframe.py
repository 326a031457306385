"""The next-frame model of the Keras ConvLSTM2D example, small, and what it is trained on.

Frames come as (batch, time, height, width, colours). The Conv3D head predicts the next frame after
every frame, the Conv2D head one frame after the last.
"""

from tfsuite.lazy import np

SIZE = 12
FILTERS = 8
HEADS = ("conv3d", "conv2d")
# Every weight of the model by hand, see `parameters`.
PARAMETERS = {"conv3d": 8523, "conv2d": 8091}


def seed(tf, number):
    """The same initial weights in every run of a release."""
    np.random.seed(number)
    if hasattr(tf, "set_random_seed"):
        tf.set_random_seed(number)
    else:
        tf.random.set_seed(number)


def model(tf, head, size=SIZE):
    """Two ConvLSTM2D layers and a head; time and batch are left open."""
    layers = tf.keras.layers
    frames = layers.Input(shape=(None, size, size, 3))
    x = layers.ConvLSTM2D(FILTERS, 3, padding="same", return_sequences=True)(frames)
    # The running statistics must follow within the few steps of this training.
    x = layers.BatchNormalization(momentum=0.8)(x)
    whole = head == "conv3d"
    x = layers.ConvLSTM2D(FILTERS, 3, padding="same", return_sequences=whole)(x)
    last = layers.Conv3D if whole else layers.Conv2D
    return tf.keras.models.Model(frames, last(3, 3, padding="same", activation="sigmoid")(x))


def parameters(head):
    """The number of weights, from the layers' definitions.

    A ConvLSTM2D has four gates, each with a kernel on its input, one on its state, and a bias;
    a BatchNormalization has four numbers for each channel.
    """
    gates = lambda inputs: 4 * FILTERS * (9 * (inputs + FILTERS) + 1)  # noqa: E731
    last = {"conv3d": 27, "conv2d": 9}[head] * FILTERS * 3 + 3
    return gates(3) + 4 * FILTERS + gates(FILTERS) + last


def movies(count, number, frames=6, size=SIZE):
    """Coloured stripes that move two pixels per frame, to the left or to the right.

    Copying the last frame is wrong for half of the pixels at each edge, and one frame alone does
    not tell the direction: the movement has to be learned.
    """
    random = np.random.RandomState(number)
    found = np.zeros((count, frames, size, size, 3), "float32")
    for movie in found:
        step = random.choice([-2, 2])
        colour = random.uniform(0.2, 1, 3)
        phase = random.randint(8)
        for time in range(frames):
            lit = (np.arange(size) - phase - step * time) % 8 < 4
            movie[time] = lit[None, :, None] * colour
    return found


def target(head, found):
    """What the model should predict from all but the last frame."""
    return found[:, 1:] if head == "conv3d" else found[:, -1]


def adam(tf, rate):
    """Adam under the name that its first argument has in no release: by position."""
    return tf.keras.optimizers.Adam(rate)
