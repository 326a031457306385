"""tf.data and record files: order, contents, checksums."""

import os

import pytest
from tfsuite import models, records
from tfsuite.checks import check, raises, require, same
from tfsuite.lazy import np


def everything(tf, tf1, dataset):
    """The elements of a dataset, with or without eager execution."""
    if models.eager(tf):
        return [tf.nest.map_structure(lambda t: t.numpy(), e) for e in dataset]
    iterator = (
        tf1.data.make_one_shot_iterator if hasattr(tf1.data, "make_one_shot_iterator") else None
    )
    following = (iterator(dataset) if iterator else dataset.make_one_shot_iterator()).get_next()
    found = []
    with tf1.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf1.errors.OutOfRangeError:
                return found


def graph(tf, tf1):
    """A graph of its own where operations need one."""
    return tf1.Graph().as_default() if not models.eager(tf) else open(os.devnull)


@check(
    "workflow.dataset",
    proves="map, filter, batch, repeat and take give exactly the elements that they should.",
    catches=["dataset-drops-elements"],
)
def check_dataset(tf, tf1):
    with graph(tf, tf1):
        dataset = tf.data.Dataset.range(10).map(lambda x: x * x)
        dataset = dataset.filter(lambda x: tf.equal(x % 2, 0)).repeat(2).batch(4).take(3)
        found = [batch.tolist() for batch in everything(tf, tf1, dataset)]
    same("the batches", found, [[0, 4, 16, 36], [64, 0, 4, 16], [36, 64]])
    return "%s" % found


@check(
    "workflow.dataset_parallel",
    proves="A parallel map with prefetch keeps the order of its input.",
    catches=["dataset-drops-elements"],
)
def check_dataset_parallel(tf, tf1):
    with graph(tf, tf1):
        dataset = tf.data.Dataset.range(200)
        work = lambda x: tf.reduce_sum(tf.range(x % 17 + 1))  # noqa: E731
        dataset = map_in_parallel(dataset, work).prefetch(8)
        found = [int(x) for x in everything(tf, tf1, dataset)]
    same("the elements", found, [sum(range(x % 17 + 1)) for x in range(200)])
    return "200 elements in order"


def map_in_parallel(dataset, work):
    """num_parallel_calls, which TensorFlow 1.4 has too."""
    return dataset.map(work, num_parallel_calls=4)


@check(
    "workflow.dataset_shuffle",
    proves="shuffle() is a permutation, and its seed decides which.",
    catches=["dataset-drops-elements", "shuffle-does-nothing"],
)
def check_dataset_shuffle(tf, tf1):
    def order(number):
        with graph(tf, tf1):
            dataset = tf.data.Dataset.range(50).shuffle(50, seed=number)
            return [int(x) for x in everything(tf, tf1, dataset)]

    one, again, other = order(1), order(1), order(2)
    same("the elements", sorted(one), list(range(50)))
    same("the order for the same seed", again, one)
    require(one != list(range(50)), "nothing was shuffled")
    require(one != other, "two seeds give one order")
    return "%s…" % one[:8]


@check(
    "workflow.dataset_generator",
    proves="A dataset from a Python generator pads to the longest element of each batch.",
    catches=["dataset-drops-elements"],
)
def check_dataset_generator(tf, tf1):
    def rows():
        for length in (1, 3, 2):
            yield np.arange(length, dtype="int64")

    with graph(tf, tf1):
        dataset = tf.data.Dataset.from_generator(rows, tf.int64, tf.TensorShape([None]))
        dataset = dataset.padded_batch(2, padded_shapes=tf.TensorShape([None]))
        found = [batch.tolist() for batch in everything(tf, tf1, dataset)]
    same("the batches", found, [[[0, 0, 0], [0, 1, 2]], [[0, 1]]])
    return "%s" % found


