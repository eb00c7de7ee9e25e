//! Flows of CXL.cache (`coherence` §2): two devices and a home.

use super::{ChartedFlow, play};
use crate::systems::cache::{ALL_REQUESTS, Setup, system};
use scalepool_coherence::cache::state::CacheLineState::{self, E, I, M, S};
use scalepool_coherence::config::{
    CleanEvictAnswer, CoherenceConfig, ErrorAnswer, ErrorRange, SnpCurOnClean, SnpDataOnM,
};
use scalepool_coherence::ids::IdSet;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

fn with(
    name: &'static str,
    doc: &'static str,
    config: CoherenceConfig,
    start: [CacheLineState; 2],
    script: &[&'static str],
) -> ChartedFlow {
    let menu: Vec<_> = ALL_REQUESTS.iter().copied().chain([D2hReqOpcode::CacheFlushed]).collect();
    let system = system(Setup { core: true, ..Setup::free(config, 2, &menu) }).start_at(&start);
    ChartedFlow { name, doc, chart: play(name, system, script) }
}

fn flow(name: &'static str, doc: &'static str, start: [CacheLineState; 2], script: &[&'static str]) -> ChartedFlow {
    with(name, doc, CoherenceConfig::default(), start, script)
}

fn failing() -> CoherenceConfig {
    let range = ErrorRange { first: 0, last: 63, answer: ErrorAnswer::GoError };
    CoherenceConfig { error_ranges: vec![range], ..CoherenceConfig::default() }
}

/// Device 1 writes poison, and holds poison where it starts in M.
fn poisoned(name: &'static str, doc: &'static str, start: [CacheLineState; 2], script: &[&'static str]) -> ChartedFlow {
    let free = Setup::free(CoherenceConfig::default(), 2, ALL_REQUESTS);
    let system = system(Setup { core: true, poisoners: IdSet::of_bits(0b10), ..free }).start_at(&start);
    ChartedFlow { name, doc, chart: play(name, system, script) }
}

/// Poison on its way (`fabric` §1.8, `memory` §6.3).
pub fn poison() -> Vec<ChartedFlow> {
    vec![
        poisoned(
            "poison-forwarded",
            "A poisoned line in M that a read takes over: the data is poisoned to the home, in memory and to the reader.",
            [I, M],
            &["device 0: RdShared"],
        ),
        poisoned(
            "poison-evicted",
            "DirtyEvict of a poisoned line, then a read: memory gives the poison back.",
            [I, M],
            &["device 1: DirtyEvict", "all", "device 0: RdOwn"],
        ),
        poisoned(
            "poison-part-written",
            "WrInv of a part of a poisoned line: the rest is as bad as before, so memory stays poisoned.",
            [I, M],
            &["device 0: WrInv"],
        ),
        poisoned(
            "poison-overwritten",
            "ItoMWr of the whole line takes the poison away.",
            [I, M],
            &["device 0: ItoMWr"],
        ),
        poisoned(
            "poison-written",
            "A poisoned part poisons the whole line.",
            [S, I],
            &["device 1: WOWrInv", "all", "device 0: RdShared"],
        ),
    ]
}

/// Each request of §2.2.
pub fn requests() -> Vec<ChartedFlow> {
    vec![
        flow(
            "rdcurr",
            "RdCurr reads the value once: H2D Data alone, no GO, nothing is cached or tracked.",
            [I, E],
            &["device 0: RdCurr"],
        ),
        flow(
            "rdshared",
            "RdShared makes the owner share; its dirty line goes to memory and to the requester.",
            [I, M],
            &["device 0: RdShared"],
        ),
        flow("rdany", "RdAny gets E when nobody else holds the line.", [I, I], &["device 0: RdAny"]),
        flow("rdany-shared", "RdAny gets S beside another holder.", [I, E], &["device 0: RdAny"]),
        flow(
            "rdown",
            "RdOwn takes the line from every holder; the store that waits makes M of E.",
            [I, S],
            &["device 0: RdOwn, a store waits"],
        ),
        with(
            "rdown-dirty",
            "With `grant_dirty` the home hands a dirty line over with GO-M instead of writing it to memory.",
            CoherenceConfig { grant_dirty: true, ..CoherenceConfig::default() },
            [I, M],
            &["device 0: RdOwn"],
        ),
        flow(
            "rdownnodata",
            "RdOwnNoData makes E of an S copy that keeps its bytes; there is no data.",
            [S, S],
            &["device 0: RdOwnNoData, a store waits"],
        ),
        flow(
            "clflush",
            "CLFlush takes the line from every cache; a dirty copy goes to memory.",
            [I, M],
            &["device 0: CLFlush"],
        ),
        flow(
            "cacheflushed",
            "CacheFlushed says that the whole cache is empty; the home forgets the device.",
            [I, I],
            &["device 0: CacheFlushed"],
        ),
        flow(
            "itomwr",
            "ItoMWr writes a whole line: GO_WritePull when the others have given it up, then the data.",
            [I, S],
            &["device 0: ItoMWr"],
        ),
        flow("wrcur", "WrCur writes a whole line over a dirty copy elsewhere.", [I, M], &["device 0: WrCur"]),
        flow(
            "wrinv",
            "WrInv is strongly ordered: WritePull, the data, and GO-I when the write is done.",
            [I, S],
            &["device 0: WrInv"],
        ),
        flow(
            "wowrinv",
            "WOWrInv is weakly ordered: Fast_GO_WritePull, the data, ExtCmp when all see it.",
            [I, S],
            &["device 0: WOWrInv"],
        ),
        flow("wowrinvf", "WOWrInvF is WOWrInv of a whole line.", [I, E], &["device 0: WOWrInvF"]),
        flow(
            "cleanevict",
            "CleanEvict of E: GO_WritePull_Drop, the home does not want the data.",
            [E, I],
            &["device 0: CleanEvict"],
        ),
        with(
            "cleanevict-pulled",
            "CleanEvict of E with `clean_evict = \"pull\"`: GO_WritePull and the data.",
            CoherenceConfig { clean_evict: CleanEvictAnswer::Pull, ..CoherenceConfig::default() },
            [E, I],
            &["device 0: CleanEvict"],
        ),
        flow(
            "cleanevictnodata",
            "CleanEvictNoData only updates what the home tracks.",
            [S, S],
            &["device 0: CleanEvictNoData"],
        ),
        flow(
            "dirtyevict",
            "DirtyEvict of M: GO_WritePull and the line, never a Drop.",
            [M, I],
            &["device 0: DirtyEvict"],
        ),
        with(
            "rdown-error",
            "GO-Err on a read: the data is all ones, may be used once and is not cached.",
            failing(),
            [I, I],
            &["device 0: RdOwn"],
        ),
        with(
            "rdcurr-error",
            "RdCurr has no GO: the error is in the head of the data.",
            failing(),
            [I, I],
            &["device 0: RdCurr"],
        ),
        with(
            "wowrinv-error",
            "GO_ERR_WritePull: the data is sent and discarded, ExtCmp still ends the write.",
            failing(),
            [I, I],
            &["device 0: WOWrInv"],
        ),
    ]
}

/// Each snoop on each state (§2.3).
pub fn snoops() -> Vec<ChartedFlow> {
    let config = CoherenceConfig::default;
    vec![
        flow("snpdata-e", "SnpData on E: RspSHitSE, S stays.", [I, E], &["device 0: RdShared"]),
        flow("snpdata-m", "SnpData on M: RspSFwdM and the line, S stays.", [I, M], &["device 0: RdAny"]),
        with(
            "snpdata-m-invalid",
            "SnpData on M with `snp_data_on_m = \"invalid\"`: RspIFwdM, nothing stays.",
            CoherenceConfig { snp_data_on_m: SnpDataOnM::Invalid, ..config() },
            [I, M],
            &["device 0: RdAny"],
        ),
        flow("snpinv-s", "SnpInv on S: RspIHitSE.", [I, S], &["device 0: RdOwn"]),
        flow("snpinv-e", "SnpInv on E: RspIHitSE.", [I, E], &["device 0: RdOwn"]),
        flow("snpinv-m", "SnpInv on M: RspIFwdM and the line.", [I, M], &["device 0: RdOwn"]),
        flow(
            "snpinv-i",
            "SnpInv on a copy that was dropped in silence: RspIHitI.",
            [I, S],
            &["device 1: drops its copy", "device 0: RdOwn"],
        ),
        flow("snpcur-e", "SnpCur on E: RspVHitV, nothing changes.", [I, E], &["device 0: RdCurr"]),
        with(
            "snpcur-e-forward",
            "SnpCur on E with `snp_cur_on_clean = \"forward\"`: RspVFwdV, the data is for the requester only.",
            CoherenceConfig { snp_cur_on_clean: SnpCurOnClean::Forward, ..config() },
            [I, E],
            &["device 0: RdCurr"],
        ),
        flow(
            "snpcur-m",
            "SnpCur on M: RspVFwdV and the line, M stays and memory is not written.",
            [I, M],
            &["device 0: RdCurr"],
        ),
        flow("core-read", "A read of the host's core snoops the owner with SnpData.", [M, I], &["home: core reads"]),
        flow(
            "core-write",
            "A write of the host's core takes the line from every device.",
            [S, S],
            &["home: core writes"],
        ),
    ]
}

/// Orders of messages that need care (§2.4 to §2.7).
pub fn races() -> Vec<ChartedFlow> {
    vec![
        flow(
            "data-before-go",
            "The data of a read before its GO: it may be used once, only the GO says how it is cached.",
            [I, I],
            &[
                "device 0: RdOwn, a store waits",
                "device 0 > home: RdOwn",
                "home > device 0: Data",
                "home > device 0: GO-E",
            ],
        ),
        flow(
            "snoop-before-data",
            "A snoop between GO and data is answered at once in the granted state; the line follows when it is here.",
            [I, I],
            &[
                "device 0: RdOwn, a store waits",
                "device 1: RdOwn",
                "device 0 > home: RdOwn",
                "home > device 0: GO-E",
                "device 1 > home: RdOwn",
                "home > device 0: SnpInv",
                "home > device 0: Data",
            ],
        ),
        flow(
            "snoop-before-go",
            "A snoop before any GO finds nothing: the read stays pending.",
            [S, I],
            &[
                "device 0: drops its copy",
                "device 1: RdOwn",
                "device 0: RdShared",
                "device 1 > home: RdOwn",
                "home > device 0: SnpInv",
            ],
        ),
        flow(
            "rdownnodata-lost",
            "Two upgrades: the second loses its copy to SnpInv, gets E without bytes, gives it up and reads.",
            [S, S],
            &[
                "device 0: RdOwnNoData, a store waits",
                "device 1: RdOwnNoData, a store waits",
                "device 0 > home: RdOwnNoData",
                "home > device 1: SnpInv",
            ],
        ),
        flow(
            "stale-dirtyevict",
            "DirtyEvict hit by SnpInv: the snoop takes the line, the pull that follows gets Bogus data.",
            [M, I],
            &["device 0: DirtyEvict", "device 1: RdOwn", "device 1 > home: RdOwn", "home > device 0: SnpInv"],
        ),
        flow(
            "stale-dirtyevict-shared",
            "DirtyEvict hit by SnpData: memory is current, S is evicted, the data is Bogus.",
            [M, I],
            &["device 0: DirtyEvict", "device 1: RdShared", "device 1 > home: RdShared", "home > device 0: SnpData"],
        ),
        flow(
            "dirtyevict-read",
            "DirtyEvict hit by SnpCur is not stale: nothing changed, the data is not Bogus.",
            [M, I],
            &["device 0: DirtyEvict", "device 1: RdCurr", "device 1 > home: RdCurr", "home > device 0: SnpCur"],
        ),
        flow(
            "stale-cleanevict",
            "CleanEvict hit by SnpInv: the answer drops what is no longer there.",
            [E, I],
            &["device 0: CleanEvict", "device 1: RdOwn", "device 1 > home: RdOwn", "home > device 0: SnpInv"],
        ),
        flow(
            "stale-cleanevictnodata",
            "CleanEvictNoData hit by SnpInv still ends with GO-I.",
            [S, S],
            &[
                "device 0: CleanEvictNoData",
                "device 1: RdOwnNoData",
                "device 1 > home: RdOwnNoData",
                "home > device 0: SnpInv",
            ],
        ),
        flow(
            "two-owners",
            "Two RdOwn: the home serves one at a time, the first owner does its store before it gives the line up.",
            [I, I],
            &["device 0: RdOwn, a store waits", "device 1: RdOwn, a store waits"],
        ),
    ]
}
