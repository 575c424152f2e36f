#!/bin/sh
# Instructions of two builds for the same queries, counted by valgrind: unlike times they hardly vary from run to run,
# so that a loss of a percent is seen on a noisy machine. They say nothing of caches, waits and the disk.
#
#   scripts/count-instructions.sh OLD NEW      paths of two gadus programs; each makes its data, NEW the queries
#
# Prints TPC-H's queries at scale factor SF (0.1), each run by one process, less what a query of no table takes. Ratios above 1:
# NEW takes fewer. Results that differ are said, and make the script fail.
set -eu
old=${1:?usage: scripts/count-instructions.sh OLD NEW}
new=${2:?usage: scripts/count-instructions.sh OLD NEW}
command -v valgrind >/dev/null || { echo "valgrind is not installed: apt install valgrind" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
queries=$folder/queries.sql
"$new" generate tpch --queries --scale-factor "${SF:-0.1}" >"$queries"
awk -v folder="$folder" -v RS=';\n' '{ print $0 ";" > (folder "/" NR ".sql") }' "$queries"
echo "SELECT 1;" >"$folder/0.sql"

# The instructions of query $3 by the program $2, which is called $1.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$2" "$folder/$1.gadus" --format csv -f "$folder/$3.sql" \
        2>"$folder/log" >"$folder/$1.$3.csv"
    sed -n 's/.*Collected : //p' "$folder/log"
}

"$old" tpch "$folder/old.gadus" --sf "${SF:-0.1}" >/dev/null
"$new" tpch "$folder/new.gadus" --sf "${SF:-0.1}" >/dev/null
failed=
printf '%5s %14s %14s %6s\n' query old new ratio
number=0
while [ -f "$folder/$number.sql" ]; do
    before=$(count old "$old" $number)
    after=$(count new "$new" $number)
    if [ $number = 0 ]; then
        empty_before=$before empty_after=$after all_before=0 all_after=0
    else
        before=$((before - empty_before)) after=$((after - empty_after))
        all_before=$((all_before + before)) all_after=$((all_after + after))
        awk -v n=$number -v b=$before -v a=$after 'BEGIN { printf "%5s %14.0f %14.0f %6.3f\n", n, b, a, b / a }'
        cmp -s "$folder/old.$number.csv" "$folder/new.$number.csv" || failed="$failed $number"
    fi
    number=$((number + 1))
done
awk -v b=$all_before -v a=$all_after 'BEGIN { printf "%5s %14.0f %14.0f %6.3f\n", "all", b, a, b / a }'
[ -z "$failed" ] || { echo "different results:$failed" >&2; exit 1; }
