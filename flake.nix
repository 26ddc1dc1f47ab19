# `nix run github:smartsearch-cli/smartsearch -- query ...`, from source with nixpkgs' packages. Without the extra
# `mcp`, whose SDK has to be of version 2.
{
  description = "Find the few turns in raw chat transcripts that answer a question";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "aarch64-darwin" ];
      init = builtins.readFile ./smartsearch/__init__.py;
      build =
        python: with python.pkgs; buildPythonApplication {
          pname = "smartsearch-cli";
          version = builtins.head (builtins.match ".*__version__ = \"([^\"]*)\".*" init);
          pyproject = true;
          src = self;
          build-system = [ hatchling ];
          pythonRelaxDeps = [ "typer" ];
          dependencies = [
            typer
            rich
            orjson
            numpy
            stringzilla
            rapidfuzz
            onnxruntime
            tokenizers
            charset-normalizer
            prompt-toolkit
            packaging
          ]
          ++ (if pythonOlder "3.14" then [ backports-zstd ] else [ ]);
          meta.mainProgram = "smartsearch";
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = build nixpkgs.legacyPackages.${system}.python3;
      });
    };
}
