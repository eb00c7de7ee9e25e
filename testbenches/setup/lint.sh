#!/bin/sh
# The compiler of the step `clippy`, called by cargo as `lint.sh rustc ARGUMENTS`.
#
# `cargo clippy --all-targets` lints a library twice: alone, since other crates need it, and with its unit tests. The lines of
# the first are among those of the second, so the first is only compiled here, with warnings as errors. A package without
# unit tests (`test = false`) has only the first, which is linted.
case " $* " in
*' --test '*) ;;
*' --crate-type lib '*) grep -q '^test = false' "$CARGO_MANIFEST_DIR/Cargo.toml" || exec "$@" -D warnings ;;
esac
exec "$(rustc --print sysroot)/bin/clippy-driver" "$@"
