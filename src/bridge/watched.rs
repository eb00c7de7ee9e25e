//! What the watcher of a device's lines sees of a bridge.
//!
//! Modelled: the sectors of a cache, and what leaves it and is not under way yet. Without a cache the bridge stores to a line that it owns
//! and gives it back in the same step, so it never has a copy to show; the store is the newest value from then on. A line of a host is shown
//! from the store of an atomic until the host has it. Left out: ownership without bytes, which nobody can read.

use crate::cache::sector::SectorState;
use crate::outbound::OutboundBridge;
use crate::outbound::host_lines::{self, HostLineCopy};
use crate::outbound::write_backs::{WriteBack, WriteBackEnd};
use scalepool_coherence::clocked::making::MakesWatch;
use scalepool_coherence::clocked::node::AgentWatch;
use scalepool_coherence::clocked::sequence::Recorded;
use scalepool_coherence::clocked::watcher::{HomeView, Watched, Watcher, WatcherHandle};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;
use std::sync::{Arc, Mutex};

/// Copies of the lines at one port that are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BridgeLines {
    copies: Vec<(LineAddr, CopyView<CacheLine>)>,
    /// Values that came from a host before their grant.
    early: Vec<(LineAddr, CacheLine)>,
}

impl BridgeLines {
    /// What a bridge has of these lines.
    pub fn of(bridge: &OutboundBridge, port: usize, lines: &[LineAddr]) -> BridgeLines {
        if bridge.is_host(port) {
            return BridgeLines::of_host(bridge, port, lines);
        }
        let copy = |line: &LineAddr| copy(bridge, (port, *line)).map(|copy| (*line, copy));
        BridgeLines { copies: lines.iter().filter_map(copy).collect(), early: Vec::new() }
    }

    /// A line of a host that is owned for the moment of a store.
    pub(crate) fn owned(line: LineAddr, value: CacheLine) -> BridgeLines {
        let copy = CopyView { agent: 0, usable: true, writable: true, dirty: true, value };
        BridgeLines { copies: vec![(line, copy)], early: Vec::new() }
    }

    fn of_host(bridge: &OutboundBridge, port: usize, lines: &[LineAddr]) -> BridgeLines {
        let mut all = BridgeLines::default();
        for &line in lines {
            let (copy, early) = host_lines::seen(bridge, (port, line));
            all.early.extend(early.map(|value| (line, value)));
            all.copies.extend(copy.map(|HostLineCopy { at, value, is_leaving }| {
                let (usable, writable) = (!is_leaving && at.may_load(), !is_leaving && at.may_store());
                (line, CopyView { agent: 0, usable, writable, dirty: at.is_dirty(), value })
            }));
        }
        all
    }
}

fn copy(bridge: &OutboundBridge, place: (usize, LineAddr)) -> Option<CopyView<CacheLine>> {
    let sector = bridge.cache()?.sector(place);
    let leaving = bridge.write_backs().of_line(place);
    // A snoop that takes the line away has it with the MemWr; the sector stands until the Cmp alone.
    let is_taken =
        |leaving: &WriteBack| leaving.is_sent && matches!(leaving.end, WriteBackEnd::Snooped(SectorState::Invalid, ..));
    if leaving.is_some_and(is_taken) {
        return None;
    }
    if !sector.state.is_valid() {
        let leaving = leaving.filter(|leaving| !leaving.is_sent && leaving.has_data())?;
        return Some(CopyView { agent: 0, usable: false, writable: false, dirty: true, value: leaving.line });
    }
    Some(CopyView {
        agent: 0,
        usable: true,
        writable: sector.state != SectorState::Shared,
        dirty: sector.state.is_dirty(),
        value: sector.line,
    })
}

impl MakesWatch for BridgeLines {
    fn watch(watcher: Arc<Mutex<Watcher>>) -> Box<dyn AgentWatch<BridgeLines>> {
        Box::new(WatcherHandle(watcher))
    }

    fn recorded(recorded: Recorded<BridgeLines>) -> Box<dyn AgentWatch<BridgeLines>> {
        Box::new(recorded)
    }
}

impl Watched for BridgeLines {
    fn copy(&self, _: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        self.copies.iter().find(|(of, _)| *of == line).map(|(_, copy)| copy.clone())
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        self.early.iter().find(|(of, _)| *of == line).map(|(_, value)| *value)
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        msg.line().into_iter().collect()
    }
}

/// A bridge at one of its ports as the watcher of the device there knows it.
pub struct PortWatch {
    /// Its number among the nodes that are watched.
    pub node: usize,
    /// The watcher.
    pub watch: Box<dyn AgentWatch<BridgeLines>>,
}
