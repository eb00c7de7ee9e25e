//! Conformance of the ARB/MUX of a CXL 256B link (`cxl-256b` section 6): rules CXL256-ALM-03 to 05, two tests each
//! (`<rule>_p` obeys, `<rule>_n` breaks), section 14.5 of the specification's chapter 14 (`c14_<section>_256`), every ALMP in
//! every state, and random asks, resets and trainings.

mod c14;
mod link;
mod pairs;
mod random;
mod rig;
mod rules;
