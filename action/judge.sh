#!/usr/bin/env bash
# Judges what is checked out, and leaves the exit code to the last step, so that reports are published first.
set -uo pipefail

# `actions/checkout` gets one commit; the judgment needs the history between the change and its target.
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
  git fetch --quiet --no-tags --unshallow origin || echo "probity: the rest of the history could not be fetched" >&2
fi
# `filter` of `actions/checkout` leaves contents out, and Probity fetches none by itself.
if git config --get-regexp '^remote\..*\.partialclonefilter$' > /dev/null; then
  git fetch --quiet --no-tags --refetch --no-filter origin || echo "probity: the contents could not be fetched" >&2
fi
if [ -n "${GITHUB_BASE_REF:-}" ]; then
  git fetch --quiet --no-tags origin "+refs/heads/$GITHUB_BASE_REF:refs/remotes/origin/$GITHUB_BASE_REF" ||
    echo "probity: the branch $GITHUB_BASE_REF could not be fetched" >&2
fi

read -r -a arguments <<< "${PROBITY_ARGUMENTS:-}"
probity ci --sarif probity.sarif --junit probity.xml --summary probity-summary.md ${arguments[@]+"${arguments[@]}"}
code=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  echo "exit-code=$code" >> "$GITHUB_OUTPUT"
  exit 0
fi
exit $code
