//! Nodes of fabrics that carry no protocol: they make packets, take packets, and measure.
//!
//! Modelled: traffic as theory has it, [patterns](pattern) of destinations and packets that come at random times; beside the node
//! of a fabric a crossbar and a queue whose figures theory knows. Left out: what is in a packet.
//!
//! | file | what |
//! | --- | --- |
//! | [`pattern`] | who sends to whom |
//! | [`traffic_node`] | the node of a fabric of routers |
//! | [`slotted_crossbar`] | a crossbar with its sources and sinks |
//! | [`md1_queue`] | a queue with one server |

pub mod md1_queue;
pub mod pattern;
pub mod slotted_crossbar;
pub mod traffic_node;
