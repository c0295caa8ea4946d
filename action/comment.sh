#!/usr/bin/env bash
# Writes the summary as a comment on the pull request, and updates the same comment later.
set -euo pipefail

summary=probity-summary.md
[ -s "$summary" ] || exit 0
marker='<!-- probity -->'
body=$(mktemp)
{ echo "$marker"; cat "$summary"; } > "$body"
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
id=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1) || id=
if [ -n "$id" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$body"
elif ! gh api --silent --method POST "$comments" --field "body=@$body"; then
  echo "::notice title=Probity::the summary could not be written as a comment: pull requests of forks may only read"
fi
