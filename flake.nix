# Shells for working on tfenv and for every committed target:
#   nix develop                     tfenv itself: Python and the engines that its tests run
#   nix develop .#tf-2_6_5-cuda     the toolchain of a target in environments/
# A target's flake says what it needs; this one gives it the same nixpkgs, locked once for all.
# Air-gapped: --override-input nixpkgs-21_11 path:/where/it/is
{
  description = "tfenv: TensorFlow toolchains that work, repeatably";

  # One per nixpkgs release that a target may need, as a plain source tree.
  inputs = {
    nixpkgs-20_09 = { url = "github:NixOS/nixpkgs/0b8799ecaaf0dc6b4c11583a3c96ca5b40fcfdfb"; flake = false; };
    nixpkgs-21_11 = { url = "github:NixOS/nixpkgs/eabc38219184cc3e04a974fe31857d8e0eac098d"; flake = false; };
    nixpkgs-22_11 = { url = "github:NixOS/nixpkgs/9b8e5abb18324c7fe9f07cb100c3cd4a29cda8b8"; flake = false; };
    nixpkgs-23_11 = { url = "github:NixOS/nixpkgs/a62e6edd6d5e1fa0329b8653c801147986f8d446"; flake = false; };
    nixpkgs-24_05 = { url = "github:NixOS/nixpkgs/194846768975b7ad2c4988bdb82572c00222c0d7"; flake = false; };
    nixpkgs-24_11 = { url = "github:NixOS/nixpkgs/3f0a8ac25fb674611b98089ca3a5dd6480175751"; flake = false; };
    nixpkgs-25_11 = { url = "github:NixOS/nixpkgs/812b3986fd1568f7a858f97fcf425ad996ba7d25"; flake = false; };
  };

  outputs = { self, ... }@inputs:
    let
      dotless = builtins.replaceStrings [ "." ] [ "_" ];
      environments = ./environments;

      # name -> the outputs of that target's own flake, on this flake's nixpkgs
      targets = builtins.listToAttrs (map
        (name: {
          name = "tf-${dotless name}";
          value = ofTarget name;
        })
        (builtins.filter
          (name: builtins.pathExists (environments + "/${name}/nix/target.json"))
          (builtins.attrNames (builtins.readDir environments))));

      ofTarget = name:
        let
          folder = environments + "/${name}/nix";
          target = builtins.fromJSON (builtins.readFile (folder + "/target.json"));
          input = "nixpkgs-${dotless target.nixpkgs}";
          flake = (import (folder + "/flake.nix")).outputs {
            self = flake;
            nixpkgs = inputs.${input} or (throw "tfenv: no input ${input} for ${name}");
          };
        in
        { inherit (target) system; inherit flake; };

      # All targets' outputs of one kind, by system: `pick` takes a target's set of that kind.
      collect = kind: pick: system: builtins.mapAttrs
        (_: target: pick target.flake.${kind}.${system})
        (builtins.removeAttrs targets (builtins.filter
          (name: targets.${name}.system != system)
          (builtins.attrNames targets)));

      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = f: builtins.listToAttrs (map (system: { name = system; value = f system; }) systems);

      working = system:
        let pkgs = import inputs.nixpkgs-25_11 { inherit system; config = { }; overlays = [ ]; };
        in pkgs.mkShell {
          name = "tfenv";
          # What `./noxw -s tests` and the engines' tests run.
          buildInputs = [ pkgs.python312 pkgs.git pkgs.shellcheck pkgs.buildah pkgs.which ];
        };
    in
    {
      devShells = each (system:
        collect "devShells" (shells: shells.default) system // { default = working system; });
      packages = each (collect "packages" (packages: packages.fhs));
      checks = each (collect "checks" (checks: checks.bazel));
    };
}
