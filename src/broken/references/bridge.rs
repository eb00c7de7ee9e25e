//! References of a bridge: sets of its cache, streams, conversions that are kept, and the lines that may be under way.

use super::machine::{Figure, number, said};
use scalepool_bridge::cache::DataCacheConfig;
use scalepool_bridge::cache::data::{BlockRoom, DataCache, Sector};
use scalepool_bridge::cache::policy::EvictionPolicy;
use scalepool_bridge::cache::sector::SectorState;
use scalepool_bridge::cache::stream::StreamDetector;
use scalepool_bridge::cache::templates::{Template, TemplateConfig, TemplateKey, TemplateStore};
use scalepool_bridge::flows::LineOperation;
use scalepool_bridge::load::IssueWindow;
use scalepool_bridge::window::{BridgeRoute, WindowClass};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_protocols::cxl::cxl256::code::DevLoad;

/// Lines that may be under way behind each answer: `LOAD ..`, a microsecond apart.
pub(super) fn issue_window(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut window = IssueWindow::default();
    let mut told = |(cycle, word): (usize, &&str)| {
        window.told(DevLoad(word.parse().ok()?), cycle as u64, 1);
        Some(vec![number("lines under way at most", window.lines() as u64)])
    };
    words.iter().enumerate().map(&mut told).collect()
}

/// Whether the last block of a source enters the cache: `MOST BLOCK ..`, how many blocks of a stream enter, and what is asked for.
pub(super) fn streams(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (most, blocks) = words.split_first()?;
    let mut streams = StreamDetector::new(most.parse().ok()?);
    let mut asked = |word: &&str| {
        let passes = streams.passes_by(0, word.parse().ok()?, false);
        Some(vec![said("block", passes.into(), if passes { "passes the cache by" } else { "enters the cache" })])
    };
    blocks.iter().map(&mut asked).collect()
}

/// Where a line lies and what leaves for it: `BYTES WAYS BLOCK POLICY LINE ..`, the capacity, the bytes of a block, and the lines that are read.
pub(super) fn cache(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [capacity, ways, block, policy, lines @ ..] = words else { return None };
    let config = DataCacheConfig {
        capacity_bytes: capacity.parse().ok()?,
        ways: ways.parse().ok()?,
        block_bytes: block.parse().ok()?,
        policy: EvictionPolicy::find(policy)?,
        ..DataCacheConfig::SHEET
    };
    let mut cache = DataCache::new(config).ok()?;
    let mut read = |word: &&str| {
        let place = (0, LineAddr(word.parse().ok()?));
        let block = cache.block(place);
        let leaves = match cache.room(place, |_| false) {
            BlockRoom::Free(sectors) => sectors.first().map(|((_, line), _)| line.0),
            BlockRoom::Present | BlockRoom::InUse => None,
        };
        let is_hit = cache.state(place).is_valid();
        if cache.has_block(place) {
            cache.used(place, is_hit);
        } else {
            cache.enter(place, |_| false);
        }
        cache.set_sector(place, Sector { state: SectorState::Valid, line: CacheLine::of([0; 64]) });
        Some(vec![
            number("block", block.number),
            number("set", cache.set(block)),
            match leaves {
                Some(line) => said("leaves", line + 1, format!("line {line}")),
                None => said("leaves", 0, "nothing"),
            },
        ])
    };
    lines.iter().map(&mut read).collect()
}

/// Whether a conversion that was kept is found: `GROUP BLOCK LINES EPOCH`; it was kept for group 0, block 5, line 0 and epoch 0.
pub(super) fn conversion(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [group, block, touched, epoch] = words else { return None };
    let kept =
        TemplateKey { port: 0, group: 0, block: 5, operation: LineOperation::Read, touched: 1, full: 0, epoch: 0 };
    let mut store = TemplateStore::new(TemplateConfig { entries: 16, ways: 2 });
    let route = BridgeRoute { class: WindowClass::Mn, port: 0, address: 0 };
    store.keep(kept, Template::new(route, [&[]; 4]));
    let asked = TemplateKey {
        group: group.parse().ok()?,
        block: block.parse().ok()?,
        touched: touched.parse().ok()?,
        epoch: epoch.parse().ok()?,
        ..kept
    };
    let is_found = store.look_up(asked).is_some();
    Some(vec![vec![said("conversion", is_found.into(), if is_found { "found" } else { "made anew" })]])
}
