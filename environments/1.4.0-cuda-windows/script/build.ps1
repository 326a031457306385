# Build 1.4.0-cuda-windows on Windows: TensorFlow 1.4.0 from source. Written by tfenv; do not edit.
#   build.cmd [-Work DIR] [-DryRun] [-GitMirror URL] [-Proxy URL]
# Windows PowerShell 5.1 or newer. Nothing asks a question.
[CmdletBinding()]
param(
    [string] $Work = 'C:\tfenv',
    [string] $Proxy = $env:HTTPS_PROXY,
    [string] $GitMirror = '',
    [string] $Swig = 'swig.exe',
    [string] $Cuda = 'C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v9.0',
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
    $python = & py '-3.6' -c 'import sys; print(sys.executable)'
}
if (-not $python) {
    Stop-Build 'Python 3.6 is missing' 'neither PYTHON_BIN_PATH nor the py launcher has it' 'install it from python.org, 64 bits' 6
}
$vswhere = Join-Path ${env:ProgramFiles(x86)} 'Microsoft Visual Studio\Installer\vswhere.exe'
$vs = ${env:VS140COMNTOOLS}
if (-not $vs) {
    Stop-Build 'Visual Studio 2015 is missing' 'VS140COMNTOOLS is not set' 'install Visual Studio 2015 update 3 with Visual C++' 6
}
$vcvars = Join-Path $vs '..\..\VC\vcvarsall.bat'
if (-not (Test-Path -LiteralPath $vcvars)) {
    Stop-Build 'Visual C++ is missing' "there is no $vcvars" 'add Visual C++ and a Windows SDK to Visual Studio' 6
}
if (-not (Test-Path -LiteralPath (Join-Path $Cuda 'bin\nvcc.exe'))) {
    Stop-Build 'CUDA 9.0 is missing' "there is no nvcc.exe below $Cuda" 'install CUDA 9.0.176, or name its folder with -Cuda' 6
}
if (-not $Cudnn) { $Cudnn = $Cuda }
$header = @('include\cudnn_version.h', 'include\cudnn.h') | ForEach-Object { Join-Path $Cudnn $_ } | Where-Object { Test-Path -LiteralPath $_ } | Select-Object -First 1
if (-not $header -or -not (Select-String -LiteralPath $header -Pattern '#define CUDNN_MAJOR 7' -Quiet)) {
    Stop-Build 'cuDNN 7 is missing' "no header below $Cudnn names it" 'unpack NVIDIA''s archive for CUDA 9.0 and name its folder with -Cudnn' 6
}
Assert-Program 'cmake' 'install CMake 3.6.3 or newer'
Assert-Program $Swig 'unpack swigwin and name swig.exe with -Swig'

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

Get-Locked '8a0ad8d61f8f6c0282c548661994a5ab83ac531bac496c3041dedc1ab021107b' "$Work\downloads\tensorflow.tar.gz" @('https://github.com/tensorflow/tensorflow/archive/v1.4.0.tar.gz')

# --- source ---------------------------------------------------------------------------------

$tree = "$Work\tensorflow"
if (-not $DryRun) {
    if (Test-Path -LiteralPath $tree) { Remove-Item -Recurse -Force -LiteralPath $tree }
    New-Item -ItemType Directory -Path $tree | Out-Null
}
# Windows PowerShell drops double quotes inside an argument: Python's code has single ones only.
Invoke-Step $python @('-c', 'import sys, tarfile; t = tarfile.open(sys.argv[1]); [setattr(m, ''name'', m.name.split(''/'', 1)[1]) for m in t if ''/'' in m.name]; t.extractall(sys.argv[2], [m for m in t.getmembers() if not m.name.startswith((''/'', ''..'')) and m.name and ''/../'' not in m.name])', "$Work\downloads\tensorflow.tar.gz", $tree) 5

# Our own edits, each where its text is found exactly as often as it was when it was written down.
Invoke-Step $python @("$here\edit.py", "$here\edits.json", $tree) 5

# --- Python packages by hash ----------------------------------------------------------------

