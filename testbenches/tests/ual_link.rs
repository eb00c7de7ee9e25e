//! Conformance of the UALink data link layer over time: link states, replay, DL messages, channels, UART, line. For every
//! rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`); then the scenarios of the catalogue
//! (`t<number>`), noise, and a second replay machine beside ours.

mod channels;
mod differential;
mod line;
mod messages;
mod monitor;
mod receive;
mod rig;
mod scenarios;
mod sequence;
mod soak;
mod state;
mod transmit;
mod twin;
mod uart;
mod wrong;
