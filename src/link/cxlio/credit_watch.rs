//! Credits of CXL.io on a 256B link, for those who watch it (`cxl-io` §2.2).
//!
//! Modelled: what each end grants of channel 0, by the DLLPs of the flits that it sends, and what the TLPs of its peer take of it. Left
//! out: credits that were granted before the first flit of a capture, so a link is judged from its InitFC on; other channels, shared
//! credits, and how long nothing is said ([`FlowControl::silence`] has a clock, a flit has none).
//!
//! A walk through one flit: its DLLP goes to [`IoCreditWatch::dllp`], each TLP that it ends to [`IoCreditWatch::tlp`], both with the
//! direction of the flit.

use super::config::IoConfig;
use super::flow::FlowControl;
use super::tlp::{IoTlp, IoTlpForm};
use crate::event::finding;
use crate::hook::Direction;
use scalepool_protocols::cxl::cxlio::code::FcType;
use scalepool_protocols::cxl::cxlio::dllp::{DLLP_BYTES, Dllp, DllpFc};
use scalepool_protocols::wire::{Violation, Wire};

/// Credits of both directions.
#[derive(Debug, Clone)]
pub struct IoCreditWatch {
    /// What is granted to the end beside the watcher, and to its peer.
    granted: [FlowControl; 2],
}

impl Default for IoCreditWatch {
    fn default() -> Self {
        // Buffers and clocks of an end are of no use here.
        let nothing = FlowControl::new(&IoConfig::default());
        IoCreditWatch { granted: [nothing.clone(), nothing] }
    }
}

impl IoCreditWatch {
    /// What is granted to who sends in this direction.
    fn granted_to(&mut self, way: Direction) -> &mut FlowControl {
        let [to_end, to_peer] = &mut self.granted;
        match way {
            Direction::Tx => to_end,
            Direction::Rx => to_peer,
        }
    }

    /// A DLLP passes in this direction: what cannot be right in it.
    pub fn dllp(&mut self, way: Direction, bytes: [u8; DLLP_BYTES]) -> Option<Violation> {
        let dllp = Dllp(bytes);
        let fc = DllpFc::from_bits(dllp.bits());
        if FcType(bytes[0] >> 4).name().is_none() || fc.vc != 0 || fc.shared {
            return None;
        }
        let to = match way {
            Direction::Rx => Direction::Tx,
            Direction::Tx => Direction::Rx,
        };
        self.granted_to(to).receive(&fc, 0)
    }

    /// A TLP passes in this direction: whether its sender has the credits for it. Bytes that are no TLP take none.
    pub fn tlp(&mut self, way: Direction, form: IoTlpForm, bytes: &[u8]) -> Option<Violation> {
        let tlp = IoTlp::new(form, bytes.to_vec()).ok()?;
        let granted = self.granted_to(way);
        let [headers, data] = granted.counters(tlp.kind())?;
        let (wanted, [has_headers, has_data]) = (tlp.data_credits(), [headers.left(), data.left()]);
        let fits = headers.covers(1) && data.covers(wanted);
        granted.sent(&tlp);
        let told = |left: Option<u64>, name: &str| match left {
            Some(left) => format!("{left} {name}"),
            None => format!("any number of {name}"),
        };
        (!fits).then(|| {
            finding(
                "CXLIO-FCC-01",
                format!("a TLP that takes 1 header and {wanted} data credits"),
                format!("at most {} and {}", told(has_headers, "headers"), told(has_data, "data credits")),
                &format!("a TLP is sent without credit, {:?}", tlp.kind()),
            )
        })
    }
}
