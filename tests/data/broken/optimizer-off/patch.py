"""Every session is configured without optimisation."""


def apply(tf):
    from tensorflow.python.client import session

    tf1 = tf.compat.v1
    real = session.BaseSession.__init__

    def init(self, target="", graph=None, config=None):
        config = config or tf1.ConfigProto()
        options = config.graph_options
        options.build_cost_model = 0
        options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
        options.rewrite_options.disable_meta_optimizer = True
        real(self, target, graph, config)

    session.BaseSession.__init__ = init
