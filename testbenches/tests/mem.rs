//! Conformance of DRAM and HBM: the rules of `memory`, each obeyed and broken.

/// `rule_tests! { obeys, breaks: name_p name_n "RULE" .. }`: two tests a row.
macro_rules! rule_tests {
    ($obeys:path, $breaks:path: $($p:ident $n:ident $rule:literal)*) => {$(
        #[test]
        fn $p() {
            $obeys($rule);
        }

        #[test]
        fn $n() {
            $breaks($rule);
        }
    )*};
}

mod bandwidth;
mod latency;
mod mapping;
mod presets;
mod refresh;
mod rig;
mod scheduling;
mod spacing;
mod state;
