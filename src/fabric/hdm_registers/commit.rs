//! What a commit of an HDM decoder checks (`fabric` HDM-2, HDM-4).
//!
//! Modelled: every check, each by itself, so that all reasons of a refusal are told. Left out: where a device stands among others in
//! an interleave set.
//!
//! A walk: codes are judged first, since nothing else can be said of a decoder whose codes mean nothing; then what is refused in every
//! case; then, with Lock on commit, what the standard checks.

use super::{DecoderOwner, HdmDecoderRegisters, InUse};
use scalepool_protocols::cxl::hdm_decoder::{HdmControl, HdmGranularity, HdmWays};
use scalepool_protocols::wire::{Findings, Violation};

/// A step of sizes and bases \[bytes\]: registers hold address bits from 28 on (`fabric` §2.1).
const STEP_BYTES: u64 = 256 << 20;
/// The largest code of a granularity that address bits 11 to 8 select by; the ones above use bits 14 to 12 (conformance choice c9).
const LAST_LOW_GRANULARITY: HdmGranularity = HdmGranularity::Bytes2048;

/// Why decoder `n` cannot be committed as its registers are; empty: it can.
pub(super) fn refusals(all: &HdmDecoderRegisters, n: usize) -> Vec<Violation> {
    let decoder = &all.decoders[n];
    let mut found = Refused { at: HdmDecoderRegisters::control_at(n), all: Vec::new() };
    let control = decoder.control();
    codes(all.owner, control, &mut found);
    let Some(wanted) = decoder.as_written(all.owner).filter(|_| found.all.is_empty()) else { return found.all };
    in_every_case(all, n, control, &wanted, &mut found);
    if control.lock_on_commit {
        with_lock(all, n, &wanted, &mut found);
    }
    found.all
}

/// A finding of software that commits or ends decoders in another order than by their number (`fabric` HDM-3).
pub(super) fn out_of_order(n: usize, seen: &str, findings: &mut Findings) {
    let text = "decoders are committed in rising and ended in falling order";
    findings.lint("FAB-HDM-03", HdmDecoderRegisters::control_at(n), seen, "the order of their numbers", text);
}

struct Refused {
    at: usize,
    all: Vec<Violation>,
}

impl Refused {
    fn by(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.all.push(Violation::at_byte(rule, self.at, found, expected, text));
    }
}

/// Codes that say nothing, or that a bridge cannot have.
fn codes(owner: DecoderOwner, control: HdmControl, found: &mut Refused) {
    let (ways, granularity) = (control.ways, control.granularity);
    let is_known = match owner {
        DecoderOwner::Device => ways.ways().is_some(),
        DecoderOwner::Bridge => ways <= HdmWays::Ways8,
    };
    if !is_known {
        let expected = if owner == DecoderOwner::Device { "0 to 4 or 8 to 10" } else { "0 to 3" };
        found.by("FAB-HDM-15", format!("code {}", ways.0), expected, "the code of the ways means nothing here");
    }
    if granularity.bytes().is_none() {
        let seen = format!("code {}", granularity.0);
        found.by("FAB-HDM-15", seen, "0 to 6", "the code of the granularity means nothing");
    }
}

/// Our choice (`fabric` HDM-4): what is refused with and without lock.
fn in_every_case(all: &HdmDecoderRegisters, n: usize, control: HdmControl, wanted: &InUse, found: &mut Refused) {
    let (capability, ways) = (all.capability, wanted.interleave.ways());
    match all.owner {
        DecoderOwner::Bridge if ways > capability.target_count.into() => {
            let most = capability.target_count;
            found.by("FAB-HDM-04", format!("{ways} ways"), format!("at most {most}"), "more ways than targets");
        }
        DecoderOwner::Device if ways.is_multiple_of(3) && !capability.ways_3_6_12 => {
            let text = "the capability does not have 3, 6 and 12 ways";
            found.by("FAB-HDM-04", format!("{ways} ways"), "1, 2, 4, 8 or 16", text);
        }
        DecoderOwner::Device if ways == 16 && !capability.ways_16 => {
            found.by("FAB-HDM-04", "16 ways", "at most 12", "the capability does not have 16 ways");
        }
        _ => (),
    }
    let is_low = control.granularity <= LAST_LOW_GRANULARITY;
    let has_group = if is_low { capability.interleave_11_8 } else { capability.interleave_14_12 };
    if ways > 1 && !has_group {
        let bits = if is_low { "11 to 8" } else { "14 to 12" };
        let (seen, expected) = (format!("code {}", control.granularity.0), format!("one without address bits {bits}"));
        found.by("FAB-HDM-04", seen, expected, "the capability cannot interleave by the bits of the granularity");
    }
    let others = all.decoders.iter().enumerate().filter(|(other, _)| *other != n);
    for (number, other) in others.filter_map(|(number, other)| Some((number, other.in_use?))) {
        if wanted.overlaps(&other) {
            let (seen, expected) = (range(wanted), format!("nothing of {}", range(&other)));
            found.by("FAB-HDM-04", seen, expected, &format!("it overlaps with committed decoder {number}"));
        }
    }
}

/// What a commit with lock checks (`fabric` HDM-2).
fn with_lock(all: &HdmDecoderRegisters, n: usize, wanted: &InUse, found: &mut Refused) {
    const RULE: &str = "FAB-HDM-02";
    match n.checked_sub(1).map(|before| all.decoders[before].in_use) {
        None => (),
        Some(None) => found.by(RULE, "not committed", "committed", "the decoder before is not committed"),
        Some(Some(before)) if u128::from(wanted.base) < before.end() => {
            let (seen, expected) = (format!("{:#x}", wanted.base), format!("{:#x} or more", before.end()));
            found.by(RULE, seen, expected, "the base lies below the end of the decoder before");
        }
        Some(Some(_)) => (),
    }
    if wanted.end() > 1 << 64 {
        found.by(RULE, format!("the end {:#x}", wanted.end()), "at most 2^64", "the range wraps");
    }
    let ways = wanted.interleave.ways();
    if ways.is_multiple_of(3) && !(wanted.size / STEP_BYTES).is_multiple_of(3) {
        let seen = format!("{:#x} bytes", wanted.size);
        found.by(RULE, seen, "a multiple of 768 MiB", "the size cannot be dealt to a multiple of three ways");
    }
    if all.owner == DecoderOwner::Bridge {
        let ports = &wanted.targets[..ways as usize];
        if let Some(second) = (1..ports.len()).find(|&way| ports[..way].contains(&ports[way])) {
            found.by(RULE, format!("port {} twice", ports[second]), "each port once", "two ways have one target");
        }
    }
}

fn range(of: &InUse) -> String {
    format!("[{:#x}, {:#x})", of.base, of.end())
}
