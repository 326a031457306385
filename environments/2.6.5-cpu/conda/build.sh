#!/usr/bin/env bash
# Builds TensorFlow 2.6.5 (2.6.5-cpu) from source. Written by tfenv.
# usage: build.sh SOURCE OUT
#   SOURCE  the unpacked source tree
#   OUT     folder for the product
# The environment gives PYTHON_BIN_PATH, and for CUDA CUDA_TOOLKIT_PATH and CUDNN_INSTALL_PATH.
set -euo pipefail

source_tree=${1:?usage: build.sh SOURCE OUT}
out=${2:?usage: build.sh SOURCE OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$source_tree"

export PYTHON_BIN_PATH=${PYTHON_BIN_PATH:-$(command -v python3)}
export USE_DEFAULT_PYTHON_LIB_PATH=1
export TF_NEED_CUDA=0
export TF_NEED_ROCM=0
export TF_NEED_TENSORRT=0
export TF_NEED_OPENCL=0
export TF_NEED_OPENCL_SYCL=0
export TF_NEED_COMPUTECPP=0
export TF_NEED_MPI=0
export TF_NEED_GDR=0
export TF_NEED_VERBS=0
export TF_NEED_GCP=0
export TF_NEED_HDFS=0
export TF_NEED_S3=0
export TF_NEED_KAFKA=0
export TF_NEED_AWS=0
export TF_NEED_IGNITE=0
export TF_NEED_JEMALLOC=1
export TF_ENABLE_XLA=1
export TF_DOWNLOAD_CLANG=0
export TF_SET_ANDROID_WORKSPACE=0
export TF_CUDA_CLANG=0
export CC_OPT_FLAGS=-Wno-sign-compare

# About 2 GB of memory per job: more jobs than that end in the kernel's OOM killer.
memory_kb=$(awk '/MemTotal/ {print $2}' /proc/meminfo 2>/dev/null || echo 8000000)
by_memory=$((memory_kb / 2000000))
jobs=${TFENV_JOBS:-$(getconf _NPROCESSORS_ONLN)}
if [ "$by_memory" -lt "$jobs" ]; then jobs=$by_memory; fi
if [ "$jobs" -lt 1 ]; then jobs=1; fi

./configure < /dev/null

# shellcheck disable=SC2086 # TFENV_BAZEL_STARTUP and TFENV_BAZEL_FLAGS are lists of words
bazel ${TFENV_BAZEL_STARTUP:-} build --jobs="$jobs" --config=opt \
  ${TFENV_BAZEL_FLAGS:-} //tensorflow/tools/pip_package:build_pip_package

bazel-bin/tensorflow/tools/pip_package/build_pip_package "$out"
