# Build 2.10.1-cuda-windows on Windows: TensorFlow 2.10.1 from source. Written by tfenv; do not edit.
#   build.cmd [-Work DIR] [-DryRun] [-GitMirror URL] [-Proxy URL]
# Windows PowerShell 5.1 or newer. Nothing asks a question.
[CmdletBinding()]
param(
    [string] $Work = 'C:\tfenv',
    [string] $Proxy = $env:HTTPS_PROXY,
    [string] $GitMirror = '',
    [string] $Cuda = 'C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.2',
    [string] $Cudnn = '',
    [switch] $DryRun
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
# The progress bar of Windows PowerShell slows a download down tenfold.
$ProgressPreference = 'SilentlyContinue'
$here = $PSScriptRoot

function Stop-Build([string] $What, [string] $Why, [string] $Fix, [int] $Code) {
    [Console]::Error.WriteLine("error: $What")
    [Console]::Error.WriteLine("  why: $Why")
    [Console]::Error.WriteLine("  fix: $Fix")
    exit $Code
}

function Invoke-Step([string] $Program, [string[]] $Arguments, [int] $Code) {
    Write-Output "+ $Program $Arguments"
    if ($DryRun) { return }
    & $Program @Arguments
    if ($LASTEXITCODE -ne 0) {
        Stop-Build "$Program failed" "it ended with $LASTEXITCODE" 'see the lines above, or: tfenv explain' $Code
    }
}

function Assert-Program([string] $Name, [string] $Fix) {
    if (-not (Get-Command $Name -ErrorAction SilentlyContinue)) {
        Stop-Build "$Name is missing" 'the build runs it' $Fix 6
    }
}

# --- this machine ---------------------------------------------------------------------------

if (-not [Environment]::Is64BitOperatingSystem) {
    Stop-Build 'this is a 32-bit Windows' 'TensorFlow is built for 64 bits' 'use a 64-bit Windows' 6
}
# Sources nest deeply: beyond 260 characters compilers and git stop, so the work folder stays short.
if ($Work.Length -gt 20) {
    Stop-Build "the work folder $Work is too long" 'paths below it would pass 260 characters' '-Work C:\tfenv' 2
}
$longPaths = Get-ItemProperty -Path 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem' -Name LongPathsEnabled -ErrorAction SilentlyContinue
if (-not $longPaths -or $longPaths.LongPathsEnabled -ne 1) {
    Write-Warning 'LongPathsEnabled is off: an administrator can set it under HKLM\SYSTEM\CurrentControlSet\Control\FileSystem'
}
Assert-Program 'git' 'install Git for Windows'
$python = $env:PYTHON_BIN_PATH
if (-not $python -and (Get-Command 'py' -ErrorAction SilentlyContinue)) {
    $python = & py '-3.10' -c 'import sys; print(sys.executable)'
}
if (-not $python) {
    Stop-Build 'Python 3.10 is missing' 'neither PYTHON_BIN_PATH nor the py launcher has it' 'install it from python.org, 64 bits' 6
}
$vswhere = Join-Path ${env:ProgramFiles(x86)} 'Microsoft Visual Studio\Installer\vswhere.exe'
if (-not (Test-Path -LiteralPath $vswhere)) {
    Stop-Build 'Visual Studio 2019 is missing' 'there is no vswhere.exe' 'install Visual Studio 2019 or its Build Tools with Visual C++' 6
}
$vs = & $vswhere -latest -products '*' -version '[16,17)' -requires Microsoft.VisualStudio.Component.VC.Tools.x86.x64 -property installationPath
if (-not $vs) {
    Stop-Build 'Visual Studio 2019 is missing' 'vswhere finds none with Visual C++' 'install Visual Studio 2019 or its Build Tools with Visual C++' 6
}
$vcvars = Join-Path $vs 'VC\Auxiliary\Build\vcvarsall.bat'
if (-not (Test-Path -LiteralPath $vcvars)) {
    Stop-Build 'Visual C++ is missing' "there is no $vcvars" 'add Visual C++ and a Windows SDK to Visual Studio' 6
}
if (-not (Test-Path -LiteralPath (Join-Path $Cuda 'bin\nvcc.exe'))) {
    Stop-Build 'CUDA 11.2 is missing' "there is no nvcc.exe below $Cuda" 'install CUDA 11.2.2, or name its folder with -Cuda' 6
}
if (-not $Cudnn) { $Cudnn = $Cuda }
$header = @('include\cudnn_version.h', 'include\cudnn.h') | ForEach-Object { Join-Path $Cudnn $_ } | Where-Object { Test-Path -LiteralPath $_ } | Select-Object -First 1
if (-not $header -or -not (Select-String -LiteralPath $header -Pattern '#define CUDNN_MAJOR 8' -Quiet)) {
    Stop-Build 'cuDNN 8 is missing' "no header below $Cudnn names it" 'unpack NVIDIA''s archive for CUDA 11.2 and name its folder with -Cudnn' 6
}
# Bazel's own rules run bash; the one in System32 belongs to the Linux subsystem and is no use to it.
$bash = Get-Command 'bash' -All -ErrorAction SilentlyContinue |
    Where-Object { $_.Source -and -not $_.Source.StartsWith($env:SystemRoot, 'OrdinalIgnoreCase') } | Select-Object -First 1
if (-not $bash) {
    Stop-Build 'bash is missing' 'Bazel runs it' 'install MSYS2, with patch, unzip and zip, and put its usr\bin on PATH' 6
}

# --- settings of this build alone -----------------------------------------------------------

# Sources are UTF-8 without a mark; a Chinese, Japanese or Korean console would read them as its
# own code page and stop at C4819 or at a swallowed line end.
$env:CL = '/utf-8'
$env:PYTHONUTF8 = '1'
$env:PYTHONIOENCODING = 'utf-8'
if ($Proxy) {
    $env:HTTP_PROXY = $Proxy
    $env:HTTPS_PROXY = $Proxy
}
if (-not $DryRun) { New-Item -ItemType Directory -Force -Path $Work, "$Work\downloads", "$Work\out", "$Work\home" | Out-Null }
# git's settings for this build alone, in a home of its own.
$env:HOME = "$Work\home"
Invoke-Step 'git' @('config', '--global', 'core.longpaths', 'true') 6
Invoke-Step 'git' @('config', '--global', 'core.autocrlf', 'false') 6
if ($GitMirror) { Invoke-Step 'git' @('config', '--global', "url.$GitMirror.insteadOf", 'https://github.com/') 6 }

# --- downloads ------------------------------------------------------------------------------

function Get-Locked([string] $Sha256, [string] $File, [string[]] $Urls) {
    if ((Test-Path -LiteralPath $File) -and (Get-FileHash -LiteralPath $File -Algorithm SHA256).Hash -eq $Sha256) { return }
    if ($DryRun) {
        Write-Output "+ fetch $Sha256 $File $Urls"
        return
    }
    [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
    foreach ($url in $Urls) {
        $options = @{ Uri = $url; OutFile = "$File.part"; UseBasicParsing = $true }
        if ($Proxy) { $options.Proxy = $Proxy }
        try { Invoke-WebRequest @options } catch {
            Write-Warning "$url did not answer; trying the next place"
            continue
        }
        $found = (Get-FileHash -LiteralPath "$File.part" -Algorithm SHA256).Hash
        if ($found -eq $Sha256) {
            Move-Item -Force -LiteralPath "$File.part" -Destination $File
            return
        }
        Remove-Item -LiteralPath "$File.part"
        Write-Warning "$url is not the file that was locked: its sha256 is $found"
    }
    Stop-Build "$(Split-Path -Leaf $File) could not be had" "no place has a file with sha256 $Sha256" 'see the lines above; name a proxy with -Proxy' 4
}

Get-Locked '622a92e22e6f3f4300ea43b3025a0b6122f1cc0e2d9233235e4c628c331a94a3' "$Work\downloads\tensorflow.tar.gz" @('https://github.com/tensorflow/tensorflow/archive/v2.10.1.tar.gz')
Get-Locked '092a8738d5b41aae7a85c42cc961b1034e3389aba43ffc20c0fabda7b43e095b' "$Work\downloads\bazelisk-windows-amd64.exe" @('https://github.com/bazelbuild/bazelisk/releases/download/v1.29.0/bazelisk-windows-amd64.exe')

# --- source ---------------------------------------------------------------------------------

$tree = "$Work\tensorflow"
if (-not $DryRun) {
    if (Test-Path -LiteralPath $tree) { Remove-Item -Recurse -Force -LiteralPath $tree }
    New-Item -ItemType Directory -Path $tree | Out-Null
}
# Windows PowerShell drops double quotes inside an argument: Python's code has single ones only.
Invoke-Step $python @('-c', 'import sys, tarfile; t = tarfile.open(sys.argv[1]); [setattr(m, ''name'', m.name.split(''/'', 1)[1]) for m in t if ''/'' in m.name]; t.extractall(sys.argv[2], [m for m in t.getmembers() if not m.name.startswith((''/'', ''..'')) and m.name and ''/../'' not in m.name])', "$Work\downloads\tensorflow.tar.gz", $tree) 5

# --- Python packages by hash ----------------------------------------------------------------

$envFolder = "$Work\env"
$envPython = "$envFolder\Scripts\python.exe"
if (-not (Test-Path -LiteralPath "$envFolder\complete")) {
    Invoke-Step $python @('-m', 'venv', $envFolder) 7
    Invoke-Step $envPython @('-m', 'pip', 'install', '--require-hashes', '-r', "$here\requirements.pip.txt") 7
    Invoke-Step $envPython @('-m', 'pip', 'install', '--require-hashes', '-r', "$here\requirements.build.txt") 7
    if (-not $DryRun) { New-Item -ItemType File -Path "$envFolder\complete" | Out-Null }
}

# --- the compiler's environment, as vcvarsall.bat would set it ------------------------------

if (-not $DryRun) {
    cmd.exe /d /c "`"$vcvars`" amd64 > nul && set" | ForEach-Object {
        $name, $value = $_ -split '=', 2
        if ($name -and $value) { Set-Item -LiteralPath "env:$name" -Value $value }
    }
}
$env:PATH = "$Cuda\bin;$Cudnn\bin;$env:PATH"

# --- build ----------------------------------------------------------------------------------

if (-not $DryRun) { Copy-Item -Force -LiteralPath "$Work\downloads\bazelisk-windows-amd64.exe" -Destination "$Work\bazel.exe" }
$env:USE_BAZEL_VERSION = '5.1.1'
$env:BAZELISK_VERIFY_SHA256 = '03061f1e9aac1966155ca402dcd1075c6493dfe85df72aa2cf3e12fcaa258d90'
$env:BAZEL_SH = $bash.Source
$env:BAZEL_VC = Split-Path -Parent (Split-Path -Parent (Split-Path -Parent $vcvars))
$env:PYTHON_BIN_PATH = $envPython
$env:USE_DEFAULT_PYTHON_LIB_PATH = '1'
$env:TF_NEED_CUDA = '1'
$env:TF_NEED_ROCM = '0'
$env:TF_NEED_TENSORRT = '0'
$env:TF_NEED_OPENCL = '0'
$env:TF_NEED_OPENCL_SYCL = '0'
$env:TF_NEED_COMPUTECPP = '0'
$env:TF_NEED_MPI = '0'
$env:TF_NEED_GDR = '0'
$env:TF_NEED_VERBS = '0'
$env:TF_NEED_GCP = '0'
$env:TF_NEED_HDFS = '0'
$env:TF_NEED_S3 = '0'
$env:TF_NEED_KAFKA = '0'
$env:TF_NEED_AWS = '0'
$env:TF_NEED_IGNITE = '0'
$env:TF_NEED_JEMALLOC = '1'
$env:TF_ENABLE_XLA = '1'
$env:TF_DOWNLOAD_CLANG = '0'
$env:TF_SET_ANDROID_WORKSPACE = '0'
$env:TF_CUDA_CLANG = '0'
$env:CC_OPT_FLAGS = '/arch:AVX'
$env:TF_CUDA_VERSION = '11.2'
$env:TF_CUDNN_VERSION = '8'
$env:TF_CUDA_COMPUTE_CAPABILITIES = 'sm_35,sm_50,sm_60,sm_70,sm_75,compute_80'
$env:TF_NCCL_VERSION = ''
$env:CUDA_TOOLKIT_PATH = $Cuda
$env:CUDNN_INSTALL_PATH = $Cudnn
if (-not $DryRun) { Set-Location -LiteralPath $tree }
# Questions take their defaults when nobody answers; every answer that matters is a variable above.
Invoke-Step 'cmd.exe' @('/d', '/c', "`"$envPython`" configure.py < nul") 5
Invoke-Step "$Work\bazel.exe" @("--output_user_root=$Work\b", 'build', '--config=opt', '--config=cuda', '//tensorflow/tools/pip_package:build_pip_package') 5
$made = "$Work\out\wheel"
Invoke-Step "$tree\bazel-bin\tensorflow\tools\pip_package\build_pip_package.exe" @($made) 5

# --- collect, and see that the wheel finds its DLLs --------------------------------------------

if ($DryRun) { exit 0 }
Copy-Item -Force -Path "$made\*.whl" -Destination "$Work\out"
$wheel = Get-ChildItem -Path "$Work\out\*.whl" | Sort-Object LastWriteTime | Select-Object -Last 1
if (-not $wheel) { Stop-Build 'no wheel was made' "there is none in $made" 'see the lines above' 5 }
Invoke-Step $envPython @('-m', 'pip', 'install', '--no-deps', '--no-index', '--force-reinstall', $wheel.FullName) 5
Set-Location -LiteralPath "$Work\out"
$internal = Get-ChildItem -Recurse -Path "$envFolder\Lib\site-packages\tensorflow" -Filter '_pywrap_tensorflow_internal.pyd' | Select-Object -First 1
if (-not $internal) { Stop-Build 'the wheel is not whole' '_pywrap_tensorflow_internal.pyd is not in it' 'build again; see the lines above' 5 }
$missing = @(& dumpbin.exe /nologo /dependents $internal.FullName | ForEach-Object { $_.Trim() } |
    Where-Object { $_ -match '^[\w.-]+\.dll$' -and $_ -notmatch '^(api-ms|ext-ms)-' } |
    Where-Object { -not (Get-Command $_ -ErrorAction SilentlyContinue) -and -not (Test-Path -LiteralPath (Join-Path $env:SystemRoot "System32\$_")) -and -not (Test-Path -LiteralPath (Join-Path (Split-Path -Parent $python) $_)) })
if ($missing.Count -gt 0) {
    Stop-Build "DLLs are missing: $missing" '_pywrap_tensorflow_internal.pyd needs them and PATH has none' 'put the folders of CUDA, cuDNN and the Visual C++ runtime on PATH' 5
}
Invoke-Step $envPython @('-c', 'import tensorflow as tf; print(tf.__version__)') 5
Write-Output "tfenv: done, see $($wheel.FullName)"