$envFolder = "$Work\env"
$envPython = "$envFolder\Scripts\python.exe"
if (-not (Test-Path -LiteralPath "$envFolder\complete")) {
    Invoke-Step $python @('-m', 'venv', $envFolder) 7
    Invoke-Step $envPython @('-m', 'pip', 'install', '--require-hashes', '-r', "$here\requirements.pip.txt") 7
    Invoke-Step $envPython @('-m', 'pip', 'install', '--require-hashes', '-r', "$here\requirements.tools.txt") 7
    Invoke-Step $envPython @('-m', 'pip', 'install', '--require-hashes', '--no-build-isolation', '-r', "$here\requirements.build.txt") 7
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

# --- CMake's own downloads: archives beforehand, so that it finds them whole ---------------------

$build = "$tree\tensorflow\contrib\cmake\build"
$downloads = "$build\downloads"
if (-not $DryRun) { New-Item -ItemType Directory -Force -Path $downloads | Out-Null }
Get-Locked 'e05c9056d7f323088fd7824d8c6acc03a4a758c4b4916715924edc5dd3223a72' "$downloads\libpng-1.2.53.tar.gz" @('https://storage.googleapis.com/libpng-public-archive/libpng-1.2.53.tar.gz')
Get-Locked '3a753ea48d917945dd54a2d97de388aa06ca2eb1066cbfdc6652036349fe05a7' "$downloads\jpegsrc.v9a.tar.gz" @('http://mirror.bazel.build/www.ijg.org/files/jpegsrc.v9a.tar.gz', 'http://www.ijg.org/files/jpegsrc.v9a.tar.gz')
Get-Locked 'e3d37a59101f38fd58fb799ed404d630f0eee18bfc2a2433910977cc8fea9c28' "$downloads\34c13ddfab0e35422f4c3979f360635a8c050260.zip" @('https://github.com/google/farmhash/archive/34c13ddfab0e35422f4c3979f360635a8c050260.zip', 'https://mirror.bazel.build/github.com/google/farmhash/archive/34c13ddfab0e35422f4c3979f360635a8c050260.zip')
Get-Locked '208780b3616f9de0aeb50822b7a8f5482f6515193859e91ed61637be6ad74fd4' "$downloads\sqlite-amalgamation-3200000.zip" @('http://www.sqlite.org/2017/sqlite-amalgamation-3200000.zip', 'https://mirror.bazel.build/www.sqlite.org/2017/sqlite-amalgamation-3200000.zip')
Get-Locked '34a7377ba834397db019e8eb122e551a49c98f49df75ec3fcc92b9a794a4f6d1' "$downloads\giflib-5.1.4.tar.gz" @('http://mirror.bazel.build/ufpr.dl.sourceforge.net/project/giflib/giflib-5.1.4.tar.gz', 'http://pilotfiber.dl.sourceforge.net/project/giflib/giflib-5.1.4.tar.gz')
Get-Locked '108532fb94c6f227558d45be3f3347b52539f0f58290a7bb31ec06c462d05326' "$downloads\LMDB_0.9.19.tar.gz" @('http://mirror.bazel.build/github.com/LMDB/lmdb/archive/LMDB_0.9.19.tar.gz', 'https://github.com/LMDB/lmdb/archive/LMDB_0.9.19.tar.gz')
Get-Locked '52bb637c70b971958ec79c9c8752b1df5ff0218a4db4510e60826e0cb79b5296' "$downloads\fft.tgz" @('http://www.kurims.kyoto-u.ac.jp/~ooura/fft.tgz', 'http://mirror.bazel.build/www.kurims.kyoto-u.ac.jp/~ooura/fft.tgz')
Get-Locked '861cc6d9d902861f54fd77e1ab79286477dcc559b2a283e75b9c22d37b61f6ae' "$downloads\010bb3e71a26ca1d0884a167081d092b43563996.tar.gz" @('http://github.com/google/gemmlowp/archive/010bb3e71a26ca1d0884a167081d092b43563996.tar.gz', 'https://mirror.bazel.build/github.com/google/gemmlowp/archive/010bb3e71a26ca1d0884a167081d092b43563996.tar.gz')
Get-Locked 'b7ead9e291d34ffa8074243541c1380d63be63f88de23de8ee548db573b72ebe' "$downloads\1.7.3.zip" @('http://mirror.bazel.build/github.com/NVlabs/cub/archive/1.7.3.zip', 'https://github.com/NVlabs/cub/archive/1.7.3.zip')
Get-Locked '61d8b6fc4279dd1dda986fb1677d15e3d641c07a3ea5abe255790b1f0c0c14e9' "$downloads\429aa5254200.tar.gz" @('https://bitbucket.org/eigen/eigen/get/429aa5254200.tar.gz', 'http://mirror.bazel.build/bitbucket.org/eigen/eigen/get/429aa5254200.tar.gz')
# git checks these by their revision; another host for them: -GitMirror
#   zlib 50893291621658f355bc5b4d450a8d06a563053d https://github.com/madler/zlib
#   protobuf 1d2c7b6c7376f396c8c7dd9b6afd2d4f83f3cb05 https://github.com/mrry/protobuf.git
#   re2 e7efc48 https://github.com/google/re2
#   snappy 55924d11095df25ab25c405fadfe93d0a46f82eb https://github.com/google/snappy.git
#   highwayhash be5edafc2e1a455768e260ccd68ae7317b6690ee https://github.com/google/highwayhash.git
#   jsoncpp 4356d9b https://github.com/open-source-parsers/jsoncpp.git
#   nsync 394e71f0ebeed6788ae6c84d42c1bedf6e1ee9f7 https://github.com/google/nsync
#   grpc 781fd6f6ea03645a520cd5c675da67ab61f87e4b https://github.com/grpc/grpc.git

# --- build ----------------------------------------------------------------------------------

$options = @(
    "-H$tree\tensorflow\contrib\cmake", "-B$build",
    '-A', 'x64', '-T', 'host=x64', '-DCMAKE_BUILD_TYPE=Release',
    "-DSWIG_EXECUTABLE=$((Get-Command $Swig).Source)",
    "-DPYTHON_EXECUTABLE=$envPython",
    "-DPYTHON_LIBRARIES=$(Split-Path -Parent $python)\libs\python36.lib",
    '-Dtensorflow_ENABLE_GPU=ON', "-DCUDNN_HOME=$Cudnn", "-DCUDA_TOOLKIT_ROOT_DIR=$Cuda"
)
Invoke-Step 'cmake' $options 5
Invoke-Step 'cmake' @('--build', $build, '--config', 'Release', '--target', 'tf_python_build_pip_package', '--', "/m:$env:NUMBER_OF_PROCESSORS", '/verbosity:minimal') 5
$made = "$build\tf_python\dist"

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
