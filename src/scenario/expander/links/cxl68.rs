//! 68B flits.

use super::{Figures, Link, Reported};
use crate::link::cxl68::end::{End, EndConfig};
use crate::link::cxl68::retry::LRSM;
use crate::link::cxl68::timing::LineRate;
use crate::scenario::settings::Settings;
use crate::scenario::{RunError, memory};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Width;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::unit::{UNIT_BYTES, Unit};
use scalepool_protocols::cxl::message::Form;

/// A link with 68B flits.
///
/// # Errors
/// Choices that the link layer refuses.
pub(in super::super) fn cxl68(settings: &Settings) -> Result<Link<End>, RunError> {
    let width = settings.int("link.width");
    let width = Width::new(width as u8).ok_or_else(|| settings.refuse("link.width", width))?;
    let line = LineRate {
        rate_gtps: settings.int("link.rate_gtps") as u32,
        width,
        sync_headers: settings.is_on("link.sync_headers"),
        skip_ordered_sets: settings.is_on("link.skip_ordered_sets"),
    };
    let config = Cxl68Config {
        mdh: settings.is_on("link.mdh"),
        llrb_entries: settings.int("link.retry_entries") as u16,
        timeout_flits: settings.int("link.timeout_flits") as u32,
        max_num_retry: settings.int("link.max_num_retry") as u8,
        max_num_phy_reinit: settings.int("link.max_num_phy_reinit") as u8,
        llcrd_flush_flits: settings.int("link.flush_flits") as u16,
        ..Cxl68Config::default()
    };
    memory::check_68b(settings, 1, line.unit_time_fs())?;
    let end = |dir| End::new(EndConfig::mem(dir, config, settings.int("link.buffers") as u16));
    Ok(Link {
        host: end(Dir::Down)?,
        device: end(Dir::Up)?,
        form: Form::Cxl68,
        unit_bytes: UNIT_BYTES,
        unit_time_fs: line.unit_time_fs(),
        halves: false,
        port_ids: [0, 0],
    })
}

impl Reported for End {
    fn figures(host: &End, device: &End) -> Figures {
        let (down, up) = (host.stats(), device.stats());
        let sent = |class: Class| {
            let stats = if class.dir() == Dir::Down { down } else { up };
            (class.def().name.to_owned(), stats.messages[class.index()])
        };
        let mut coverage = host.coverage().clone();
        coverage.merge(device.coverage());
        let rows = host.local().rows_taken.iter().zip(&device.local().rows_taken);
        let retry_rows = rows.filter(|(a, b)| *a + *b > 0).count();
        let groups = coverage.summary().chain([("LRSM row", retry_rows, LRSM.len())]);
        Figures {
            units: [down.sent, up.sent],
            messages: [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs].map(sent).into(),
            retries: down.retries + up.retries,
            credit_stalls: down.credit_stalls + up.credit_stalls,
            counts: vec![
                ("protocol flits", down.sent_protocol + up.sent_protocol),
                ("all-data flits", down.sent_all_data + up.sent_all_data),
                ("LLCRD flits", down.sent_llcrd + up.sent_llcrd),
                ("RETRY flits", down.sent_retry + up.sent_retry),
                ("replayed flits", down.replayed + up.replayed),
            ],
            coverage: groups.map(|(group, met, of)| (group.to_owned(), met as u64, of as u64)).collect(),
        }
    }

    fn unit(&self, bytes: &[u8]) -> Option<Unit> {
        Unit::from_bytes(bytes).ok()
    }

    fn astray(&self, peer: &End) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for class in Class::ALL {
            let (has, should) = (self.credits().spend[class.index()], peer.credits().granted(class));
            if has != should {
                let name = class.def().name;
                found.push((format!("{has} credits for {name}"), format!("{should}, as the peer counts")));
            }
        }
        let (kept, open) = (self.buffer().unacknowledged(), peer.num_ack());
        if kept != open {
            let kept = format!("{kept} flits in the retry buffer");
            found.push((kept, format!("{open}, which the peer has not acknowledged")));
        }
        found
    }
}
