//! Nodes of fabrics that carry no protocol: they make packets, take packets, and measure.
//!
//! Modelled: traffic as theory has it, [patterns](pattern) of destinations and packets that come at random times, alone or in
//! bursts, with or without answers; [programs](packet_program) of packets that wait for one another; beside the node of a fabric
//! a crossbar and a queue whose figures theory knows. Left out: what is in a packet.
//!
//! | file | what |
//! | --- | --- |
//! | [`pattern`] | who sends to whom |
//! | [`random_traffic`] | packets that come at random |
//! | [`packet_program`] | packets that wait for one another |
//! | [`program_file`] | such a program from a file |
//! | [`collectives`] | collective operations as programs |
//! | [`traffic_node`] | the node of a fabric of routers |
//! | [`slotted_crossbar`] | a crossbar with its sources and sinks |
//! | [`md1_queue`] | a queue with one server |

pub mod collectives;
pub mod md1_queue;
pub mod packet_program;
pub mod pattern;
pub mod program_file;
pub mod random_traffic;
pub mod slotted_crossbar;
pub mod traffic_node;
