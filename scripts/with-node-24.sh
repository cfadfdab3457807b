#!/usr/bin/env bash
# Runs a command with Node 24 first in PATH: scripts/with-node-24.sh <command> [argument…]
# The binary comes from the npm package node-<platform>-<arch> and is kept outside the checkout, in NODE_24_HOME,
# /var/tmp or the user's cache directory, so that a second run downloads nothing.
set -euo pipefail

if [ $# -eq 0 ]; then
  echo 'usage: scripts/with-node-24.sh <command> [argument…]' >&2
  exit 64
fi

# Root's home is closed to others, and tests start what they test as an ordinary user too.
if [ "$(id -u)" = 0 ]; then cache=/var/tmp; else cache=${XDG_CACHE_HOME:-$HOME/.cache}; fi
home=${NODE_24_HOME:-$cache/warren-node-24}
package=$(node -p '`node-${process.platform}-${process.arch}`')
bin=$home/node_modules/$package/bin

runs_node_24() {
  [ -x "$bin/node" ] && case $("$bin/node" --version 2>/dev/null) in v24.*) true ;; *) false ;; esac
}

if ! runs_node_24; then
  mkdir -p "$(dirname "$home")"
  fresh=$(mktemp -d "$home.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  npm install --prefix "$fresh" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$package@24" >&2
  # Moved into place as a whole: an interrupted download leaves nothing that looks complete.
  chmod -R a+rX "$fresh"
  rm -rf "$home"
  mv -T "$fresh" "$home"
  trap - EXIT
  if ! runs_node_24; then
    echo "with-node-24: $package@24 brought no Node 24 that runs here" >&2
    exit 69
  fi
fi

PATH="$bin:$PATH" exec "$@"
