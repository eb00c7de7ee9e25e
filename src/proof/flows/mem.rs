//! Flows of HDM-DB (`coherence` §3.2, §3.4, §3.5): two hosts and a device.

use super::{ChartedFlow, play};
use crate::systems::mem::{Setup, system};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::DeviceOp;
use scalepool_coherence::mem::options::{BlockAnswer, BlockRelease, MemConfig};
use scalepool_coherence::mem::tables::Copy4::{self, E, I, M, S};
use scalepool_coherence::mem::{HostAccess, HostReq};

fn setup(mem: MemConfig, requests: &[HostReq]) -> Setup {
    Setup {
        requests: requests.to_vec(),
        device: vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict, DeviceOp::Reclaim],
        ..Setup::everything(CoherenceConfig { mem, ..CoherenceConfig::default() }, 2)
    }
}

fn of(name: &'static str, doc: &'static str, setup: Setup, start: [Copy4; 2], script: &[&'static str]) -> ChartedFlow {
    ChartedFlow { name, doc, chart: play(name, system(setup).start_at(&start), script) }
}

fn flow(
    name: &'static str,
    doc: &'static str,
    request: HostReq,
    start: [Copy4; 2],
    script: &[&'static str],
) -> ChartedFlow {
    of(name, doc, setup(MemConfig::default(), &[request]), start, script)
}

/// Poison on its way (`fabric` §1.8, `memory` §6.3): host 1 stores poison, and holds poison where it starts in M.
pub fn poison() -> Vec<ChartedFlow> {
    let poisoned = |name, doc, script: &[&'static str]| {
        let setup = Setup { poisoners: IdSet::of_bits(0b10), ..setup(MemConfig::default(), &[HostReq::RD_ANY]) };
        of(name, doc, setup, [I, M], script)
    };
    vec![
        poisoned(
            "poison-written-back",
            "A poisoned line in M that another host reads: MemWr with poison, and poison in the data that follows.",
            &["host 0: MemRd"],
        ),
        poisoned(
            "poison-device-cache",
            "The device's own cache takes a poisoned line and hands it on.",
            &["device: ReadOwn", "all", "host 0: MemRd"],
        ),
        poisoned(
            "poison-stored-over",
            "A good store of the whole line takes the poison away.",
            &["host 0: MemRd for a store", "all", "host 0: MemWr, keeps I"],
        ),
    ]
}

/// Each request without data of §3.2.
pub fn requests() -> Vec<ChartedFlow> {
    let rd = &["host 0: MemRd"];
    vec![
        flow(
            "memrd-shared",
            "MemRd Shared, nobody else owns the line: Cmp-S and the data.",
            HostReq::RD_SHARED,
            [I, S],
            rd,
        ),
        flow(
            "memrd-any",
            "MemRd Any takes the line from every other host: BISnpInv, BIRspI, then Cmp-E and the data.",
            HostReq::RD_ANY,
            [I, S],
            rd,
        ),
        flow(
            "memrd-any-store",
            "MemRd Any for a store: the store follows the grant at once.",
            HostReq::RD_ANY,
            [I, I],
            &["host 0: MemRd for a store"],
        ),
        flow(
            "memrd-invalid",
            "MemRd Invalid with SnpCur reads the current value; nothing is recorded for the host.",
            HostReq::RD_ONCE,
            [I, M],
            rd,
        ),
        flow(
            "memrd-flush",
            "MemRd Invalid with SnpInv reads the line and empties the caches of the device.",
            HostReq::RD_FLUSH,
            [I, I],
            rd,
        ),
        flow("memrd-noop", "MemRd with MetaField NoOp leaves all records as they are.", HostReq::RD_NOOP, [I, I], rd),
        flow(
            "memrddata",
            "MemRdData gets S or E, as the device likes.",
            HostReq::RD_DATA,
            [I, I],
            &["host 0: MemRdData"],
        ),
        flow("meminv", "MemInv Any makes E of S without data.", HostReq::INV, [S, S], &["host 0: MemInv for a store"]),
        flow(
            "meminvnt",
            "MemInvNT: ownership without data, a write back follows soon.",
            HostReq::INV_NT,
            [I, S],
            &["host 0: MemInvNT for a store"],
        ),
        flow(
            "meminv-flush",
            "MemInv Invalid: memory becomes current, nobody caches the line.",
            HostReq::FLUSH,
            [I, M],
            &["host 0: MemInv"],
        ),
        flow(
            "memclnevct",
            "MemClnEvct gives a clean copy up, so that the filter forgets it.",
            HostReq::CLN_EVCT,
            [E, I],
            &["host 0: MemClnEvct"],
        ),
        flow("memspecrd", "MemSpecRd is a hint without an answer.", HostReq::SPEC_RD, [I, I], &["host 0: MemSpecRd"]),
    ]
}

/// Writes of a dirty line (§3.2).
pub fn writes() -> Vec<ChartedFlow> {
    let write = |name, doc, word| flow(name, doc, HostReq::RD_ANY, [M, I], &[word]);
    vec![
        write("memwr-invalid", "MemWr Invalid: the line is written back, nothing is kept.", "host 0: MemWr, keeps I"),
        write("memwr-shared", "MemWr Shared: the host keeps S.", "host 0: MemWr, keeps S"),
        write("memwr-any", "MemWr Any: the host keeps E.", "host 0: MemWr, keeps E"),
    ]
}

/// Each back-invalidate snoop on each state (§3.4).
pub fn snoops() -> Vec<ChartedFlow> {
    let snoop = |name, doc, state, word| flow(name, doc, HostReq::RD_ANY, [state, I], &[word]);
    let uio = |name, doc, start: [Copy4; 2], op, word| {
        let setup = Setup { device: vec![op], ..setup(MemConfig::default(), &[HostReq::RD_ANY]) };
        of(name, doc, setup, start, &[word])
    };
    vec![
        snoop("bisnpinv-s", "BISnpInv on S: BIRspI.", S, "device: ReadOwn"),
        snoop("bisnpinv-e", "BISnpInv on E: BIRspI.", E, "device: ReadOwn"),
        snoop("bisnpinv-m", "BISnpInv on M is two-phase: MemWr, its Cmp, then BIRspI.", M, "device: ReadOwn"),
        snoop("bisnpdata-e", "BISnpData on E: BIRspS, S stays.", E, "device: ReadShared"),
        snoop("bisnpdata-m", "BISnpData on M: MemWr Shared, its Cmp, then BIRspS.", M, "device: ReadShared"),
        snoop("bisnpcur-e", "BISnpCur on E: BIRspE, nothing changes.", E, "device: ReadOnce"),
        snoop("bisnpcur-m", "BISnpCur on M: the line is written back and E stays.", M, "device: ReadOnce"),
        snoop("reclaim", "The device takes a line back from every host, as before a UIO write.", S, "device: Reclaim"),
        uio(
            "uio-read",
            "A peer on CXL.io reads a line that a host has in M: BISnpCur, its write back, and the completion last.",
            [M, I],
            DeviceOp::UioRead,
            "device: UioRead",
        ),
        uio(
            "uio-write",
            "A peer on CXL.io writes a line that two hosts share: both lose it first.",
            [S, S],
            DeviceOp::UioWrite,
            "device: UioWrite",
        ),
        flow(
            "memrd-shared-from-owner",
            "Another host's M copy: BISnpData, its write back, then Cmp-S.",
            HostReq::RD_SHARED,
            [I, M],
            &["host 0: MemRd"],
        ),
        flow(
            "bisnpinv-two-hosts",
            "The device owns a line that two hosts share: one snoop a host, both answers are awaited.",
            HostReq::RD_ANY,
            [S, S],
            &["device: ReadOwn"],
        ),
        flow(
            "bisnp-passes-memwr",
            "A MemWr on its way passes the open BISnp: the host waits for its Cmp and answers what it kept.",
            HostReq::RD_ANY,
            [M, I],
            &[
                "host 0: MemWr, keeps I",
                "host 1: MemRd",
                "host 1 > device: MemRd Any SnpInv",
                "device > host 0: BISnpInv",
            ],
        ),
        flow(
            "bisnp-meets-memclnevct",
            "A MemClnEvct on its way is a conflict too: the Ack says that it is behind the snoop; BIRspI, and its own Cmp later.",
            HostReq::CLN_EVCT,
            [E, I],
            &["host 0: MemClnEvct", "device: ReadOwn", "device > host 0: BISnpInv"],
        ),
    ]
}

/// Snoops of blocks, and the victim of a full filter (§3.4).
pub fn blocks() -> Vec<ChartedFlow> {
    let block = |answer, release, enable, lines| Setup {
        lines,
        blocks: vec![(DeviceOp::Reclaim, enable)],
        ..setup(MemConfig { block_answer: answer, block_release: release, ..MemConfig::default() }, &[HostReq::RD_ANY])
    };
    let own = ["host 0: MemRd for a store", "all", "host 0: MemRd #2", "all", "device: Reclaim of a block"];
    let small = MemConfig { filter_sets: 1, filter_ways: 1, ..MemConfig::default() };
    vec![
        of(
            "block-two-lines",
            "BISnpInvBlk of two lines, answered line by line: M is written back first.",
            block(BlockAnswer::Lines, BlockRelease::Together, 1, 2),
            [I, I],
            &own,
        ),
        of(
            "block-whole",
            "The same answered once for the block with BIRspIBlk.",
            block(BlockAnswer::Whole, BlockRelease::Together, 1, 2),
            [I, I],
            &own,
        ),
        of(
            "block-four-lines",
            "BISnpInvBlk of four lines of which the host holds one.",
            block(BlockAnswer::WholeIfEqual, BlockRelease::Together, 3, 4),
            [S, I],
            &["device: Reclaim of a block"],
        ),
        of(
            "filter-victim",
            "A filter with one entry: the line in it is taken back before another is tracked.",
            Setup { lines: 2, ..setup(small, &[HostReq::RD_ANY]) },
            [I, I],
            &["host 0: MemRd for a store", "all", "host 1: MemRd #2"],
        ),
    ]
}

/// A snoop that meets a request of its host (§3.5).
pub fn conflicts() -> Vec<ChartedFlow> {
    let wants = || Setup {
        wants: vec![HostAccess::Nothing, HostAccess::Store],
        ..setup(MemConfig::default(), &[HostReq::RD_ANY])
    };
    vec![
        of(
            "biconflict-early",
            "Early conflict: the request has not reached the device. The Ack comes first, so the host gives its copy up and stays in line.",
            wants(),
            [S, I],
            &[
                "host 0: MemRd for a store",
                "host 1: MemRd",
                "host 1 > device: MemRd Any SnpInv",
                "device > host 0: BISnpInv",
                "host 0 > device: BIConflict Invalid NoOp",
                "device > host 0: BIConflictAck",
            ],
        ),
        of(
            "biconflict-late",
            "Late conflict: the grant is under way. It comes before the Ack, so the host uses the line once and then gives it up.",
            wants(),
            [I, I],
            &[
                "host 0: MemRd for a store",
                "host 1: MemRd",
                "host 0 > device: MemRd Any SnpInv",
                "host 1 > device: MemRd Any SnpInv",
                "device > host 0: BISnpInv",
                "host 0 > device: BIConflict Invalid NoOp",
            ],
        ),
        of(
            "no-conflict",
            "The grant came before the snoop: a plain answer after one access, no BIConflict.",
            wants(),
            [I, I],
            &[
                "host 0: MemRd for a store",
                "host 1: MemRd",
                "host 0 > device: MemRd Any SnpInv",
                "device > host 0: CmpE",
                "host 1 > device: MemRd Any SnpInv",
                "device > host 0: BISnpInv",
            ],
        ),
    ]
}
