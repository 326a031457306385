#!/bin/sh
# Run the verification suite on the TensorFlow of this image. The suite is not in the image:
#   docker run --rm -v SUITE:/suite:ro IMAGE tfenv-verify [options of run.py]
#   apptainer exec -B SUITE:/suite IMAGE.sif tfenv-verify [options of run.py]
# Prints one JSON object per result; ends with 0 if something passed and nothing failed.
set -eu
suite=${TFENV_SUITE:-/suite}
results=${TFENV_RESULTS:-$(mktemp -d)}
if [ ! -f "$suite/run.py" ]; then
  echo "error: the verification suite is not there" >&2
  echo "  why: there is no $suite/run.py" >&2
  echo "  fix: mount tfenv's folder verify/: docker run -v PATH/verify:/suite:ro, apptainer exec -B PATH/verify:/suite" >&2
  exit 6
fi
code=0
PYTHONDONTWRITEBYTECODE=1 /opt/venv/bin/python -I "$suite/run.py" --expect /opt/tfenv/expect.json \
  --site /opt/tfenv/site --out "$results/results.jsonl" --logs "$results/logs" "$@" || code=$?
cat "$results/results.jsonl"
exit $code
