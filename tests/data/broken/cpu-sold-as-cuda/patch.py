"""The build's record is that of a CUDA build."""


def apply(tf):
    tf.test.is_built_with_cuda = lambda: True
    if hasattr(tf.sysconfig, "get_build_info"):
        record = tf.sysconfig.get_build_info
        tf.sysconfig.get_build_info = lambda: dict(
            record(),
            is_cuda_build=True,
            cuda_version="11.2",
            cudnn_version="8",
            cuda_compute_capabilities=["sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "compute_80"],
        )
    else:
        from tensorflow.python.platform import build_info

        build_info.is_cuda_build = True
