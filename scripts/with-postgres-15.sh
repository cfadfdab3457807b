#!/usr/bin/env bash
# with-postgres-15.sh COMMAND [ARGUMENT...]
#
# Runs a command with WARREN_TEST_DATABASE_URL naming a throwaway PostgreSQL of Debian's package (15 on Debian 12), the
# oldest that Warren supports. Installs the package when it is missing. The server listens on a unix socket only, needs
# no service manager, and is gone with its data when the command has ended. Exits with the command's exit code.
set -euo pipefail

if [ $# -eq 0 ]; then
  echo "usage: $0 COMMAND [ARGUMENT...]" >&2
  exit 64
fi

# Prints the directory of the oldest installed server's programs from 15 on, or nothing.
programs() {
  local postgres version
  for postgres in /usr/lib/postgresql/*/bin/postgres; do
    version=${postgres#/usr/lib/postgresql/}
    version=${version%%/*}
    if [ -x "$postgres" ] && [ "$version" -ge 15 ]; then dirname "$postgres"; fi
  done | sort -V | head -n 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# PostgreSQL refuses to run as root; the package brings the user to run it as.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; else "$@"; fi
}

if [ -z "$(programs)" ]; then
  # The package would otherwise make a cluster of its own and start it as a service.
  as_root mkdir -p /etc/postgresql-common/createcluster.d
  echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.d/none.conf >/dev/null
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends postgresql
fi
bin=$(programs)

# A short path of its own: a socket's path has at most 107 bytes, and TMPDIR may lie in a home that others cannot enter.
home=$(mktemp -d /tmp/warren-postgres-XXXXXX)
cluster=$home/cluster
command=

stop() {
  trap '' INT TERM HUP
  if [ -n "$command" ]; then kill -TERM "$command" 2>/dev/null || true; wait "$command" 2>/dev/null || true; fi
  as_server "$bin/pg_ctl" -D "$cluster" -m immediate -w -t 30 stop >/dev/null 2>&1 || true
  rm -rf "$home"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

if [ "$(id -u)" -eq 0 ]; then chown postgres "$home"; fi
cd /
as_server "$bin/initdb" -D "$cluster" -U postgres -A trust -E UTF8 --no-locale --no-sync >/dev/null
# The data is thrown away, so it need not survive a crash. The server log is shown when the server does not start.
options="-k $home -c listen_addresses= -c max_connections=200 -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
if ! as_server "$bin/pg_ctl" -D "$cluster" -l "$home/log" -o "$options" -w -t 60 start >/dev/null; then
  cat "$home/log" >&2
  exit 1
fi
cd - >/dev/null

export WARREN_TEST_DATABASE_URL="postgresql://postgres@${home//\//%2F}/postgres"
# In the background, so that a signal to this script alone is acted on at once.
"$@" <&0 &
command=$!
status=0
wait "$command" || status=$?
command=
exit "$status"
