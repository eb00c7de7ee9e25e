# Sourced by scripts that run checks one after the other and end with a table of durations; `total` is its last line.

names=() seconds=()
now= begin=0 total=
# The step that runs beside the others, if one does: its name, its process group, its output, when it began.
beside= beside_group= beside_log= beside_begin=0

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

# step_beside NAME LOG COMMAND...: starts it beside the steps that follow; its output goes to LOG. One at a time.
step_beside() {
    beside=$1
    beside_log=$2
    beside_begin=$SECONDS
    shift 2
    printf '\n== %s: begins, its output follows\n' "$beside"
    # A process group of its own, so that all of it can be ended.
    setsid "$@" >"$beside_log" 2>&1 &
    beside_group=$!
}

# join: waits for the step that runs beside the others and prints its output. Its duration is that from its beginning.
join() {
    local group=$beside_group
    now=$beside
    begin=$beside_begin
    wait "$group" || { cat "$beside_log" && false; }
    beside_group=
    printf '\n== %s\n' "$now"
    cat "$beside_log"
    names+=("$now")
    seconds+=($((SECONDS - begin)))
    now=
}

table() {
    local status=$? i
    [ -z "$beside_group" ] || kill -- "-$beside_group" 2>/dev/null || true
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
