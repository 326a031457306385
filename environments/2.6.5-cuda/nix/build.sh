#!/usr/bin/env bash
# Builds TensorFlow 2.6.5 (2.6.5-cuda) from source. Written by tfenv.
# usage: build.sh SOURCE OUT
#   SOURCE  the unpacked source tree, or the release's archive
#   OUT     folder for the product
# The environment gives PYTHON_BIN_PATH, and for CUDA CUDA_TOOLKIT_PATH and CUDNN_INSTALL_PATH. It may give
#   TFENV_WORK             a folder to work in: SOURCE is copied there and left alone, and steps that are
#                          done are remembered, so that a build that was killed goes on where it was
#   TFENV_SOURCE_DIGEST    what SOURCE holds, in a word: another digest starts over
#   TFENV_CACHE            files by sha256 (`tfenv fetch -o`): Bazel's repository cache
#   TFENV_OFFLINE          not empty: Bazel must not download
#   TFENV_DOWNLOADER       a file of rewrite rules for Bazel's downloads
#   TFENV_DISK_CACHE, TFENV_REMOTE_CACHE, TFENV_REMOTE_EXECUTOR   Bazel's caches and workers
#   TFENV_EVENTS           file for Bazel's build events
#   TFENV_JOBS             most jobs at a time
#   TFENV_BAZEL_STARTUP, TFENV_BAZEL_FLAGS   more words for Bazel
set -euo pipefail

source=${1:?usage: build.sh SOURCE OUT}
out=${2:?usage: build.sh SOURCE OUT}
mkdir -p "$out"
source=$(cd "$(dirname "$source")" && pwd)/$(basename "$source")
out=$(cd "$out" && pwd)
work=${TFENV_WORK:-}
tree=$source
product=$out/.product
startup=()
if [ -n "$work" ]; then
  mkdir -p "$work/stamps" "$work/tmp"
  work=$(cd "$work" && pwd)
  tree=$work/source
  product=$work/product
  startup+=(--output_user_root="$work/bazel" --max_idle_secs=300)
  export TMPDIR=$work/tmp
elif [ ! -d "$source" ]; then
  echo "tfenv: without TFENV_WORK, SOURCE must be an unpacked tree" >&2
  exit 2
fi

export PYTHON_BIN_PATH=${PYTHON_BIN_PATH:-$(command -v python3)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1654041600}
export USE_DEFAULT_PYTHON_LIB_PATH=1
export TF_NEED_CUDA=1
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
export TF_CUDA_VERSION=11.2
export TF_CUDNN_VERSION=8
export TF_CUDA_COMPUTE_CAPABILITIES=sm_35,sm_50,sm_60,sm_70,sm_75,compute_80
export TF_NCCL_VERSION=''

fail() {
  echo "tfenv: $*" >&2
  exit 1
}

file_of() { # SHA256: the file of that hash
  [ -f "${TFENV_CACHE:-}/content_addressable/sha256/$1/file" ] || fail "the file with sha256 $1 is not in TFENV_CACHE"
  echo "$TFENV_CACHE/content_addressable/sha256/$1/file"
}

unpack() {
  [ -n "$work" ] || return 0
  rm -rf "$work/source.new" "$tree"
  mkdir -p "$work/source.new"
  if [ -d "$source" ]; then
    cp -RL "$source/." "$work/source.new"
  else
    tar -xf "$source" -C "$work/source.new" --strip-components=1 --no-same-owner
  fi
  mv "$work/source.new" "$tree"
}

patch_tree() {
  : # this release needs none
}

wrote() { # TEXT: configure must have written it
  grep -qF -e "$1" .tf_configure.bazelrc || fail "configure did not write '$1' to .tf_configure.bazelrc"
}

configure() {
  cd "$tree"
  # Another run's answers must not survive: configure does not always write its file anew.
  rm -f .tf_configure.bazelrc
  # Questions take their defaults when nobody answers; every answer that matters is a variable above.
  ./configure < /dev/null
  wrote "PYTHON_BIN_PATH=\"$PYTHON_BIN_PATH\""
  wrote 'TF_CUDA_VERSION="11.2"'
  wrote 'TF_CUDNN_VERSION="8"'
  wrote 'TF_CUDA_COMPUTE_CAPABILITIES="sm_35,sm_50,sm_60,sm_70,sm_75,compute_80"'
}

