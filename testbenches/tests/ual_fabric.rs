//! UALink above the data link layer: the transaction layer, the switch, accelerators and pods.
#![forbid(unsafe_code)]

mod ual_fabric {
    mod credits;
    mod fields;
    mod order;
    mod pods;
    mod rig;
    mod scenarios;
    mod switch;
}
