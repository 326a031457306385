#!/usr/bin/env bash
# Run once in the new environment: pip's part by hash, library path, Jupyter kernel.
set -euo pipefail
cd "$(dirname "$0")"
: "${CONDA_PREFIX:?activate the environment first}"
python -m pip install --require-hashes -r requirements.tools.txt
python -m pip install --require-hashes --no-build-isolation -r requirements.txt
if python -c 'import ipykernel' 2> /dev/null; then
  python -m ipykernel install --user --name tf-1.15.5-cpu --display-name 'TensorFlow 1.15.5-cpu'
else
  echo "no Jupyter kernel registered: for one, conda install -n tf-1.15.5-cpu-run --freeze-installed ipykernel, and run this again"
fi
