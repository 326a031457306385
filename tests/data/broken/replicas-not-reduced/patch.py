"""all_reduce gives each replica what it put in."""


def apply(tf):
    from tensorflow.python.distribute import distribute_lib

    kind = (
        distribute_lib.ReplicaContextBase
        if hasattr(distribute_lib, "ReplicaContextBase")
        else distribute_lib.ReplicaContext
    )
    kind.all_reduce = lambda self, op, value, options=None: value
