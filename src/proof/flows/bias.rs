//! Flows of HDM-D (`coherence` §3.3): a device with a bias table and its host.

use super::{ChartedFlow, play};
use crate::systems::bias::{Setup, system};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::HostReq;
use scalepool_coherence::mem::tables::Copy4::{self, E, I, M, S};

/// `start`: state of the device, of the host.
fn flow(
    name: &'static str,
    doc: &'static str,
    host: HostReq,
    start: [Copy4; 2],
    script: &[&'static str],
) -> ChartedFlow {
    let setup = Setup { host: vec![host], ..Setup::everything(CoherenceConfig::default()) };
    ChartedFlow { name, doc, chart: play(name, system(setup).start_at(&start), script) }
}

/// Poison on its way (`fabric` §1.8, `memory` §6.3): the host stores poison, and holds poison where it starts in M.
pub fn poison() -> Vec<ChartedFlow> {
    let poisoned = |name, doc, start: [Copy4; 2], script: &[&'static str]| {
        let everything = Setup::everything(CoherenceConfig::default());
        let setup = Setup { host: vec![HostReq::RD_ANY], poisoners: IdSet::of_bits(0b10), ..everything };
        ChartedFlow { name, doc, chart: play(name, system(setup).start_at(&start), script) }
    };
    vec![
        poisoned(
            "hdmd-poison-to-device",
            "The host writes a poisoned line back; the device reads poison from its own memory and keeps it.",
            [I, M],
            &["device: RdOwn", "all", "device: CleanEvict"],
        ),
        poisoned(
            "hdmd-poison-part",
            "WrInv of a part of a poisoned line: memory stays poisoned.",
            [I, M],
            &["device: WrInv"],
        ),
    ]
}

/// Each request of the device, in host bias.
pub fn requests() -> Vec<ChartedFlow> {
    let request = |name, doc, start, word| flow(name, doc, HostReq::RD_ANY, start, &[word]);
    vec![
        request("hdmd-rdcurr", "RdCurr: MemRdFwd says what the host keeps; nothing flips.", [I, E], "device: RdCurr"),
        request("hdmd-rdshared", "RdShared: the host keeps S, MemRdFwd Shared.", [I, M], "device: RdShared"),
        request("hdmd-rdany", "RdAny: MemRdFwd Shared beside a host copy.", [I, E], "device: RdAny"),
        request(
            "hdmd-rdany-flip",
            "RdAny without a host copy: MemRdFwd Invalid, the line is in device bias.",
            [I, I],
            "device: RdAny",
        ),
        request(
            "hdmd-rdown",
            "RdOwn: the host writes its dirty line back, waits for the Cmp, then MemRdFwd Invalid flips the bias.",
            [I, M],
            "device: RdOwn",
        ),
        request("hdmd-rdownnodata", "RdOwnNoData: as RdOwn, from an S copy.", [S, S], "device: RdOwnNoData"),
        request("hdmd-clflush", "CLFlush: the host gives its copy up, nothing flips.", [I, M], "device: CLFlush"),
        request("hdmd-wowrinv", "WOWrInv: MemWrFwd, then the device writes its own memory.", [I, M], "device: WOWrInv"),
        request("hdmd-wowrinvf", "WOWrInvF: as WOWrInv, a whole line.", [I, S], "device: WOWrInvF"),
        request(
            "hdmd-itomwr",
            "ItoMWr takes the way of CXL.cache: the host pulls the data and writes it over CXL.mem.",
            [I, S],
            "device: ItoMWr",
        ),
        request("hdmd-wrcur", "WrCur: as ItoMWr.", [I, I], "device: WrCur"),
        request("hdmd-wrinv", "WrInv: as ItoMWr, with GO-I when the write is done.", [I, M], "device: WrInv"),
        request("hdmd-dirtyevict", "An evict of device memory needs no message.", [M, I], "device: DirtyEvict"),
    ]
}

/// Flips both ways, and the order that they need.
pub fn flips() -> Vec<ChartedFlow> {
    let rd = &["host: MemRd"];
    vec![
        flow(
            "flip-to-device",
            "To device bias: RdOwn, then stores and evicts without a message.",
            HostReq::RD_ANY,
            [I, S],
            &["device: RdOwn", "all", "device: Store", "device: DirtyEvict", "device: RdOwn"],
        ),
        flow(
            "flip-to-host",
            "Back to host bias: MemRd Any takes the device's dirty copy.",
            HostReq::RD_ANY,
            [M, I],
            rd,
        ),
        flow(
            "flip-to-host-shared",
            "MemRd Shared: both may keep S, the line is in host bias.",
            HostReq::RD_SHARED,
            [E, I],
            rd,
        ),
        flow("flip-to-host-meminv", "MemInv Any: host bias without data.", HostReq::INV, [E, I], &["host: MemInv"]),
        flow(
            "hdmd-read-current",
            "MemRd of the current value leaves the bias with the device.",
            HostReq::RD_NOOP_CUR,
            [M, I],
            rd,
        ),
        flow(
            "hdmd-request-behind-forward",
            "A MemRd behind the MemRdFwd of its line: the device owns the line first, then gives it back.",
            HostReq::RD_ANY,
            [I, S],
            &["device: RdOwn", "device > host: RdOwn", "host: MemRd"],
        ),
        flow(
            "hdmd-crossing",
            "RdOwn and MemRd cross: the host's request is served at once, the device's afterwards.",
            HostReq::RD_ANY,
            [I, I],
            &["device: RdOwn", "host: MemRd", "host > device: MemRd Any SnpInv"],
        ),
    ]
}
