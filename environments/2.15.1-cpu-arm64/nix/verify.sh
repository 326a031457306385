#!/usr/bin/env bash
# Install the released wheel of 2.15.1-cpu-arm64 by hash and run the verification suite on it.
# usage: verify.sh SUITE [OUT [options of run.py]]
#   SUITE  the folder with run.py, tfenv's verify/
#   OUT    folder for the environment and the results; default: ./verify-2.15.1-cpu-arm64
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
files=${TFENV_FILES:-$here}
suite=${1:-}
out=${2:-verify-2.15.1-cpu-arm64}
if [ ! -f "$suite/run.py" ]; then
  echo "error: the verification suite is not there" >&2
  echo "  why: there is no run.py in the folder '$suite'" >&2
  echo "  fix: give tfenv's folder verify/ as the first argument" >&2
  exit 6
fi
shift
if [ $# -gt 0 ]; then shift; fi
python=$out/env/bin/python
if [ ! -f "$out/complete" ]; then
  rm -rf "$out/env" "$out/site"
  "${PYTHON_BIN_PATH:-python3}" -m venv "$out/env"
  "$python" -m pip install --require-hashes -r "$files/requirements.txt"
  "$python" -m pip install --no-deps --require-hashes --target "$out/site" -r "$files/requirements.suite.txt"
  touch "$out/complete"
fi
exec "$python" -I "$suite/run.py" --expect "$files/expect.json" --site "$out/site" \
  --out "$out/results.jsonl" --logs "$out/logs" "$@"
