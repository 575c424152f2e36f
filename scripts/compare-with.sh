#!/bin/sh
# Key figures of this checkout beside an older revision: both are built, and take turns in one run.
#
#   scripts/compare-with.sh REVISION [BENCH...]      such as: scripts/compare-with.sh v0.1.0 commit processes
#
# Prints each figure's medians, the ratio (above 1: this checkout is better) and its lowest and highest value over
# the rounds. GADUS_OLD and GADUS_NEW name programs that are built already; ROUNDS says how many rounds count.
set -eu
cd "$(dirname "$0")/.."
revision=${1:?usage: scripts/compare-with.sh REVISION [BENCH...]}
shift
target=${CARGO_TARGET_DIR:-target}
old=${GADUS_OLD:-}
if [ -z "$old" ]; then
    tree=$target/compare/$(git rev-parse --short "$revision")
    [ -d "$tree" ] || git worktree add --detach "$tree" "$revision"
    (cd "$tree" && CARGO_TARGET_DIR=target cargo build --release --locked --package gadus-cli)
    old=$tree/target/release/gadus
fi
new=${GADUS_NEW:-}
if [ -z "$new" ]; then
    cargo build --release --locked --package gadus-cli
    new=$target/release/gadus
fi
exec python3 scripts/compare.py "$old" "$new" "${ROUNDS:-5}" "$@"