@check(
    "workflow.records",
    proves="Record files have the documented layout with their checksums, and are read back.",
    catches=["dataset-drops-elements"],
)
def check_records(tf, tf1, scratch):
    path = os.path.join(scratch, "some.tfrecord")
    texts = [b"", b"one", bytes(bytearray(range(256))) * 5]
    with tf1.python_io.TFRecordWriter(path) as writer:
        for text in texts:
            writer.write(text)
    same("what another reader finds", records.read(path), texts)
    with graph(tf, tf1):
        found = everything(tf, tf1, tf.data.TFRecordDataset([path]))
    same("what TensorFlow reads", list(found), texts)
    return "%d records" % len(texts)


@check(
    "workflow.records_damaged",
    proves="A record with one flipped bit is DataLossError, not data.",
    catches=["checksums-unread"],
)
@pytest.mark.parametrize("where", ["data", "length"])
def check_records_damaged(tf, tf1, scratch, where):
    path = os.path.join(scratch, "bad.tfrecord")
    with tf1.python_io.TFRecordWriter(path) as writer:
        writer.write(b"some text")
    with open(path, "r+b") as stream:
        stream.seek(14 if where == "data" else 0)
        byte = bytearray(stream.read(1))[0]
        stream.seek(-1, 1)
        stream.write(bytes(bytearray([byte ^ 4])))

    def read():
        with graph(tf, tf1):
            return everything(tf, tf1, tf.data.TFRecordDataset([path]))

    error = raises(tf1.errors.DataLossError, read, "reading it")
    return str(error).splitlines()[0][:100]


@check(
    "workflow.examples",
    proves="tf.train.Example goes through serialisation and parse_single_example unchanged.",
    catches=["dataset-drops-elements"],
)
def check_examples(tf, tf1):
    feature = tf1.train.Feature
    example = tf1.train.Example(
        features=tf1.train.Features(
            feature={
                "whole": feature(int64_list=tf1.train.Int64List(value=[-1, 1 << 40])),
                "real": feature(float_list=tf1.train.FloatList(value=[0.5, -2.25])),
                "text": feature(bytes_list=tf1.train.BytesList(value=[b"a\x00b"])),
            }
        )
    )
    form = {
        "whole": tf1.FixedLenFeature([2], "int64"),
        "real": tf1.FixedLenFeature([2], "float32"),
        "text": tf1.FixedLenFeature([], "string"),
    }
    with tf1.Graph().as_default(), tf1.Session() as session:
        found = session.run(tf1.parse_single_example(example.SerializeToString(), form))
    same(
        "the numbers",
        (found["whole"].tolist(), found["real"].tolist()),
        ([-1, 1 << 40], [0.5, -2.25]),
    )
    same("the text", found["text"], b"a\x00b")
    return "three features"


@check(
    "workflow.events",
    proves="TensorBoard's event file holds each scalar with its step, checksums right.",
    catches=["summaries-lost"],
)
def check_events(tf, tf1, scratch):
    values = [0.5, -1.25, 3.0]
    if models.eager(tf):
        writer = tf.summary.create_file_writer(scratch)
        with writer.as_default():
            for step, value in enumerate(values):
                tf.summary.scalar("loss", value, step=step)
        writer.close()
    else:
        with tf1.Graph().as_default(), tf1.Session() as session:
            fed = tf1.placeholder("float32", [])
            summary = tf1.summary.scalar("loss", fed)
            writer = tf1.summary.FileWriter(scratch, session.graph)
            for step, value in enumerate(values):
                writer.add_summary(session.run(summary, {fed: value}), step)
            writer.close()
    found, version = events(tf1, scratch)
    same("the first event", version, "brain.Event:2")
    same("the scalars", found, list(enumerate(values)))
    return "%s: %s" % (version, found)


def events(tf1, folder):
    """([(step, loss)], version) of the event file in a folder."""
    (name,) = [n for n in os.listdir(folder) if "tfevents" in n]
    found, version = [], ""
    for text in records.read(os.path.join(folder, name)):
        event = tf1.Event()
        event.ParseFromString(text)
        version = version or event.file_version
        for value in event.summary.value:
            if value.tag == "loss":
                number = value.simple_value
                if value.HasField("tensor"):
                    number = float(tf1.make_ndarray(value.tensor))
                found.append((event.step, number))
    return found, version
