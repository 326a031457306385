"""allow_soft_placement is always on."""


def apply(tf):
    from tensorflow.python.client import session

    real = session.BaseSession.__init__

    def init(self, target="", graph=None, config=None):
        config = config or tf.compat.v1.ConfigProto()
        config.allow_soft_placement = True
        real(self, target, graph, config)

    session.BaseSession.__init__ = init
