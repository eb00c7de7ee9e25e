# Sourced by scripts that run checks one after the other and end with a table of durations; `total` is its last line.

names=() seconds=()
now= begin=0 total=

# step NAME COMMAND...: runs it and remembers how long it took.
step() {
    now=$1
    begin=$SECONDS
    shift
    printf '\n== %s\n' "$now"
    "$@"
    names+=("$now")
    seconds+=($((SECONDS - begin)))
    now=
}

table() {
    local status=$? i
    [ -z "$now" ] || { names+=("$now") && seconds+=($((SECONDS - begin))); }
    if [ ${#names[@]} -gt 0 ]; then
        printf '\n%-12s %7s\n' step seconds
        for i in "${!names[@]}"; do printf '%-12s %7d\n' "${names[i]}" "${seconds[i]}"; done
        printf '%-12s %7d\n' all "$SECONDS"
    fi
    if [ "$status" -ne 0 ]; then
        printf '\nfailed: %s\n' "$now" >&2
    else
        printf '\n%s\n' "$total"
    fi
}
trap table EXIT
