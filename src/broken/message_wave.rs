//! The wave of messages that stand by themselves: at ports of a bridge, or on a link without its flits.

use super::CaseError;
use scalepool_forms::message::message_from_json;
use scalepool_protocols::cxl::cxl256::message::{M2sBirsp, M2sReq, M2sRwd, S2mBisnp, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32, NfmMem64};
use scalepool_protocols::nvlink::NvlHeader;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, Tap};
use serde_json::{Value, json};

/// Time from message to message \[fs\].
pub(super) const STEP_FS: u64 = 1_000_000;

/// Layouts of messages at the ports, each by itself, so that the wave has those that pass.
const LAYOUTS: &[&[&LayoutDef]] = &[
    &[TlReq::DEF],
    &[TlRsp::DEF],
    &[NvlHeader::DEF],
    &[M2sReq::DEF],
    &[M2sRwd::DEF],
    &[M2sBirsp::DEF],
    &[S2mNdr::DEF],
    &[S2mDrs::DEF],
    &[S2mBisnp::DEF],
    &[NfmMem32::DEF],
    &[NfmMem64::DEF],
    &[NfmCpl::DEF],
];

/// A wave with a scope for each place.
pub(super) struct MessageWave {
    scope: &'static str,
    hub: Hub,
    findings: Tap,
    places: Vec<(&'static str, &'static LayoutDef, Tap)>,
}

impl MessageWave {
    /// With this scope around all places.
    pub(super) fn new(scope: &'static str) -> MessageWave {
        let mut hub = Hub::new(true);
        let findings = hub.tap(scope, PlaceKind::Findings);
        MessageWave { scope, hub, findings, places: Vec::new() }
    }

    /// A message passes at a place.
    pub(super) fn message(&mut self, t_fs: u64, place: &'static str, form: &Value) -> Result<(), CaseError> {
        let (layout, bits) =
            message_from_json(&json!({ "layout": form["layout"], "fields": form["fields"] })).map_err(CaseError::of)?;
        let known = self.places.iter().position(|(of, def, _)| *of == place && std::ptr::eq(*def, layout));
        let at = known.unwrap_or_else(|| {
            let shown = LAYOUTS.iter().find(|shown| std::ptr::eq(shown[0], layout)).copied().unwrap_or_default();
            let tap = self.hub.tap(&format!("{}.{place}", self.scope), PlaceKind::Messages(shown));
            self.places.push((place, layout, tap));
            self.places.len() - 1
        });
        let at_time = Stamp { t_fs, cycle: t_fs / STEP_FS };
        let tap = &mut self.places[at].2;
        tap.record(at_time, RecordKind::Mark, 0, 0, || Body::Message { layout, bits, data: None });
        Ok(())
    }

    /// The records, with a broken rule.
    pub(super) fn records(mut self, t_fs: u64, violation: Violation) -> Hub {
        let at = Stamp { t_fs, cycle: t_fs / STEP_FS };
        self.findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        self.hub
    }
}
