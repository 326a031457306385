# Run once in the new environment: pip's part by hash, Jupyter kernel.
$ErrorActionPreference = 'Stop'
Set-Location -LiteralPath $PSScriptRoot
if (-not $env:CONDA_PREFIX) { throw 'activate the environment first' }
python -c 'import ipykernel' 2> $null
if ($LASTEXITCODE -eq 0) {
    python -m ipykernel install --user --name 'tf-2.10.1-cuda-windows' --display-name 'TensorFlow 2.10.1-cuda-windows'
} else {
    Write-Output 'no Jupyter kernel registered: for one, conda install -n tf-2.10.1-cuda-windows-run --freeze-installed ipykernel, and run this again'
}
