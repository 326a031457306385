# Run once in the new environment: pip's part by hash, Jupyter kernel.
$ErrorActionPreference = 'Stop'
Set-Location -LiteralPath $PSScriptRoot
if (-not $env:CONDA_PREFIX) { throw 'activate the environment first' }
python -c 'import ipykernel' 2> $null
if ($LASTEXITCODE -eq 0) {
    python -m ipykernel install --user --name 'tf-2.15.1-cuda' --display-name 'TensorFlow 2.15.1-cuda'
} else {
    Write-Output 'no Jupyter kernel registered: install ipykernel in this environment to have one'
}
