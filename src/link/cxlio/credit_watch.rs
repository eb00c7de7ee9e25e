//! Credits of CXL.io on a 256B link, for those who watch it (`cxl-io` §2.2).
//!
//! Modelled: what each end grants of channel 0, and of that of UIO, by the DLLPs of the flits that it sends, and what the TLPs of its peer
//! take of it; UIO takes credits of its channel from the first DLLP of that on. Left out: credits that were granted before the first flit of
//! a capture, so a link is judged from its InitFC on; other channels and shared credits: where an end grants any, nobody knows of which a TLP takes, so what is sent to it is not judged any more; how long nothing is
//! said ([`FlowControl::silence`] has a clock, a flit has none).
//!
//! A walk through one flit: its DLLP goes to [`IoCreditWatch::dllp`], each TLP that it ends to [`IoCreditWatch::tlp`], both with the
//! direction of the flit.

use super::config::IoConfig;
use super::flow::{DEFAULT_VC, FlowControl, UIO_VC};
use super::tlp::{IoTlp, IoTlpForm};
use crate::event::finding;
use crate::hook::Direction;
use scalepool_protocols::cxl::cxlio::code::FcType;
use scalepool_protocols::cxl::cxlio::dllp::{DLLP_BYTES, Dllp, DllpFc};
use scalepool_protocols::wire::{Violation, Wire};

/// Credits of both directions.
#[derive(Debug, Clone)]
pub struct IoCreditWatch {
    /// What is granted to the end beside the watcher, and to its peer; `None`: more than is followed.
    granted: [Option<GrantedChannels>; 2],
}

/// What one end grants.
#[derive(Debug, Clone)]
struct GrantedChannels {
    main: FlowControl,
    /// The channel of UIO.
    uio: FlowControl,
    has_uio: bool,
}

impl GrantedChannels {
    /// The channel of a TLP.
    fn of(&mut self, tlp: &IoTlp) -> &mut FlowControl {
        if self.has_uio && tlp.is_uio() { &mut self.uio } else { &mut self.main }
    }
}

impl Default for IoCreditWatch {
    fn default() -> Self {
        // Buffers and clocks of an end are of no use here.
        let config = IoConfig::default();
        let uio = FlowControl::of_channel(UIO_VC, config.buffers, &config);
        let nothing = GrantedChannels { main: FlowControl::new(&config), uio, has_uio: false };
        IoCreditWatch { granted: [Some(nothing.clone()), Some(nothing)] }
    }
}

impl IoCreditWatch {
    /// What is granted to who sends in this direction.
    fn granted_to(&mut self, way: Direction) -> &mut Option<GrantedChannels> {
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
        FcType(bytes[0] >> 4).name()?;
        let to = match way {
            Direction::Rx => Direction::Tx,
            Direction::Tx => Direction::Rx,
        };
        let granted = self.granted_to(to);
        if !matches!(fc.vc, DEFAULT_VC | UIO_VC) || fc.shared {
            *granted = None;
        }
        let granted = granted.as_mut()?;
        granted.has_uio |= fc.vc == UIO_VC;
        let channel = if fc.vc == UIO_VC { &mut granted.uio } else { &mut granted.main };
        channel.receive(&fc, 0)
    }

    /// A TLP passes in this direction: whether its sender has the credits for it. Bytes that are no TLP take none.
    pub fn tlp(&mut self, way: Direction, form: IoTlpForm, bytes: &[u8]) -> Option<Violation> {
        let tlp = IoTlp::new(form, bytes.to_vec()).ok()?;
        let granted = self.granted_to(way).as_mut()?.of(&tlp);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// InitFC1 of a kind (0 posted, 1 non-posted) of a channel: two headers, and data without limit; or those of shared credits.
    fn init(kind: u8, vc: u8, shared: bool) -> [u8; DLLP_BYTES] {
        let fc_type = FcType(FcType::InitFc1P.0 + kind);
        let fc = DllpFc { fc_type, vc, shared, hdr_fc: 2, ..DllpFc::default() };
        (fc.to_bits().expect("it fits") as u32).to_be_bytes()
    }

    /// A read of a DW in flit mode.
    const READ: [u8; 12] = [0x03, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0x10, 0];

    fn reads(dllps: &[[u8; DLLP_BYTES]]) -> Vec<&'static str> {
        let mut watch = IoCreditWatch::default();
        assert!(dllps.iter().all(|dllp| watch.dllp(Direction::Rx, *dllp).is_none()));
        let form = IoTlpForm::Flit { pbr: false };
        (0..3).filter_map(|_| watch.tlp(Direction::Tx, form, &READ)).map(|violation| violation.rule).collect()
    }

    #[test]
    fn the_third_read_has_no_credit() {
        assert_eq!(reads(&[init(1, 0, false)]), ["CXLIO-FCC-01"]);
        assert_eq!(reads(&[init(0, 0, false)]), [""; 0], "of its kind nothing is known");
    }

    /// A UIO read of a DW in flit mode.
    const UIO_READ: [u8; 16] = [0x22, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x10, 0];

    #[test]
    fn uio_takes_the_credits_of_its_channel_alone() {
        let mut watch = IoCreditWatch::default();
        for dllp in [init(1, 0, false), init(1, 3, false)] {
            assert_eq!(watch.dllp(Direction::Rx, dllp), None);
        }
        let form = IoTlpForm::Flit { pbr: false };
        let rules: Vec<_> = [&READ[..], &UIO_READ, &READ, &UIO_READ, &UIO_READ, &READ]
            .into_iter()
            .map(|tlp| watch.tlp(Direction::Tx, form, tlp).map(|violation| violation.rule))
            .collect();
        let none = Some("CXLIO-FCC-01");
        assert_eq!(rules, [None, None, None, None, none, none]);
    }

    #[test]
    fn nothing_is_judged_where_more_is_granted_than_is_followed() {
        for more in [init(1, 0, true), init(1, 1, false)] {
            for order in [[init(1, 0, false), more], [more, init(1, 0, false)]] {
                assert_eq!(reads(&order), [""; 0]);
            }
        }
    }
}
