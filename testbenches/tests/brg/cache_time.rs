//! The conversion cache on a clock (`bridge` §11): sums of latencies, exact to the cycle, with a fixed latency and with HBM behind it.

use super::common::*;
use super::latency::{CHANNEL, MEMORY, Ran, run_of};
use scalepool::bridge::cache::templates::TemplateConfig;
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::timing::BridgeTiming;
use scalepool::bridge::window::WindowClass;
use scalepool::memory::backend::{DramMedia, Media, MemoryTiming};
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::{DramConfig, DramMap, preset};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::unpack::Transfer;

const SHEET: BridgeTiming = BridgeTiming::SHEET;
/// Cycles of an access with a fixed latency.
const HBM: u64 = 37;

fn with_templates(config: OutboundConfig) -> OutboundConfig {
    OutboundConfig { templates: Some(TemplateConfig::SHEET), ..config }
}

/// Cycles in the bridge of each request on an idle system, from its port in to its port out; half a microsecond apart.
fn cycles(config: OutboundConfig, memory: Option<MemoryTiming>, timing: BridgeTiming, asks: &[Transfer]) -> Vec<u64> {
    let at = |n: usize| 10 + 500 * n as u64;
    let asks: Vec<_> = asks.iter().enumerate().map(|(n, ask)| (at(n), tagged(ask.clone(), n as u16))).collect();
    let Ran { responses, result, .. } = run_of((config, memory), timing, asks, false);
    assert_eq!(result.broken, []);
    let told = |(seen, response): &(u64, Transfer)| {
        assert_eq!(rsp(response).status, Status::OKAY);
        seen - at(rsp(response).tag.into()) - 2 * CHANNEL
    };
    responses.iter().map(told).collect()
}

fn data(class: WindowClass, timing: BridgeTiming, asks: &[Transfer]) -> Vec<u64> {
    cycles(cached(class, SMALL), Some(MemoryTiming::fixed(HBM)), timing, asks)
}

/// A hit passes the way in, the lookup, the memory of the cache, the answer and the way out; a miss passes what it passes without a cache.
#[test]
fn bridge_hits_and_misses_are_the_sums_of_their_parts() {
    let hit = SHEET.deframe_cycles + SHEET.lookup_cycles + HBM + SHEET.response_cycles + SHEET.frame_cycles;
    assert_eq!(hit, 17 + HBM);
    let asks = [read(BASE, 16), read(BASE, 16), write_full(BASE, 1, 1), add(ReqCmd::AtomicR, BASE, 1)];
    let of_mc = data(WindowClass::Mc, SHEET, &asks);
    // S has to become M first: another trip, without data.
    assert_eq!(of_mc, [34 + MEMORY, hit, 34 + MEMORY, hit + SHEET.alu_cycles]);
    assert_eq!(data(WindowClass::Mn, SHEET, &asks[..3]), [34 + MEMORY, hit, hit]);
    // A line that is written whole does not have to be fetched.
    assert_eq!(data(WindowClass::Mn, SHEET, &[write_full(BASE, 1, 1), read(BASE, 16)]), [hit, hit]);
    // Four lines in the cache are read at once.
    assert_eq!(data(WindowClass::Mn, SHEET, &[write_full(BASE, 4, 1), read(BASE, 64)]), [hit, hit]);
    let computed = data(WindowClass::Mc, SHEET, &[add(ReqCmd::AtomicR, BASE, 1)]);
    assert_eq!(computed, [34 + MEMORY + SHEET.alu_cycles]);
}

/// Each stage counts as often as it is passed, and no other one does.
#[test]
fn a_stage_more_is_a_cycle_more() {
    let asks = [read(BASE, 16), read(BASE, 16)];
    let base = data(WindowClass::Mc, SHEET, &asks);
    let more = |timing| {
        let with = data(WindowClass::Mc, timing, &asks);
        [with[0] - base[0], with[1] - base[1]]
    };
    assert_eq!(more(BridgeTiming { deframe_cycles: SHEET.deframe_cycles + 1, ..SHEET }), [2, 1]);
    assert_eq!(more(BridgeTiming { lookup_cycles: SHEET.lookup_cycles + 1, ..SHEET }), [1, 1]);
    assert_eq!(more(BridgeTiming { convert_cycles: SHEET.convert_cycles + 1, ..SHEET }), [1, 0]);
    assert_eq!(more(BridgeTiming { template_cycles: SHEET.template_cycles + 1, ..SHEET }), [0, 0]);
    assert_eq!(more(BridgeTiming { response_cycles: SHEET.response_cycles + 1, ..SHEET }), [1, 1]);
    assert_eq!(more(BridgeTiming { frame_cycles: SHEET.frame_cycles + 1, ..SHEET }), [2, 1]);
}

/// A victim is given back before the miss leaves: one more trip, and for a dirty one the read of its bytes.
#[test]
fn a_victim_takes_a_trip_of_its_own() {
    let trip = SHEET.frame_cycles + MEMORY + SHEET.answer_cycles();
    let next = |n: u64| BASE + 512 * n;
    let clean: Vec<Transfer> = (0..3).map(|n| read(next(n), 16)).collect();
    // What is given back was not converted, so it leaves before the miss would have.
    let before = SHEET.deframe_cycles + SHEET.lookup_cycles;
    let miss = SHEET.frame_cycles + MEMORY + SHEET.answer_cycles() + SHEET.frame_cycles;
    assert_eq!(data(WindowClass::Mc, SHEET, &clean)[2], before + trip + miss);
    let dirty: Vec<Transfer> = (0..3).map(|n| write_full(next(n), 1, 1)).collect();
    assert_eq!(data(WindowClass::Mc, SHEET, &dirty)[2], before + HBM + trip + miss);
}

