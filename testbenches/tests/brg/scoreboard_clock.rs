//! The clocked bridge under the scoreboard that watches bridges of somebody else: windows of class CC, with and without a cache of lines.

use super::common::*;
use super::latency::run_snooped;
use super::scoreboard::found;
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::timing::BridgeTiming;
use scalepool::bridge::window::WindowClass;
use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint};
use scalepool::memory::backend::MemoryTiming;
use scalepool_protocols::cxl::cxl256::code::H2dReqOpcode;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::unpack::Transfer;
use serde_json::{Value, json};

/// Requests of a run.
const REQUESTS: u64 = 100;
/// Cycles of an access to the memory of the cache.
const HBM_CYCLES: u64 = 37;

/// Reads, writes and atomics of lines of six blocks, which are more than [`SMALL`] holds. Without a cache many are under way at once, and each
/// fifth comes with the one before; with one they come one after the other, since the model chooses what leaves the cache when a request comes,
/// and a bridge with stages some cycles later.
fn asks(is_cached: bool) -> Vec<(u64, Transfer)> {
    let request = |n: u64| {
        let line = BASE + 256 * (n * 5 % 6) + 64 * (n * 3 % 4);
        let request = match n % 7 {
            0 | 4 => read(line, 16),
            1 => read(line & !255, 64),
            2 => write_full(line, 1, n as u8),
            3 => write_part(line, 0xff00, n as u8),
            5 => add(ReqCmd::AtomicR, line, n),
            _ => write_full(line & !255, 4, n as u8),
        };
        let at = if is_cached { 400 * n } else { 20 * (n - u64::from(n % 5 == 4)) };
        (10 + at, tagged(request, n as u16))
    };
    (0..REQUESTS).map(request).collect()
}

/// All messages at both sides of such a bridge, and how its scoreboard is built.
fn watched(cache: Option<StorePolicy>) -> (ReferenceConfig, Vec<BridgeEvent>) {
    let cache = cache.map(|stores| DataCacheConfig { stores, ..SMALL });
    watched_of(cache, asks(cache.is_some()), Vec::new())
}

/// Snoops of the host, so many cycles apart, of lines of the six blocks, each kind in turn.
fn snoops(apart: u64, until: u64) -> Vec<(u64, H2dReqOpcode, u64)> {
    let kinds = [H2dReqOpcode::SnpInv, H2dReqOpcode::SnpData, H2dReqOpcode::SnpCur];
    let snoop = |n: u64| (15 + apart * n, kinds[n as usize % 3], OUT + 256 * (n * 7 % 6) + 64 * (n * 5 % 4));
    (0..until / apart).map(snoop).collect()
}

/// The same of any cache, requests and snoops.
fn watched_of(
    cache: Option<DataCacheConfig>,
    asks: Vec<(u64, Transfer)>,
    snoops: Vec<(u64, H2dReqOpcode, u64)>,
) -> (ReferenceConfig, Vec<BridgeEvent>) {
    let class = WindowClass::Cc;
    let outbound = cache.map_or_else(|| config(class), |cache| cached(class, cache));
    let memory = cache.map(|_| MemoryTiming::fixed(HBM_CYCLES));
    let ran = run_snooped((outbound, memory), BridgeTiming::SHEET, asks, snoops, false);
    assert_eq!(ran.result.broken, []);
    assert_eq!(ran.responses.len(), REQUESTS as usize);
    let window = json!({ "class": "CC", "base": BASE, "size": SIZE, "out_base": OUT });
    let mut form = json!({
        "protocol": "ualink", "direction": "outbound", "own": OWN, "windows": [window], "entries": 64, "write_buffers": 64,
    });
    if let Some(DataCacheConfig { stores, capacity_bytes, ways, .. }) = cache {
        let stores = if stores == StorePolicy::Through { "through" } else { "back" };
        form["cache"] = json!({ "capacity_bytes": capacity_bytes, "ways": ways, "stream_blocks": 0, "stores": stores });
    }
    (ReferenceConfig::from_json(&form).expect("a configuration"), ran.passed)
}

const CACHES: [Option<StorePolicy>; 3] = [None, Some(StorePolicy::Back), Some(StorePolicy::Through)];

/// What is asked of the host, what it answers, and what accelerators get: all as the reference model says, in its time or out of it.
#[test]
fn a_clocked_bridge_that_asks_a_host_is_right() {
    for cache in CACHES {
        let (config, events) = watched(cache);
        let sent = events.iter().filter(|event| event.point == BridgePoint::Sent).count();
        assert!(sent > REQUESTS as usize, "{cache:?}: {sent}");
        assert_eq!(found(config, &events), Vec::<&str>::new(), "{cache:?}");
    }
}

/// With room for all lines, requests overlap as they do without a cache; snoops take lines, or make them clean, between their lookup and their
/// answer, and in the time of the memory of the cache. Where lines give way, requests come one after the other, and snoops between them.
#[test]
fn a_clocked_bridge_is_right_when_requests_and_snoops_overlap() {
    for stores in [StorePolicy::Back, StorePolicy::Through] {
        let roomy = DataCacheConfig { stores, capacity_bytes: 2 * SMALL.capacity_bytes, ways: 4, ..SMALL };
        for (cache, is_cached, apart) in [
            (Some(roomy), false, 11),
            (Some(roomy), false, 37),
            (Some(DataCacheConfig { stores, ..SMALL }), true, 61),
            (None, false, 13),
        ] {
            let asks = asks(is_cached);
            let last = asks.last().map_or(0, |(at, _)| *at);
            let (config, events) = watched_of(cache, asks, snoops(apart, last));
            let told = |layout: &str| events.iter().filter(|event| event.message.layout() == layout).count() as u64;
            let [snooped, answered] = ["cxl256.h2d_req", "cxl256.d2h_rsp"].map(told);
            assert!(snooped > 30 && snooped == answered, "{cache:?}: {snooped} snoops, {answered} answered");
            assert_eq!(found(config, &events), Vec::<&str>::new(), "{cache:?}, {apart} apart");
        }
    }
}

/// The same bridge with one wrong byte in what a host pulls, in each of these runs.
#[test]
fn a_clocked_bridge_that_writes_a_wrong_byte_is_found() {
    for cache in CACHES {
        let (config, mut events) = watched(cache);
        let is_pulled = |event: &BridgeEvent| event.message.layout() == "cxl256.d2h_data";
        let mut pulled: Vec<&mut BridgeEvent> = events.iter_mut().filter(|event| is_pulled(event)).collect();
        let middle = pulled.len() / 2;
        let mut form: Value = pulled[middle].message.to_json();
        let data = form["data"].as_str().expect("data").to_owned();
        let other = if data.starts_with('0') { "1" } else { "0" };
        form["data"] = format!("{other}{}", &data[1..]).into();
        pulled[middle].message = BridgeMessage::from_json(&form).expect("a message");
        assert!(found(config, &events).contains(&"BRG-INT-02"), "{cache:?}");
    }
}
