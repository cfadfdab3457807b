#!/usr/bin/env bash
# The MCP conformance suite and Inspector's command line against a real Warren, from the build. They need Node 22.19 or
# newer and a large tree of packages, so they are a project of their own, which is installed here without running scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project=test/conformance
if [ ! "$project/node_modules/.package-lock.json" -nt "$project/package-lock.json" ]; then
  npm ci --prefix "$project" --no-audit --no-fund --loglevel=error >&2
fi
exec node --import ./test/support/typescript.mjs "$project/conformance.ts"