/// Stores that are written through are answered as others are.
#[test]
fn writing_through_costs_the_request_nothing() {
    let asks = [read(BASE, 16), write_full(BASE, 1, 1)];
    let of = |stores| {
        let config = cached(WindowClass::Mn, DataCacheConfig { stores, ..SMALL });
        cycles(config, Some(MemoryTiming::fixed(HBM)), SHEET, &asks)
    };
    assert_eq!(of(StorePolicy::Through), of(StorePolicy::Back));
}

/// A kept conversion takes the place of lookup and conversion; with lines as well, that of the conversion alone, behind their lookup.
#[test]
fn a_kept_conversion_saves_its_stages() {
    let asks = [read(BASE, 16), read(BASE, 16)];
    let templates = cycles(with_templates(config(WindowClass::Mc)), None, SHEET, &asks);
    assert_eq!(templates, [34 + MEMORY, 25 + MEMORY]);
    let slow = BridgeTiming { template_cycles: SHEET.template_cycles + 1, ..SHEET };
    assert_eq!(cycles(with_templates(config(WindowClass::Mc)), None, slow, &asks), [34 + MEMORY, 26 + MEMORY]);
    let next = |n: u64| read(BASE + 512 * n, 16);
    let both = with_templates(cached(WindowClass::Mn, SMALL));
    let asks = [next(0), next(0), next(1), next(2), next(0)];
    let hit = 17 + HBM;
    let kept = 34 - SHEET.convert_cycles + MEMORY;
    let miss = 34 + MEMORY;
    assert_eq!(cycles(both, Some(MemoryTiming::fixed(HBM)), SHEET, &asks), [miss, hit, miss, miss, kept]);
}

/// Tags in HBM: one access before everything else, hit or miss.
#[test]
fn brg_chc_16_p() {
    let config = cached(WindowClass::Mn, DataCacheConfig { tags_in_hbm: true, ..SMALL });
    let asks = [read(BASE, 16), read(BASE, 16)];
    let memory = Some(MemoryTiming::fixed(HBM));
    // The conversion of a miss goes on meanwhile.
    let miss = SHEET.deframe_cycles + SHEET.lookup_cycles + HBM.max(SHEET.convert_cycles) + 18 + MEMORY;
    assert_eq!(cycles(config, memory, SHEET, &asks), [miss, 17 + 2 * HBM]);
}

/// Tags in SRAM cost no access.
#[test]
fn brg_chc_16_n() {
    let count = |tags_in_hbm| {
        let mut bench = Bench::new(cached(WindowClass::Mn, DataCacheConfig { tags_in_hbm, ..SMALL }));
        bench.whole(read(BASE, 16));
        bench.whole(read(BASE, 16));
        bench.bridge.cache_counts().hbm_accesses
    };
    assert_eq!([count(false), count(true)], [2, 4], "a fill and a hit, and the tags of both");
}

/// Cycles in the bridge of reads of blocks at these cycles, behind reads that have brought them in, with HBM3-6400 behind the cache whose
/// rows follow one another in a bank. Every access begins at an edge of both clocks.
fn hbm_cycles(blocks: &[(u64, u64)]) -> Vec<u64> {
    let preset = preset::find("hbm3_6400").expect("a preset");
    let dram = DramConfig { refresh: DramRefresh::Off, map: DramMap::ChRaBaRoCo, ..DramConfig::new(preset) };
    let media = DramMedia::new(dram, (1_000_000, 1), false).expect("a memory");
    let memory = MemoryTiming { media: Media::Dram(Box::new(media)), ..MemoryTiming::fixed(0) };
    // Block n lies 512 n bytes from the first one.
    let config = cached(WindowClass::Mn, DataCacheConfig { capacity_bytes: 1 << 20, ..SMALL });
    let first = blocks.iter().enumerate().map(|(n, (_, block))| (11 + 300 * n as u64, *block));
    let asks: Vec<(u64, u64)> = first.chain(blocks.iter().map(|(at, block)| (*at, *block))).collect();
    let of = |(n, (at, block)): (usize, &(u64, u64))| (*at, tagged(read(BASE + 256 * block, 16), n as u16));
    let Ran { responses, .. } = run_of((config, Some(memory)), SHEET, asks.iter().enumerate().map(of).collect(), false);
    let told = responses.iter().map(|(seen, response)| (rsp(response).tag, seen));
    told.filter(|(tag, _)| usize::from(*tag) >= blocks.len())
        .map(|(tag, seen)| seen - asks[usize::from(tag)].0 - 2 * CHANNEL - 17)
        .collect()
}

/// Cycles of 1 ns that cover so many clocks of HBM3-6400 and its controller.
fn with_controller(clocks: u64) -> u64 {
    (clocks * 625).div_ceil(1000) + 20
}

/// HBM3-6400 behind the cache: a hit on an open row takes both bursts of it, 13.75 + 2.5 ns, and 20 ns of controller (bridge §11), rounded
/// up to the clock; a closed row is opened before.
#[test]
fn brg_lat_04_p() {
    let (rcd, open) = (31, 20 + 4 + 2);
    assert_eq!(with_controller(open), 37, "36.25 ns");
    let reads = [(2011, 0), (2111, 0)];
    assert_eq!(hbm_cycles(&reads), [with_controller(rcd + open), with_controller(open)]);
}

/// Another row of the bank is closed before.
#[test]
fn brg_lat_04_n() {
    let (rp, rcd, open) = (26, 31, 20 + 4 + 2);
    let reads = [(2011, 0), (2061, 2)];
    assert_eq!(hbm_cycles(&reads), [with_controller(rcd + open), with_controller(rp + rcd + open)]);
}
