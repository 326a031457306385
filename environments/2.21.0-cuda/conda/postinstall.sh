#!/usr/bin/env bash
# Run once in the new environment: pip's part by hash, library path, Jupyter kernel.
set -euo pipefail
cd "$(dirname "$0")"
: "${CONDA_PREFIX:?activate the environment first}"
mkdir -p "$CONDA_PREFIX/etc/conda/activate.d"
cat > "$CONDA_PREFIX/etc/conda/activate.d/tfenv.sh" << 'ACTIVATE'
# TensorFlow opens CUDA's libraries by name: let it find the environment's own.
export LD_LIBRARY_PATH="$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
ACTIVATE
if python -c 'import ipykernel' 2> /dev/null; then
  python -m ipykernel install --user --name tf-2.21.0-cuda --display-name 'TensorFlow 2.21.0-cuda'
else
  echo "no Jupyter kernel registered: for one, conda install -n tf-2.21.0-cuda-run --freeze-installed ipykernel, and run this again"
fi
