//! Switches of CXL.cache whose table of CacheIDs is wrong, and hierarchies that may not run, judged by the routes of CacheIDs.
//!
//! Modelled: a switch with several caching devices, an answer of the host to one of them, and what the table makes of its CacheID. The
//! wave has the answer as it comes down and as it goes to a device, a nanosecond apart.
//! Left out: the devices and the host themselves.
//!
//! A walk: the entry of CacheID 1 names the port of device 2, which lets it through: that device gets an answer with the CacheID of
//! another one, COH-CID-02.

use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_coherence::cache::route::{Below, CacheIdDiscard, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_forms::message::message_to_json;
use scalepool_proof::mutant::CoherenceMutant;
use scalepool_protocols::cxl::cxl256::code::{GoState, H2dRspOpcode};
use scalepool_protocols::cxl::message::{H2dRsp, Message, MessageForm};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::TimeAxis;

/// Rules that a case breaks.
const RULES: [&str; 4] = ["COH-CID-02", "COH-CID-03", "COH-CID-04", "COH-CID-06"];

/// Device whose answer goes astray, by its CacheID.
const ASKED: u8 = 1;
/// Device to which a wrong entry leads it.
const OTHER: usize = 2;

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    RULES.into_iter()
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    match rule {
        "COH-CID-02" => foreign().map(Some),
        "COH-CID-03" => without_entry().map(Some),
        "COH-CID-04" => {
            let what = "two caching devices behind a link of 68B flits, which have no CacheID";
            refused("COH-CID-04", what, &Hierarchy { upper: Flits::B68, ..devices(2) }).map(Some)
        }
        "COH-CID-06" => {
            let mut hierarchy = devices(2);
            hierarchy.devices.iter_mut().take(1).for_each(|device| device.hdm = Hdm::D);
            refused("COH-CID-06", "a device with HDM-D beside another caching device", &hierarchy).map(Some)
        }
        _ => Ok(None),
    }
}

/// So many caching devices below a switch with 256B flits.
fn devices(count: u8) -> Hierarchy {
    let device = |id| Below { hdm: Hdm::None, link: Flits::B256, cache_id: Some(id), forward: false };
    Hierarchy { devices: (0..count).map(device).collect(), upper: Flits::B256, cache_ids: true }
}

/// The answer of the host.
fn answer() -> Message {
    let (opcode, rsp_data) = (H2dRspOpcode::GO, GoState::Shared.0.into());
    Message::H2dRsp(H2dRsp { opcode, rsp_data, cache_id: ASKED, ..H2dRsp::default() })
}

fn routes() -> Result<CacheRoutes, CaseError> {
    CacheRoutes::new(&devices(3)).map_err(CaseError::of)
}

/// A case with its steps, and the answer at the places where it stands.
fn case(what: &str, places: &[(&'static str, String)], violation: Violation) -> Result<BrokenCase, CaseError> {
    let (layout, bits) = answer().spell(MessageForm::Hbr).map_err(CaseError::of)?;
    let (mut steps, mut wave, mut t_fs) = (Vec::new(), MessageWave::new("switch"), 0);
    for (place, said) in places {
        t_fs += STEP_FS;
        if *place != "table" {
            wave.message(t_fs, place, &message_to_json(layout, bits))?;
        }
        steps.push(CaseStep { t_fs, place: (*place).to_owned(), said: said.clone() });
    }
    Ok(BrokenCase {
        what: what.to_owned(),
        t_fs,
        found: format!("{}: found {}, expected {}", violation.rule, violation.found, violation.expected),
        steps,
        records: Some(wave.records(t_fs, violation)),
        axis: TimeAxis::of_step(1, t_fs + STEP_FS),
    })
}

/// A port that lets an answer to another device through.
fn foreign() -> Result<BrokenCase, CaseError> {
    let mut routes = routes()?;
    routes.set_entry(ASKED, Some(OTHER));
    let rules = CoherenceMutant::ForeignCacheId.rules();
    let config = CoherenceConfig { rules, ..CoherenceConfig::default() };
    let (port, _) = routes.down(&config, answer()).map_err(|_| CaseError::breaks_nothing("COH-CID-02", "answer"))?;
    let event = routes.foreign(answer()).ok_or_else(|| CaseError::breaks_nothing("COH-CID-02", "answer"))?;
    let places = [
        ("table", format!("the entry of CacheID {ASKED} names the port of device {OTHER}")),
        ("down", format!("H2D Rsp GO-S with CacheID {ASKED}")),
        ("device", format!("device {port} gets it")),
    ];
    case("a port that lets an answer with the CacheID of another device through", &places, event.violation())
}

/// A device whose CacheID has no entry: its answers are discarded, and it waits for ever.
fn without_entry() -> Result<BrokenCase, CaseError> {
    let mut routes = routes()?;
    routes.set_entry(ASKED, None);
    let missing = || CaseError::breaks_nothing("COH-CID-03", "answer");
    let discarded = routes.down(&CoherenceConfig::default(), answer()).err();
    discarded.filter(|why| matches!(why, CacheIdDiscard::NoEntry(_))).ok_or_else(missing)?;
    let event = routes.watchdog(&[(ASKED.into(), ASKED)], 1).into_iter().next().ok_or_else(missing)?;
    let places = [
        ("table", format!("CacheID {ASKED} has no entry")),
        ("down", format!("H2D Rsp GO-S with CacheID {ASKED}, which goes nowhere")),
    ];
    case("a switch without an entry for a device that waits for its answer", &places, event.violation())
}

/// A hierarchy that is refused.
fn refused(rule: &'static str, what: &str, hierarchy: &Hierarchy) -> Result<BrokenCase, CaseError> {
    let error = CacheRoutes::new(hierarchy).err().map(|error| error.to_string());
    let said =
        error.as_deref().and_then(|error| error.strip_prefix(rule)?.strip_prefix(": ")?.split_once(", expected "));
    let (found, expected) = said.ok_or_else(|| CaseError::breaks_nothing(rule, "hierarchy"))?;
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    let (found, expected) = (found.to_owned(), expected.to_owned());
    let places = [("down", format!("H2D Rsp GO-S, which has to find one of {} devices", hierarchy.devices.len()))];
    case(what, &places, Violation { rule, at: At::Message, found, expected, text })
}
