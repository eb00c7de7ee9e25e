//! Conformance of the ARB/MUX of a CXL 68B link (`cxl-68b` section 8): rules CXL68-VLS and CXL68-MUX, two tests each
//! (`<rule>_p` obeys, `<rule>_n` breaks), and section 14.5 of the specification's chapter 14 (`c14_<section>`).

mod c14;
mod rig;
mod rules;
