//! Unordered I/O (UIO) in descriptions: decoders that allow it, and accesses of who asks by it.
//!
//! A walk: a decoder becomes a range of addresses, at a device of its own memory and at a switch of the vPPB that it names; accesses
//! get a requester of their own, as requests of UIO have tags beside those of others.

use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::kinds::cxl_root::cycles;
use crate::quantity::Unit;
use scalepool_endpoint::requester::{Requester, RequesterConfig};
use scalepool_endpoint::tlp::TlpForm;
use scalepool_kernel::Clock;
use scalepool_memory::decoder::Arithmetic;
use scalepool_memory::uio::{UIO_WAYS, UioRange};
use scalepool_nodes::io::uio::{LONGEST_UIO_BYTES, UioAccessConfig, UioAccessResult};

config! {
    /// An HDM decoder as UIO sees it, committed by firmware before the run.
    pub struct UioDecoderConfig {
        base: u64 = "0" [Unit::Of("address")] in FieldRange::Int(0, 1 << 51), "first address: a multiple of 256 MiB";
        size: u64 = "256 MiB" [Unit::Bytes] in FieldRange::Int(0, 1 << 51), "bytes of all ways together: a multiple of 256 MiB";
        granularity: u64 = "256" [Unit::Bytes] in FieldRange::Int(0, 1 << 14), "bytes in a row at one device (UIG): a power of two from 256 to 16 KiB";
        ways: u64 = "1" [Unit::Of("devices")] in FieldRange::OneOf(&UIO_WAYS), "devices of the interleave (UIW)";
        position: u64 = "0" [Unit::Of("-")] in FieldRange::Int(0, 15), "place of the device in it (ISP)";
        uio: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "the UIO bit of the decoder; off: requests of UIO go toward the host, and a device refuses them (fabric UIO-02, UIO-03)";
    }
}

impl UioDecoderConfig {
    fn unchecked(&self) -> UioRange {
        let UioDecoderConfig { base, size, granularity, ways, position, uio: allows_uio } = *self;
        UioRange { base, size, granularity, ways, position, arithmetic: Arithmetic::Modulo, allows_uio }
    }

    /// Its range, which was checked.
    pub fn range(&self) -> UioRange {
        self.unchecked()
    }

    /// What is wrong with it, as a finding of a field.
    pub fn check(&self, field: &'static str) -> Option<ConfigFinding> {
        self.unchecked().check().err().map(|error| (field, error.to_string()))
    }
}

config! {
    /// Accesses to memory of devices by UIO.
    pub struct UioStimulus {
        window: u64 = "0" [Unit::Of("address")] in FieldRange::Int(0, 1 << 51), "first address: a multiple of 4. No other requester writes in its window, as each read is compared with what was written";
        window_bytes: u64 = "4 KiB" [Unit::Bytes] in FieldRange::Int(4, 1 << 40), "addresses that are used";
        accesses: u64 = "100" [Unit::Of("accesses")] in FieldRange::Int(0, 1 << 24), "writes and reads";
        bytes: u64 = "64" [Unit::Bytes] in FieldRange::Int(4, LONGEST_UIO_BYTES), "bytes of each: a multiple of 4, at most the smallest payload";
        step: u64 = "64" [Unit::Bytes] in FieldRange::Int(4, 1 << 20), "addresses are multiples of this from the first one on: a multiple of 4; less than `bytes` lets requests cross boundaries";
        start: u64 = "100 us" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it begins: of a device behind a switch when its root complex has brought up what is on the way";
        outstanding: usize = "16" [Unit::Of("requests")] in FieldRange::Int(1, 1024), "requests that can be open; tags have 10 bits";
        timeout: u64 = "50 us" [Unit::Time] in FieldRange::Int(50_000_000_000, 1 << 50), "completion time-out, at least 50 us";
        refused: String = "broken" [Unit::Of("-")] in FieldRange::Words(&["broken", "counted"]), "requests that are completed without success: broken = each breaks a rule; counted = they are counted, for systems that refuse some";
    }
}

impl UioStimulus {
    /// What is wrong with it, as a finding of a field.
    pub fn check(&self, field: &'static str) -> Option<ConfigFinding> {
        let UioStimulus { window, window_bytes, bytes, step, .. } = *self;
        let wrong = [("window", window), ("bytes", bytes), ("step", step)].into_iter().find(|(_, n)| n % 4 != 0);
        let text = match wrong {
            Some((name, found)) => format!("found {name} = {found:#x}, expected a multiple of 4"),
            None if window_bytes < bytes => {
                format!("found window_bytes = {window_bytes}, expected at least {bytes}, the bytes of an access")
            }
            None => return None,
        };
        Some((field, text))
    }

    /// Its accesses on a link, and the requester for them, which begins with this bus, device and function.
    pub fn accesses(
        &self,
        (place, link, form): (&str, u32, TlpForm),
        id: u16,
        clock: Clock,
    ) -> (UioAccessConfig, Requester) {
        let timeout = cycles(self.timeout, clock);
        let config = UioAccessConfig {
            place: place.to_owned(),
            link,
            form,
            window: self.window..self.window.saturating_add(self.window_bytes),
            accesses: self.accesses,
            bytes: self.bytes,
            step: self.step,
            start: cycles(self.start, clock),
            may_be_refused: self.refused == "counted",
        };
        (config, Requester::new(RequesterConfig { id, outstanding: self.outstanding, timeout }))
    }
}

/// Counters of accesses by UIO, in the order of the metrics of a kind: writes, reads, refused as Completer Abort, refused otherwise.
pub(in crate::kinds) fn counted(result: &UioAccessResult) -> [u64; 4] {
    let ([writes, reads], [aborted, unsupported]) = (result.done, result.refused);
    [writes, reads, aborted, unsupported]
}
