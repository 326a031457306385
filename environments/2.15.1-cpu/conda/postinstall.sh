#!/usr/bin/env bash
# Run once in the new environment: pip's part by hash, library path, Jupyter kernel.
set -euo pipefail
cd "$(dirname "$0")"
: "${CONDA_PREFIX:?activate the environment first}"
if python -c 'import ipykernel' 2> /dev/null; then
  python -m ipykernel install --user --name tf-2.15.1-cpu --display-name 'TensorFlow 2.15.1-cpu'
else
  echo "no Jupyter kernel registered: for one, conda install -n tf-2.15.1-cpu-run --freeze-installed ipykernel, and run this again"
fi
