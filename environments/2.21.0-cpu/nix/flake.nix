# 2.21.0-cpu as a flake. Written by tfenv; do not edit. The values are in target.json.
#   nix develop path:.                 toolchain in a shell
#   nix run path:.                     the same where wheels find their loader and libstdc++ (on NixOS,
#                                      too): tfenv-python, then .venv/bin/python program.py
#   nix run path:.#build -- SOURCE OUT
#   nix run path:.#verify -- SUITE     SUITE: tfenv's folder verify/
# `path:.` and not `.`: in a git repository Nix would not see files that are not added yet.
# Without a network: --no-write-lock-file --override-input nixpkgs path:/where/it/is, or write this
# flake with `tfenv generate --nixpkgs-path /where/it/is`.
{
  description = "TensorFlow toolchain 2.21.0-cpu";

  # One form for every nixpkgs since 18.03: a plain source tree, imported.
  inputs.nixpkgs = {
    url = "github:NixOS/nixpkgs/812b3986fd1568f7a858f97fcf425ad996ba7d25";
    flake = false;
  };

  outputs = { self, nixpkgs }:
    let
      target = builtins.fromJSON (builtins.readFile ./target.json);
      inherit (target) system;
      pkgs = import nixpkgs {
        inherit system;
        config.allowUnfree = true; # CUDA
        overlays = [ ];
      };

      # Another tree may stand in its place; the error then says which.
      version = nixpkgs + "/.version";
      found' = if builtins.pathExists version then "; the tree given for it is ${builtins.readFile version}" else "";

      # The first attribute path that exists, or an error that names what was tried.
      pick = what:
        let
          tried = target.attributes.${what};
          at = path: builtins.foldl' (set: name: if set == null then null else set.${name} or null) pkgs (builtins.filter builtins.isString (builtins.split "\\." path));
          found = builtins.filter (value: value != null) (map at tried);
        in
        if found == [ ]
        then throw "tfenv ${target.name}: nixpkgs ${target.nixpkgs} has no ${what} (tried ${toString tried})${found'}"
        else builtins.head found;

      python = pick "python";
      compiler = pick "compiler";
      linker = if target.attributes ? linker then [ (pick "linker") ] else [ ];
      # CUDA of nixpkgs; from 2.18 on Bazel fetches what it compiles with, and none is needed here.
      cuda = if target.cuda then [ (pick "cuda") (pick "cudnn") ] else [ ];

      clang = target.compiler == "clang";
      cc = "${compiler}/bin/${if clang then "clang" else "gcc"}";
      cxx = "${compiler}/bin/${if clang then "clang++" else "g++"}";

      # The unmodified release binary. It carries a zip behind its ELF part, so nothing may strip
      # or patch it; it runs inside the FHS environment below.
      bazelFile = pkgs.fetchurl {
        inherit (target.bazel) urls sha256;
        name = "bazel-${target.bazel.version}";
      };
      bazel = pkgs.runCommand "bazel-${target.bazel.version}-release" { } ''
        mkdir -p $out/bin
        cp ${bazelFile} $out/bin/bazel
        chmod +x $out/bin/bazel
      '';

      # The driver's own libraries, linked one by one: a system's whole library folder on
      # LD_LIBRARY_PATH would replace libstdc++ and glibc for every program in the shell.
      driver = pkgs.writeShellScriptBin "tfenv-driver" ''
        into=''${1:-$PWD/.tfenv-driver}
        how=''${2:-link} # copy: for the FHS environment, which does not show the host's /usr
        mkdir -p "$into"
        for name in libcuda.so.1 libnvidia-ml.so.1 libnvidia-ptxjitcompiler.so.1; do
          for folder in /run/opengl-driver/lib /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/lib/wsl/lib; do
            if [ -e "$folder/$name" ]; then
              rm -f "$into/$name"
              if [ "$how" = copy ]; then cp -L "$folder/$name" "$into/$name"; else ln -s "$folder/$name" "$into/$name"; fi
              break
            fi
          done
        done
        if [ ! -e "$into/libcuda.so.1" ]; then
          echo "tfenv: no libcuda.so.1 on this machine: the NVIDIA driver is not installed" >&2
          exit 1
        fi
        echo "$into"
      '';

      # Python packages by hash, into a folder: ./.venv of the one that the shell was started in.
      packages = pkgs.writeShellScriptBin "tfenv-python" ''
        set -eu
        into=''${1:-.venv}
        list=${./.}/''${2:-requirements.txt}
        ${if target.pipIndex == "" then "" else "export PIP_INDEX_URL=${target.pipIndex}"}
        ${python}/bin/python3 -m venv "$into"
        ${if target.tools then "\"$into\"/bin/python -m pip install --require-hashes -r ${./. + "/requirements.tools.txt"}" else ""}
        "$into"/bin/python -m pip install --require-hashes ${if target.tools then "--no-build-isolation" else ""} -r "$list"
      '';

      # build.sh with the Python packages that TensorFlow is built with, in the folder that it works in.
      build = pkgs.writeShellScriptBin "tfenv-build-python" ''
        set -eu
        home=''${TFENV_WORK:-$PWD}/tfenv-python
        list=${./.}/requirements.build.txt
        if ! cmp -s "$list" "$home/complete"; then
          rm -rf "$home"
          ${packages}/bin/tfenv-python "$home" requirements.build.txt
          cp "$list" "$home/complete"
        fi
        export PYTHON_BIN_PATH="$home/bin/python"
        exec bash ${./build.sh} "$@"
      '';

      variables = target.variables // {
        TFENV_TARGET = target.name;
        PYTHON_BIN_PATH = "${python}/bin/python3";
        # nixpkgs wraps nvcc with a compiler of its own choice; TensorFlow's build names ours.
        GCC_HOST_COMPILER_PATH = cc;
      } // (if clang then {
        CLANG_COMPILER_PATH = cc;
        CLANG_CUDA_COMPILER_PATH = cc;
      } else { }) // (if target.cuda then {
        CUDA_TOOLKIT_PATH = "${builtins.elemAt cuda 0}";
        CUDNN_INSTALL_PATH = "${builtins.elemAt cuda 1}";
      } else { });

      tools = [ python compiler bazel driver packages ] ++ linker ++ cuda;

      # Last in a shell's start: nixpkgs' own hooks name the compiler that it was built with.
      useCompiler = "export CC='${cc}' CXX='${cxx}' PATH=\"${compiler}/bin:$PATH\"";

      findDriver = "if [ -n \"\${TFENV_DRIVER:-}\" ]; then export LD_LIBRARY_PATH=\"$TFENV_DRIVER\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"; fi";

      buildFHS = pkgs.buildFHSEnv or pkgs.buildFHSUserEnv;
      fhs = buildFHS {
        name = "tfenv-${target.name}";
        targetPkgs = _: tools;
        runScript = "bash";
        profile = builtins.concatStringsSep "\n" ([ useCompiler findDriver ] ++ map (name: "export ${name}='${variables.${name}}'") (builtins.attrNames variables));
      };

      # Without a driver TensorFlow runs on the processor, and the report says so.
      useDriver = ''
        state=''${XDG_CACHE_HOME:-$HOME/.cache}/tfenv-driver
        if found=$(${driver}/bin/tfenv-driver "$state" copy); then export TFENV_DRIVER=$found; fi
      '';

      inFHS = name: script: {
        type = "app";
        program = "${pkgs.writeShellScriptBin "tfenv-${name}" ''
          export TFENV_FILES=${./.}
          ${if target.pipIndex == "" then "" else "export PIP_INDEX_URL=${target.pipIndex}"}
          ${if target.variables.TF_NEED_CUDA == "1" then useDriver else ""}
          exec ${fhs}/bin/tfenv-${target.name} ${script} "$@"
        ''}/bin/tfenv-${name}";
      };
    in
    {
      packages.${system} = { inherit bazel fhs; default = fhs; };

      devShells.${system}.default = pkgs.mkShell (variables // {
        name = "tfenv-${target.name}";
        buildInputs = tools;
        shellHook = useCompiler;
      });

      # All run in the FHS environment: release binaries and wheels expect its loader and paths.
      apps.${system} = {
        default = inFHS "shell" "";
        build = inFHS "build" "${build}/bin/tfenv-build-python";
      } // (if target.suite then { verify = inFHS "verify" ./verify.sh; } else { });

      checks.${system}.bazel = pkgs.runCommand "tfenv-bazel-is-there" { } ''
        test -x ${bazel}/bin/bazel
        echo "${target.name} bazel ${target.bazel.version}" > $out
      '';
    };
}
