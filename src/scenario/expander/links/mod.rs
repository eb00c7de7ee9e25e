//! The kinds of link between host and device: settings to two ends, two ends to figures.

mod cxl256;
mod cxl68;

use crate::link::port::Carries;
use scalepool_protocols::cxl::message::{Form, Message};

pub(super) use cxl68::cxl68;
pub(super) use cxl256::cxl256;

/// A link that is not built yet.
pub(super) struct Link<E> {
    pub host: E,
    pub device: E,
    /// How it spells messages.
    pub form: Form,
    /// Bytes of what travels in one flit clock.
    pub unit_bytes: usize,
    /// Time of that as a fraction \[fs\], (numerator, denominator).
    pub unit_time_fs: (u64, u64),
    /// Units are used by halves.
    pub halves: bool,
    /// Identifiers of host and device in port based routing, else 0.
    pub port_ids: [u16; 2],
}

impl<E> Link<E> {
    /// Bytes a second of whole units in one direction.
    pub fn unit_bytes_per_s(&self) -> f64 {
        let (num, den) = self.unit_time_fs;
        self.unit_bytes as f64 * 1e15 * den as f64 / num as f64
    }
}

/// Figures of both ends together.
pub(super) struct Figures {
    /// Units sent, by the host and by the device.
    pub units: [u64; 2],
    /// CXL.mem messages sent, by layout.
    pub messages: Vec<(String, u64)>,
    /// Times that something was asked for again.
    pub retries: u64,
    /// Flit clocks in which a message waited for a credit.
    pub credit_stalls: u64,
    /// Further counts.
    pub counts: Vec<(&'static str, u64)>,
    /// Coverage points: group, rows met, rows in all.
    pub coverage: Vec<(String, u64, u64)>,
}

/// A link end that can be reported on.
pub(super) trait Reported: Carries<Message> {
    /// Figures of a link.
    fn figures(host: &Self, device: &Self) -> Figures;

    /// The unit of bytes that a caller drove; `None` if there are too many or too few.
    fn unit(&self, bytes: &[u8]) -> Option<Self::Unit>;

    /// What is not in its place when nothing is under way any more: credits that neither end has, flits that nobody will
    /// acknowledge. Each is a text of what was found and one of what was expected.
    fn astray(&self, peer: &Self) -> Vec<(String, String)>;
}
