@echo off
rem 2.10.1-cuda-windows: starts build.ps1 beside this file with all arguments. Written by tfenv; do not edit.
rem The code page of the console is put to UTF-8, so that messages and sources read alike.
setlocal
chcp 65001 > nul
powershell.exe -NoProfile -ExecutionPolicy Bypass -File "%~dp0build.ps1" %*
exit /b %ERRORLEVEL%
