# A stand-in for nixpkgs with which a flake is evaluated, built and entered without a network.
# attributes.json beside this file, written by the test from the facts, says what this release
# has: { "cudaPackages_11_2.cudnn": { "program": "cudnn", "version": "8.1.1", "unfree": true } }.
{ system ? builtins.currentSystem, config ? { }, overlays ? [ ], ... }:
let
  listed = builtins.fromJSON (builtins.readFile ./attributes.json);

  # One builder for everything: the host's /bin/sh, no sandbox.
  make = name: variables: script: (derivation ({
    inherit name system;
    builder = "/bin/sh";
    args = [ "-euc" script ];
    PATH = "/usr/bin:/bin";
  } // variables)) // { meta = { }; };

  # A package is one program that says its name and version, or all programs of a folder of this
  # machine, where a test has to compile.
  program = { program, version, unfree ? false, folder ? null }:
    if unfree && !(config.allowUnfree or false)
    then throw "Package ${program}-${version} has an unfree license; refusing to evaluate."
    else (make "${program}-${version}" { } ''
      mkdir -p $out/bin $out/lib $out/include
      ${if folder == null then ''
        printf '#!/bin/sh\necho ${program} ${version}\n' > $out/bin/${program}
        chmod +x $out/bin/${program}
      '' else "ln -s ${folder}/* $out/bin/"}
    '') // { pname = program; inherit version; lib = program; out = program; };

  words = text: builtins.filter builtins.isString (builtins.split "\\." text);
  # { "a.b" = x; } as { a.b = x; }
  nested = builtins.foldl'
    (found: name:
      let
        path = words name;
        first = builtins.head path;
        value = program listed.${name};
      in
      found // (if builtins.length path == 1
      then { ${first} = value; }
      else { ${first} = (found.${first} or { }) // { ${builtins.elemAt path 1} = value; }; }))
    { }
    (builtins.attrNames listed);

  plain = name: program { program = name; version = "1"; };

  # What `nix develop` sources; it puts the shell's inputs on PATH.
  setup = make "setup" { } ''
    mkdir -p $out
    cat > $out/setup <<'SETUP'
    export PATH=/usr/bin:/bin
    for input in $nativeBuildInputs $buildInputs; do PATH=$input/bin:$PATH; done
    SETUP
  '';

  text = name: content: script: make name { inherit content; passAsFile = [ "content" ]; } script;

  self = {
    inherit system config lib;
    stdenv = setup // {
      isLinux = true;
      hostPlatform = { inherit system; };
      cc = plain "cc" // { cc = plain "gcc"; };
      mkDerivation = { name ? "package", buildCommand ? "mkdir -p $out", ... }@given:
        make name (removeAttrs given [ "name" "buildCommand" "meta" "passthru" ]) buildCommand;
    };
    bashInteractive = make "bash" { } "mkdir -p $out/bin; ln -s /bin/bash $out/bin/bash";
    runCommand = name: variables: script: make name variables script;
    runCommandLocal = self.runCommand;
    writeText = name: content: text name content "cp $contentPath $out";
    writeShellScript = name: content: text name content
      "{ echo '#!/bin/bash'; cat $contentPath; } > $out; chmod +x $out";
    writeShellScriptBin = name: content: text name content
      "mkdir -p $out/bin; { echo '#!/bin/bash'; cat $contentPath; } > $out/bin/${name}; chmod +x $out/bin/${name}";
    linkFarm = name: entries: make name { }
      ("mkdir -p $out\n" + builtins.concatStringsSep "\n"
        (map (e: "ln -s ${e.path} $out/${e.name}") entries));
    symlinkJoin = { name, paths, ... }: make name { }
      ("mkdir -p $out\n" + builtins.concatStringsSep "\n"
        (map (p: "cp -rs ${p}/. $out/; chmod -R u+w $out") paths));
    fetchurl = { url ? "", urls ? [ url ], sha256 ? "", hash ? "", name ? baseNameOf (builtins.head urls), executable ? false, ... }:
      if sha256 == "" && hash == "" then throw "fetchurl: ${name} has no hash" else
      derivation {
        inherit name system executable;
        builder = "builtin:fetchurl";
        url = builtins.head urls;
        unpack = false;
        preferLocalBuild = true;
        outputHashMode = if executable then "recursive" else "flat";
        outputHashAlgo = if hash == "" then "sha256" else null;
        outputHash = if hash == "" then sha256 else hash;
      };
    mkShell = { name ? "shell", packages ? [ ], buildInputs ? [ ], nativeBuildInputs ? [ ], ... }@given:
      make name
        ((removeAttrs given [ "name" "packages" ]) // {
          # nix develop asks the shell's own stdenv and runs its builder with bash
          stdenv = setup;
          buildInputs = buildInputs ++ packages;
          inherit nativeBuildInputs;
          builder = "/bin/bash";
          outputs = [ "out" ];
        }) "echo built > $out";
    mkShellNoCC = self.mkShell;
    ${if config.hasFHSEnv or (builtins.pathExists ./fhsenv) then "buildFHSEnv" else "buildFHSUserEnv"} =
      { name, targetPkgs, runScript ? "bash", profile ? "", ... }:
      let inside = targetPkgs self; in
      text name profile ''
        mkdir -p $out/bin
        { echo '#!/bin/bash'
          for p in ${toString inside}; do echo "PATH=$p/bin:\$PATH"; done
          cat $contentPath
          echo
          echo 'exec ${runScript} "$@"'
        } > $out/bin/${name}
        chmod +x $out/bin/${name}
      '';
  }
  // builtins.listToAttrs (map (name: { inherit name; value = plain name; }) [
    "bash" "binutils" "cacert" "coreutils" "curl" "file" "findutils" "gawk" "git" "glibc" "gnugrep"
    "gnumake" "gnused" "gnutar" "gzip" "jdk" "jdk8" "jdk11" "libxml2" "ncurses" "ncurses5" "openssl"
    "patch" "perl" "rsync" "swig" "unzip" "uv" "which" "xz" "zip" "zlib"
    "buildah" "python3" "python312" "shellcheck"
  ])
  // { linuxPackages = { nvidia_x11 = plain "nvidia"; }; }
  // nested;

  lib = rec {
    version = "stub";
    genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
    optional = yes: value: if yes then [ value ] else [ ];
    optionals = yes: values: if yes then values else [ ];
    optionalString = yes: string: if yes then string else "";
    optionalAttrs = yes: set: if yes then set else { };
    inherit (builtins) concatStringsSep attrNames hasAttr filter head;
    concatMapStringsSep = sep: f: list: builtins.concatStringsSep sep (map f list);
    mapAttrsToList = f: set: map (name: f name set.${name}) (builtins.attrNames set);
    splitString = sep: string: builtins.filter builtins.isString (builtins.split (lib.escape sep) string);
    escape = sep: if sep == "." then "\\." else sep;
    escapeShellArg = string: "'" + builtins.replaceStrings [ "'" ] [ "'\\''" ] string + "'";
    attrByPath = path: default: set:
      if path == [ ] then set
      else if builtins.isAttrs set && builtins.hasAttr (builtins.head path) set
      then attrByPath (builtins.tail path) default set.${builtins.head path}
      else default;
    hasAttrByPath = path: set: attrByPath path null set != null;
    getLib = p: p;
    getBin = p: p;
    makeLibraryPath = lib.concatMapStringsSep ":" (p: "${p}/lib");
    makeBinPath = lib.concatMapStringsSep ":" (p: "${p}/bin");
  };
in
builtins.foldl' (found: overlay: found // overlay found found) self overlays
