# Sourced by scripts that install what is not there, or name it and say how to get it. None of them waits for a network that
# is not there: one attempt more, 20 seconds each.

# missing WHAT HOW
missing() {
    printf 'missing: %s\nto install: %s\n' "$1" "$2" >&2
    exit 1
}

# system_packages NAME...: Debian packages, as root or where sudo asks for no password.
system_packages() {
    [ $# -gt 0 ] || return 0
    local as=() net=(-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
    local install="apt-get install -y --no-install-recommends $*"
    command -v apt-get >/dev/null || missing "$*" "$install (the Debian names; there is no apt-get here)"
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null || missing "$*" "sudo apt-get update && sudo $install"
        as=(sudo)
    fi
    # An update that fails may leave lists that are good enough.
    "${as[@]}" apt-get "${net[@]}" update || true
    "${as[@]}" apt-get "${net[@]}" install -y --no-install-recommends "$@" ||
        missing "$*" "apt-get update && $install, where apt-get reaches the packages of Debian"
}

# crates: those of Cargo.lock that this machine needs.
crates() {
    local fetch=(cargo fetch --quiet --locked --target "$(rustc -vV | sed -n 's/^host: //p')")
    "${fetch[@]}" --offline 2>/dev/null || CARGO_HTTP_TIMEOUT=20 CARGO_NET_RETRY=1 "${fetch[@]}" ||
        missing 'crates of Cargo.lock' 'cargo fetch --locked, where cargo reaches crates.io or a mirror of it'
}

# python_packages FOLDER HOW ARGUMENTS...: what pip is asked for, in an environment of its own, laid anew: what is left of an
# interrupted installation, or of another version of python, is of no use. pip is called through python, because its own first
# line holds the folder's name, which may have changed or hold spaces.
python_packages() {
    local folder=$1 how=$2
    shift 2
    /usr/bin/python3 -m venv --clear "$folder"
    printf '*\n' >"$folder/.gitignore"
    "$folder/bin/python3" -m pip install --disable-pip-version-check --quiet --retries 1 --timeout 20 "$@" ||
        missing "python packages: $*" "$how, where pip reaches PyPI or a mirror of it"
}

# hashed_packages FOLDER FILE SCRIPT: what pip finds in a file of versions with hashes, into an environment that is there; SCRIPT is the script that
# asks for it. Does nothing where it has been done.
hashed_packages() {
    local folder=$1 file=testbenches/setup/$2
    cmp -s "$file" "$folder/$2" && return
    "$folder/bin/python3" -m pip install --disable-pip-version-check --quiet --retries 1 --timeout 20 --no-deps --only-binary :all: \
        --require-hashes --requirement "$file" ||
        missing "python packages of $file" "bash testbenches/setup/$3, where pip reaches PyPI or a mirror of it"
    cp "$file" "$folder/$2"
}
