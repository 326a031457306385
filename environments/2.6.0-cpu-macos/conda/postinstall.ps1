# Run once in the new environment: pip's part by hash, Jupyter kernel.
$ErrorActionPreference = 'Stop'
Set-Location -LiteralPath $PSScriptRoot
if (-not $env:CONDA_PREFIX) { throw 'activate the environment first' }
python -m pip install --require-hashes -r requirements.tools.txt
if ($LASTEXITCODE) { exit $LASTEXITCODE }
python -m pip install --require-hashes --no-build-isolation -r requirements.txt
if ($LASTEXITCODE) { exit $LASTEXITCODE }
python -c 'import ipykernel' 2> $null
if ($LASTEXITCODE -eq 0) {
    python -m ipykernel install --user --name 'tf-2.6.0-cpu-macos' --display-name 'TensorFlow 2.6.0-cpu-macos'
} else {
    Write-Output 'no Jupyter kernel registered: install ipykernel in this environment to have one'
}
