"""shuffle() returns the dataset as it is."""


def apply(tf):
    tf.data.Dataset.shuffle = lambda self, *arguments, **options: self
