#!/bin/sh
# Download a file from the first place that has it, and keep it only if its sha256 is right.
# usage: fetch.sh SHA256 FILE URL...
set -eu
sha256=$1
file=$2
shift 2
for url in "$@"; do
  if ! curl --fail --silent --show-error --location --retry 3 --proto '=https,http' \
      --output "$file.part" "$url"; then
    echo "tfenv: $url did not answer; trying the next place" >&2
    continue
  fi
  if echo "$sha256  $file.part" | sha256sum --check --status; then
    mv "$file.part" "$file"
    exit 0
  fi
  found=$(sha256sum "$file.part" | cut -d' ' -f1)
  rm -f "$file.part"
  echo "tfenv: $url is not the file that was locked" >&2
  echo "tfenv: its sha256 is $found, locked is $sha256" >&2
done
echo "tfenv: no place has $(basename "$file") with sha256 $sha256; the build stops here" >&2
exit 4
