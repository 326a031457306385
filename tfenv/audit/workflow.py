"""The gate as a reusable workflow for GitHub Actions. It uses no action of anybody else."""

from __future__ import annotations

from tfenv import __version__

_TEMPLATE = """\
# Written by `tfenv check-release --workflow`. Call it from another workflow:
#   jobs:
#     gate:
#       uses: ./.github/workflows/release-gate.yml
#       with: { artifact: wheels, policy: release-policy.toml }
name: release gate

on:
  workflow_call:
    inputs:
      artifact:
        description: The artifact of this run that holds wheels, attestations and report.json.
        type: string
        required: true
      policy:
        description: The policy, a file of the repository.
        type: string
        default: release-policy.toml

permissions:
  actions: read
  contents: read

jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    env:
      GH_TOKEN: ${{ github.token }}
      ARTIFACT: ${{ inputs.artifact }}
      POLICY: ${{ inputs.policy }}
    steps:
      - name: Fetch the policy and the wheels
        run: |
          gh repo clone "$GITHUB_REPOSITORY" source -- --quiet --no-checkout
          git -C source checkout --quiet "$GITHUB_SHA"
          gh run download "$GITHUB_RUN_ID" --repo "$GITHUB_REPOSITORY" --name "$ARTIFACT" --dir dist
      - name: Install tfenv
        run: pipx install 'tfenv[audit,attest]==@VERSION@'
      - name: Check every wheel
        run: |
          mkdir -p results
          found=0
          for wheel in dist/*.whl; do
            [ -e "$wheel" ] || continue
            found=1
            set -- --policy "source/$POLICY" --junit "results/$(basename "$wheel").xml"
            [ -e dist/report.json ] && set -- "$@" --report dist/report.json
            tfenv check-release "$wheel" "$@"
          done
          [ "$found" = 1 ] || { echo "::error::the artifact holds no wheel"; exit 1; }
"""


def render() -> str:
    """The workflow's text."""
    return _TEMPLATE.replace("@VERSION@", __version__)
