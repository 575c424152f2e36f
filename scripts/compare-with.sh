#!/bin/sh
# Key figures of this checkout against an older revision: both are built, and take turns in one run.
#
#   scripts/compare-with.sh REVISION [BENCH...]      such as: scripts/compare-with.sh v0.1.0 commit processes
#
# Runs `gadus bench BENCH --against gadus=OLD`, which prints both medians, their ratio (above 1: this checkout is
# better) and its lowest and highest value over the rounds. Benchmarks that are not in the list below run with their
# defaults. GADUS_OLD and GADUS_NEW name programs that are built already; ROUNDS is the number of turns of each.
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

# The key figures. One round takes some seconds; a turn has a few rounds, whose medians are compared.
options() {
    case $1 in
        commit) echo "--clients 1,64 --time 2s" ;;
        processes) echo "--processes 32 --time 2s" ;;
        bookings) echo "--rows 2000000 --outstanding 2048 --time 3s" ;;
        scan) echo "--rows 2000000" ;;
        load) echo "--rows 500000" ;;
        tpch) echo "--sf 0.3" ;;
        clickbench) echo "--rows 200000" ;;
        streams) echo "--streams 16 --sf 0.1" ;;
        wire) echo "--scale 2 --time 2s" ;;
    esac
}

[ $# -gt 0 ] || set -- commit processes bookings scan update load tpch clickbench streams wire
failed=
for bench in "$@"; do
    echo "$bench $(options "$bench")"
    # shellcheck disable=SC2046 # the options are words
    "$new" bench "$bench" $(options "$bench") --rounds "${ROUNDS:-5}" --against "gadus=$old" || failed="$failed $bench"
done
[ -z "$failed" ] || {
    echo "failed:$failed" >&2
    exit 1
}
