#!/usr/bin/env bash
# Gets the release of Probity for this machine, checks its digest, and puts it on the path of later steps.
set -euo pipefail

version=${PROBITY_VERSION:?the version of Probity}
from=${PROBITY_RELEASES:-https://github.com/probity-dev/probity/releases/download}/v$version
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
  Linux-aarch64) target=aarch64-unknown-linux-gnu ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  *) echo "probity: no release for $(uname -s) on $(uname -m)" >&2; exit 2 ;;
esac
archive=probity-$version-$target.tar.gz
directory=${RUNNER_TOOL_CACHE:-${TMPDIR:-/tmp}}/probity/$version
mkdir -p "$directory"
cd "$directory"

if [ ! -f "$archive" ]; then
  curl --fail --silent --show-error --location --retry 3 --output "$archive.part" "$from/$archive"
  mv "$archive.part" "$archive"
fi
if [ -n "${PROBITY_SHA256:-}" ]; then
  expected=$PROBITY_SHA256
else
  expected=$(curl --fail --silent --show-error --location --retry 3 "$from/SHA256SUMS" | awk -v name="$archive" '$2 == name { print $1 }')
fi
if command -v sha256sum > /dev/null; then
  found=$(sha256sum "$archive" | cut -d ' ' -f 1)
else
  found=$(shasum -a 256 "$archive" | cut -d ' ' -f 1)
fi
if [ -z "$expected" ] || [ "$found" != "$expected" ]; then
  rm -f "$archive"
  echo "probity: the digest of $archive is $found, expected ${expected:-one in SHA256SUMS}; nothing was installed" >&2
  exit 2
fi
tar -xzf "$archive"
bin=$directory/probity-$version-$target/bin
"$bin/probity" --version
if [ -n "${GITHUB_PATH:-}" ]; then
  echo "$bin" >> "$GITHUB_PATH"
fi
