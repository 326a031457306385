#!/usr/bin/env bash
# Build 2.6.5-cuda on this machine: TensorFlow 2.6.5 from source, every download by its sha256.
# Written by tfenv; do not edit. Runs in the bash 3.2 of macOS.
# usage: build-host.sh [--dry-run] [--work DIR] [--git-mirror URL]
#   --dry-run          say what would be done, after checking this machine
#   --work DIR         folder for everything; default ./tfenv-2.6.5-cuda
#   --git-mirror URL   take what is asked of https://github.com/ from there, for this build alone
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$PWD/tfenv-2.6.5-cuda
dry_run=
git_mirror=

stop() { # WHAT WHY FIX CODE
  printf 'error: %s\n  why: %s\n  fix: %s\n' "$1" "$2" "$3" >&2
  exit "$4"
}

while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry_run=1 ;;
    --work) work=${2:?--work DIR}; shift ;;
    --git-mirror) git_mirror=${2:?--git-mirror URL}; shift ;;
    *) stop "unknown option $1" "see the first lines of $0" "use --dry-run, --work or --git-mirror" 2 ;;
  esac
  shift
done

case $work in
  /*) ;;
  *) work=$PWD/$work ;; # programs are started in other folders
esac

run() {
  if [ -n "$dry_run" ]; then printf '+ %s\n' "$*"; else "$@"; fi
}

need() { # PROGRAM FIX
  command -v "$1" > /dev/null || stop "$1 is missing" "the build runs it" "$2" 6
}

# --- this machine ---------------------------------------------------------------------------

system=Linux
[ "$(uname -s)" = "$system" ] || stop "2.6.5-cuda is built on $system" "this is $(uname -s)" "choose a target of this system: tfenv list" 6
[ "$(uname -m)" = x86_64 ] || stop "2.6.5-cuda is built on x86_64" "this is $(uname -m)" "choose a target of this machine: tfenv list" 6
for program in curl git patch tar unzip zip; do
  need "$program" "install $program with the system's package manager"
done
need gcc "install gcc with the system's package manager"
sha256() { sha256sum "$1" | cut -d' ' -f1; }
python=${PYTHON_BIN_PATH:-$(command -v python3.7 || true)}
[ -n "$python" ] || stop "Python 3.7 is missing" "neither PYTHON_BIN_PATH nor PATH has it" "install it, or set PYTHON_BIN_PATH" 6
found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null || true)
[ "$found" = 3.7 ] || stop "$python is not Python 3.7" "it answers '${found:-nothing}'" "set PYTHON_BIN_PATH to a Python 3.7" 6

# --- downloads ------------------------------------------------------------------------------

fetch() { # SHA256 FILE URL...
  local sum=$1 file=$2 url
  shift 2
  if [ -f "$file" ] && [ "$(sha256 "$file")" = "$sum" ]; then return; fi
  if [ -n "$dry_run" ]; then printf '+ fetch %s %s %s\n' "$sum" "$file" "$*"; return; fi
  for url in "$@"; do
    if ! curl --fail --silent --show-error --location --retry 3 --output "$file.part" "$url"; then
      echo "tfenv: $url did not answer; trying the next place" >&2
    elif [ "$(sha256 "$file.part")" = "$sum" ]; then
      mv "$file.part" "$file"
      return
    else
      echo "tfenv: $url is not the file that was locked: its sha256 is $(sha256 "$file.part")" >&2
      rm -f "$file.part"
    fi
  done
  stop "$(basename "$file") could not be had" "no place has a file with sha256 $sum" "see the lines above; a proxy is read from https_proxy" 4
}

run mkdir -p "$work/downloads"
fetch 305da42845ac584a42494e521c92a88ce92ee47d93022d4c0bb45180b5c19a8c "$work/downloads/tensorflow.tar.gz" \
  https://github.com/tensorflow/tensorflow/archive/v2.6.5.tar.gz
fetch 5a408715e932c0250d28bd84555f12edbf70117de42f9181691c736eacc4a992 "$work/downloads/bazelisk-linux-amd64" \
  https://github.com/bazelbuild/bazelisk/releases/download/v1.29.0/bazelisk-linux-amd64

# --- Bazel, in a home of its own: nothing of the user's is read or changed -------------------

export HOME=$work/home
run mkdir -p "$HOME/bin"
run cp -f "$work/downloads/bazelisk-linux-amd64" "$HOME/bin/bazel"
run chmod 0755 "$HOME/bin/bazel"
export PATH=$HOME/bin:$PATH
export USE_BAZEL_VERSION=3.7.2
export BAZELISK_VERIFY_SHA256=70dc0bee198a4c3d332925a32d464d9036a831977501f66d4996854ad4e4fc0d
rc=$work/tfenv.bazelrc
if [ -z "$dry_run" ]; then
  : > "$rc"
fi
# The rc file of this build stands in for the user's and the system's.
export TFENV_BAZEL_STARTUP="--nosystem_rc --nohome_rc --bazelrc=$rc"
if [ -n "$git_mirror" ]; then
  # In this build's own home; GIT_CONFIG_GLOBAL would be clear too, but git knows it since 2.32 only.
  run git config --global "url.$git_mirror.insteadOf" https://github.com/
fi

# --- Python packages by hash ----------------------------------------------------------------

env=$work/env
if [ ! -f "$env/complete" ]; then
  run "$python" -m venv "$env"
  run "$env/bin/python" -m pip install --require-hashes -r "$here/requirements.pip.txt"
  run "$env/bin/python" -m pip install --require-hashes -r "$here/requirements.tools.txt"
  run "$env/bin/python" -m pip install --require-hashes --no-build-isolation -r "$here/requirements.build.txt"
  run touch "$env/complete"
fi

# --- build ----------------------------------------------------------------------------------

export PYTHON_BIN_PATH=$env/bin/python
export TFENV_WORK=$work/build
export TFENV_SOURCE_DIGEST=305da42845ac584a42494e521c92a88ce92ee47d93022d4c0bb45180b5c19a8c
run bash "$here/build.sh" "$work/downloads/tensorflow.tar.gz" "$work/out"
if [ -z "$dry_run" ]; then echo "tfenv: done, see $work/out"; fi
