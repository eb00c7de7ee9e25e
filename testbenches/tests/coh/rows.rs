//! Tests of table rows: one function obeys any row of its table, another breaks it, and each row gives both their names.

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
