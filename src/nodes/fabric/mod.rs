//! Nodes of fabrics that carry no protocol: they make packets, take packets, and measure.
//!
//! Modelled: traffic as theory has it, [patterns](pattern) of destinations and packets that come at random times. Left out: what is
//! in a packet.
//!
//! | file | what |
//! | --- | --- |
//! | [`pattern`] | who sends to whom |
//! | [`traffic_node`] | the module |

pub mod pattern;
pub mod traffic_node;
