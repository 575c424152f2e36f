#!/bin/sh
# Whether what `gadus kub` advises for PostgreSQL helps on this machine, measured with pgbench.
#
#   gadus kub --save report.json && scripts/kub-postgres.sh report.json
#
# A is PostgreSQL with its defaults, asked by TCP; B has the wal_sync_method that the report advises, if it does, and is
# asked by the Unix socket, whether that is advised or not. They take turns A B B A, so that what drifts meets both.
# The cluster is a new one in a temporary folder, with a port that is free; both are gone when this ends, also when it is
# interrupted. Run by root, PostgreSQL runs as the user postgres.
set -eu

usage() {
    echo "usage: $0 [-d FOLDER] [-t SECONDS] [-n ROUNDS] [-s SCALE] REPORT.json" >&2
    echo "  -d  where the cluster is made: on the disk that the report is of [default: ${TMPDIR:-/tmp}]" >&2
    echo "  -t  seconds of a turn [default: 15]   -n  rounds of A B B A [default: 2]" >&2
    echo "  -s  scale of pgbench [default: 10]; PGBIN is where PostgreSQL's programs are" >&2
    exit 2
}

fail() {
    echo "$0: $*" >&2
    exit 1
}

bin=${PGBIN:-/usr/lib/postgresql/15/bin}
parent=${TMPDIR:-/tmp} seconds=15 rounds=2 scale=10
while getopts d:t:n:s: option; do
    case $option in
        d) parent=$OPTARG ;;
        t) seconds=$OPTARG ;;
        n) rounds=$OPTARG ;;
        s) scale=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || usage
for number in "$seconds" "$rounds" "$scale"; do
    case $number in '' | 0* | *[!0-9]*) usage ;; esac
done
report=$1
[ -r "$report" ] || fail "there is no report $report"
grep -q '"format":"gadus kub 1"' "$report" || fail "$report is no report of gadus kub --save or --json"
for program in initdb postgres psql pgbench; do
    [ -x "$bin/$program" ] || fail "there is no $bin/$program: apt-get install postgresql-15, or set PGBIN"
done

# The report's lines of settings: {"kind":"setting","product":...,"setting":...}.
advised() {
    grep '"kind":"setting"' "$report" | grep '"product":"PostgreSQL' |
        sed -n "s/.*\"setting\":\"\\($1[^\"]*\\)\".*/\\1/p" | head -n 1
}
# What the report says where it advises nothing, of lines with this reason.
unadvised() {
    if grep '"kind":"setting"' "$report" | grep "$1" | grep -q '"known":false'; then
        echo "not known whether it helps"
    else
        echo "nothing else is advised"
    fi
}
method=$(advised 'wal_sync_method = ' | sed 's/.*= //')
socket=$(advised 'connect by the Unix socket')
if ! grep -q '"kind":"setting"' "$report"; then
    fail "$report has no settings: save it by gadus kub --json > report.json"
fi

server='' client='' folder=''
# Whoever is asked to end takes along what it has started, and nothing else.
end() {
    status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$client" ]; then kill -TERM "$client" 2>/dev/null || true; fi
    if [ -n "$server" ]; then
        kill -INT "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    if [ -n "$folder" ]; then rm -rf "$folder"; fi
    exit "$status"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

folder=$(mktemp -d "$parent/kub-postgres.XXXXXX")
data=$folder/data
as_postgres=''
if [ "$(id -u)" -eq 0 ]; then
    id postgres >/dev/null 2>&1 || fail "root cannot run PostgreSQL, and there is no user postgres"
    chown postgres: "$folder"
    # Unlike su, it becomes the program: its process is the one that is ended.
    as_postgres='setpriv --reuid=postgres --regid=postgres --init-groups'
fi
cd "$folder"

$as_postgres "$bin/initdb" -D "$data" -A trust -U postgres -N >"$folder/initdb.log" 2>&1 ||
    fail "initdb: $(tail -n 3 "$folder/initdb.log")"

asked() {
    "$bin/psql" -X -q -A -t -h "$folder" -p "$port" -U postgres -d postgres -c "$1"
}

# Starts a server on the first port of some that nobody has.
for port in 54815 54816 54817 54818 54819 54820 54821 54822; do
    $as_postgres "$bin/postgres" -D "$data" -p "$port" -k "$folder" -c listen_addresses=127.0.0.1 \
        >"$folder/server.log" 2>&1 &
    server=$!
    tries=0
    while [ $tries -lt 300 ] && kill -0 "$server" 2>/dev/null; do
        if asked 'SELECT 1' >/dev/null 2>&1; then break 2; fi
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -INT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=''
    grep -q 'Address already in use' "$folder/server.log" || break
done
[ -n "$server" ] || fail "PostgreSQL does not start: $(tail -n 3 "$folder/server.log")"

# Runs pgbench, and gives its transactions in a second. Its end is waited for, so that this can be interrupted.
bench() {
    "$bin/pgbench" -U postgres -p "$port" "$@" postgres >"$folder/bench.log" 2>&1 &
    client=$!
    wait "$client" || fail "pgbench: $(tail -n 3 "$folder/bench.log")"
    client=''
    tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/bench.log")
}

# Takes effect in sessions to come.
sync_by() {
    asked "ALTER SYSTEM SET wal_sync_method = '$1'"
    asked 'SELECT pg_reload_conf()' >/dev/null
    tries=0
    until [ "$(asked 'SHOW wal_sync_method')" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || fail "wal_sync_method does not become $1: $(tail -n 3 "$folder/server.log")"
        sleep 0.1
    done
}

# Of numbers, one a line.
median() {
    sort -n | awk '{ all[NR] = $1 } END { print (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2 }'
}

usual=$(asked 'SHOW wal_sync_method')
"$bin/postgres" --version
echo "A: its defaults (wal_sync_method = $usual), by TCP"
echo "B: wal_sync_method = ${method:-$usual} ($([ -n "$method" ] && echo advised || unadvised wal_sync_method))," \
    "by the Unix socket ($([ -n "$socket" ] && echo advised || unadvised 'TCP beside'), tried in any case)"
bench -h "$folder" -i -q -s "$scale"

for what in -S -N; do
    : >"$folder/A$what"
    : >"$folder/B$what"
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        for turn in A B B A; do
            case $turn in
                A) host=127.0.0.1 by=$usual ;;
                B) host=$folder by=${method:-$usual} ;;
            esac
            sync_by "$by"
            # So that no turn writes what another has changed.
            asked CHECKPOINT
            bench -h "$host" -n -c 4 -j 1 -T "$seconds" "$what"
            echo "pgbench $what, $turn: $tps transactions in a second"
            echo "$tps" >>"$folder/$turn$what"
        done
    done
done

echo
for what in -S -N; do
    a=$(median <"$folder/A$what") b=$(median <"$folder/B$what")
    awk -v what="$what" -v a="$a" -v b="$b" 'BEGIN {
        printf "pgbench %s, medians in a second: A %.0f, B %.0f: %+.1f %%\n", what, a, b, 100 * (b / a - 1)
    }'
done
