# Sourced by scripts that run checks one after the other and end with a table of durations; `total` is its last line.
#
# Beside its duration stands the processor time of a step, which says more on a machine that does other work too. That of a
# step which runs beside others counts with the step in which it ends; it may print a table of its own.

names=() seconds=() processor=()
now= begin=0 begin_processor=0 spent=0 total=
ticks_a_second=$(getconf CLK_TCK)
# The step that runs beside the others, if one does: its name, its process group, its output, when it began.
beside= beside_group= beside_log= beside_begin=0

# processor_seconds: sets `spent` to the processor time of all children that have ended and were waited for.
processor_seconds() {
    local fields
    read -ra fields </proc/$$/stat
    # Fields 16 and 17 of proc(5), cutime and cstime, in clock ticks.
    spent=$(((fields[15] + fields[16]) / ticks_a_second))
}

# begins, ends: measure the step `now`.
begins() {
    begin=$SECONDS
    processor_seconds
    begin_processor=$spent
}

ends() {
    processor_seconds
    names+=("$now")
    seconds+=($((SECONDS - begin)))
    processor+=($((spent - begin_processor)))
    now=
}

# step NAME COMMAND...: runs it and remembers how long it took.
step() {
    now=$1
    begins
    shift
    printf '\n== %s\n' "$now"
    "$@"
    ends
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
    ends
    processor[-1]=-
}

table() {
    local status=$? i
    [ -z "$beside_group" ] || kill -- "-$beside_group" 2>/dev/null || true
    local failed=$now
    [ -z "$now" ] || ends
    if [ ${#names[@]} -gt 0 ]; then
        processor_seconds
        printf '\n%-12s %7s %9s\n' step seconds processor
        for i in "${!names[@]}"; do printf '%-12s %7d %9s\n' "${names[i]}" "${seconds[i]}" "${processor[i]}"; done
        printf '%-12s %7d %9d\n' all "$SECONDS" "$spent"
    fi
    if [ "$status" -ne 0 ]; then
        printf '\nfailed: %s\n' "$failed" >&2
    else
        printf '\n%s\n' "$total"
    fi
}
trap table EXIT
