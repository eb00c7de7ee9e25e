//! 256B flits in their three modes.

use super::{Figures, Link, Reported};
use crate::link::cxl256::WireFlit;
use crate::link::cxl256::cachemem::Cachemem;
use crate::link::cxl256::config::{CachememConfig, CreditReturn, LinkConfig, flit_time_fs};
use crate::link::cxl256::end::Stats;
use crate::link::cxl256::port::PortEnd;
use crate::scenario::flit_link::flit_link;
use crate::scenario::settings::{SettingError, Settings};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::class::{Class, Routing};
use scalepool_protocols::cxl::cxl256::flit::{FLIT_BYTES, Flit};
use scalepool_protocols::cxl::cxl256::{Mode, config::Cxl256Config};

/// A link with 256B flits.
///
/// # Errors
/// Settings that do not go together.
pub(in super::super) fn cxl256(mode: Mode, settings: &Settings) -> Result<Link<PortEnd<Cachemem>>, SettingError> {
    let rate_gtps = settings.int("link.rate_gtps");
    let lanes = settings.int("link.width");
    let config = LinkConfig {
        buffer_flits: settings.int("link.retry_entries") as u16,
        replay_timer_flits: settings.int("link.timeout_flits") as u32,
        nak_ignore_flits: settings.int("link.nak_ignore_flits") as u16,
        selective_nak: settings.is_on("link.selective_nak"),
        ..flit_link(mode, settings)?
    };
    let end = |dir| {
        let cachemem = CachememConfig {
            codec: Cxl256Config { mdh: settings.is_on("link.mdh"), ..Cxl256Config::default() },
            credit_return: CreditReturn {
                credits: settings.int("link.flush_credits") as u16,
                waiting_flits: settings.int("link.flush_flits") as u32,
            },
            ..CachememConfig::mem(dir, mode, settings.int("link.buffers") as u16)
        };
        PortEnd::cachemem(config, cachemem)
    };
    let port_ids = match mode.routing() {
        Routing::Pbr => ["link.host_pid", "link.device_pid"].map(|key| settings.int(key) as u16),
        Routing::Hbr => [0, 0],
    };
    Ok(Link {
        host: end(Dir::Down),
        device: end(Dir::Up),
        form: mode.routing().into(),
        unit_bytes: FLIT_BYTES,
        unit_time_fs: flit_time_fs(lanes, rate_gtps),
        halves: mode.is_lopt(),
        port_ids,
    })
}

impl Reported for PortEnd<Cachemem> {
    fn figures(host: &PortEnd<Cachemem>, device: &PortEnd<Cachemem>) -> Figures {
        let ends = [host, device];
        let sum = |of: fn(&Stats) -> u64| ends.iter().map(|e| of(e.end.stats())).sum::<u64>();
        let clients = ends.map(|e| e.layer().stats());
        let routing = host.end.link().mode.routing();
        let sent = |class: Class| {
            // Counted where they arrive: nothing gets lost for good on this link.
            let count = clients.iter().map(|c| c.messages[class.index()]).sum();
            (class.def(routing).name.to_owned(), count)
        };
        let mut coverage = host.layer().coverage().clone();
        coverage.merge(device.layer().coverage());
        let units = ends.map(|e| e.sent);
        let (payload, replayed) = (sum(|s| s.sent_payload), sum(|s| s.replayed));
        Figures {
            units,
            messages: [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs].map(sent).into(),
            retries: sum(|s| s.replays),
            credit_stalls: host.credit_stalls + device.credit_stalls,
            counts: vec![
                ("protocol flits", clients.iter().map(|c| c.sent_protocol).sum()),
                ("credit flits", clients.iter().map(|c| c.sent_credits).sum()),
                ("NOP flits", units.iter().sum::<u64>() - payload - replayed),
                ("replayed flits", replayed),
                ("Nak flits", sum(|s| s.sent_naks)),
                ("late Acks", sum(|s| s.acks_late)),
                ("early halves", sum(|s| s.early_halves)),
                ("FEC repairs", sum(|s| s.repaired)),
                ("bad flits", sum(|s| s.bad)),
            ],
            coverage: coverage.summary().map(|(group, met, of)| (group.to_owned(), met as u64, of as u64)).collect(),
        }
    }

    fn unit(&self, bytes: &[u8]) -> Option<WireFlit> {
        Flit::from_bytes(bytes).ok().map(|flit| WireFlit { mode: self.end.link().mode, flit })
    }

    fn astray(&self, peer: &PortEnd<Cachemem>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let (mine, theirs) = (self.layer().credits(), peer.layer().credits());
        let routing = self.end.link().mode.routing();
        for class in Class::ALL {
            let (has, should) = (mine.spend[class.index()], theirs.granted(class));
            if has != should {
                let name = class.def(routing).name;
                found.push((format!("{has} credits for {name}"), format!("{should}, as the peer counts")));
            }
        }
        let (acked, got) = (self.end.transmitter().acknowledged(), peer.end.receiver().last_good());
        if acked != got {
            found.push((format!("number {acked} acknowledged"), format!("{got}, which the peer has received")));
        }
        found
    }
}
