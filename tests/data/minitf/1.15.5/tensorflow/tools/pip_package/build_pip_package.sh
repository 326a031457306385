#!/usr/bin/env bash
# build_pip_package [--cpu|--gpu] [--project_name NAME] DESTINATION
set -euo pipefail
destination=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --cpu | --gpu | --nightly_flag) shift ;;
    --project_name) shift 2 ;;
    -*) echo "unknown option $1" >&2; exit 1 ;;
    *) destination="$1"; shift ;;
  esac
done
[[ -n "$destination" ]] || { echo "No destination dir provided" >&2; exit 1; }
# shellcheck disable=SC1091
source tools/python_bin_path.sh
runfiles="${RUNFILES_DIR:-$0.runfiles}"
mkdir -p "$destination"
"$PYTHON_BIN_PATH" "$runfiles/org_tensorflow/third_party/minitf/repack.py" \
  "$runfiles"/tensorflow_release_wheel/file/*.whl \
  "$runfiles/org_tensorflow/tensorflow/core/user_ops/_minitf_ops.so" \
  "tensorflow_core/core/user_ops/_minitf_ops.so" "$destination"