jobs() { # About 2 GB of memory per job, 3 GB with CUDA: more jobs than that end in the kernel's OOM killer.
  local cores memory_kb by_memory
  cores=$(getconf _NPROCESSORS_ONLN)
  memory_kb=$(awk '/MemTotal/ {print $2}' /proc/meminfo 2>/dev/null || echo 8000000)
  by_memory=$((memory_kb / 3000000))
  if [ "$by_memory" -lt "$cores" ]; then cores=$by_memory; fi
  if [ "$cores" -lt 1 ]; then cores=1; fi
  echo "${TFENV_JOBS:-$cores}"
}

compile() {
  cd "$tree"
  local options
  options=(--jobs="$(jobs)" --config=opt --config=cuda)
  if [ -n "${TFENV_CACHE:-}" ]; then options+=(--repository_cache="$TFENV_CACHE"); fi
  if [ -n "${TFENV_DISK_CACHE:-}" ]; then options+=(--disk_cache="$TFENV_DISK_CACHE"); fi
  if [ -n "${TFENV_REMOTE_CACHE:-}" ]; then options+=(--remote_cache="$TFENV_REMOTE_CACHE" --remote_upload_local_results=true); fi
  if [ -n "${TFENV_REMOTE_EXECUTOR:-}" ]; then options+=(--remote_executor="$TFENV_REMOTE_EXECUTOR" "--spawn_strategy=remote,local" "--strategy=Genrule=remote,local" "--remote_timeout=600"); fi
  if [ -n "${TFENV_EVENTS:-}" ]; then
    options+=(--build_event_json_file="$TFENV_EVENTS" --curses=no --color=no --show_progress_rate_limit=0.5)
  fi
  # shellcheck disable=SC2086 # TFENV_BAZEL_STARTUP and TFENV_BAZEL_FLAGS are lists of words
  bazel ${startup[@]+"${startup[@]}"} ${TFENV_BAZEL_STARTUP:-} build "${options[@]}" \
    ${TFENV_BAZEL_FLAGS:-} //tensorflow/tools/pip_package:build_pip_package
}

package() {
  cd "$tree"
  rm -rf "$product"
  mkdir -p "$product"
  bazel-bin/tensorflow/tools/pip_package/build_pip_package "$product"
}

collect() { # A name appears in OUT when its file is whole.
  local file name
  # A folder of the work folder's own holds this build's products only; any other may hold anything.
  if [ "$out" = "$work/out" ]; then rm -rf "${out:?}"/*; fi
  for file in "$product"/*; do
    name=$(basename "$file")
    cp -f "$file" "$out/.$name.part"
    mv -f "$out/.$name.part" "$out/$name"
  done
  # In a work folder it stays: a kill between its removal and this step's stamp would leave a
  # finished step `package` without a product.
  if [ -z "$work" ]; then rm -rf "$product"; fi
}

order="unpack patch_tree configure compile package collect"
chain="${TFENV_SOURCE_DIGEST:-$source} $PYTHON_BIN_PATH"

step() { # NAME KEY: run the step unless it is done; what follows a step that ran is done again
  local name=$1 later=
  chain="$chain $name:$2"
  if [ -n "$work" ]; then
    if [ -n "${TFENV_SOURCE_DIGEST:-}" ] && [ "$(cat "$work/stamps/$name" 2> /dev/null)" = "$chain" ]; then
      echo "tfenv: step $name unchanged"
      return
    fi
    for other in $order; do
      if [ "$other" = "$name" ]; then later=1; fi
      if [ -n "$later" ]; then rm -f "$work/stamps/$other"; fi
    done
  fi
  echo "tfenv: step $name begin"
  "$name"
  if [ -n "$work" ]; then
    printf '%s' "$chain" > "$work/stamps/$name.part"
    mv -f "$work/stamps/$name.part" "$work/stamps/$name"
  fi
  echo "tfenv: step $name end"
}

step unpack 11d5a6af904f67a85bcb3c68d660e007
step patch_tree 022cc54ac7114855773cf86b92841bee
step configure 975deb0e6e1575776d7168146cc1cd0c
step compile 277812ead51c6521df895368bb4c58ea
step package 64b08c60a74443b8093b1ecee2cbd1c5
step collect 4f9143b576fd3955e988036b0b85e34a
