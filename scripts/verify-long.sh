#!/usr/bin/env bash
# The tests of revocation, faults and misbehaving providers with many more rounds; patterns narrow them down, as in
# `npm run verify:long -- test/faults test/cases`. WARREN_VERIFY_COUNT is the number of rounds, 200 unless set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ $# -gt 0 ] || set -- 'test/revocation\.' 'src/redactor.property' 'test/malformed-tokens' 'test/secret-' 'test/faults/' 'test/cases'
npm run -s build
WARREN_VERIFY_COUNT=${WARREN_VERIFY_COUNT:-200} exec node --experimental-vm-modules \
  --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --testPathPatterns "$@"
