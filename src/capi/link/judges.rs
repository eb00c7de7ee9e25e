//! What judges the messages of a link end beside its link layer: coherence and transactions.
//!
//! Transactions of CXL.cache are judged together with coherence: single writer, data and order are what they are about.
//!
//! A passive end shows the messages of both directions as its watcher takes them out of the units. An active end shows what it
//! queues, with the number of the unit that it sends next, and what its caller takes.

use super::config::{CapiEndConfig, JudgedTransactions};
use super::event::CapiEvent;
use scalepool::coherence::passive::{PassiveConfig, PassiveMonitor};
use scalepool::link::event::{LinkEvent, Severity};
use scalepool::link::hook::Direction;
use scalepool::link::watch::WatchedContent;
use scalepool::transactions::cxl_cache::{CxlCacheConfig, CxlCacheTransactions};
use scalepool::transactions::cxl_io::{CxlIoConfig, CxlIoTransactions};
use scalepool::transactions::cxl_mem::{CxlMemConfig, CxlMemTransactions};
use scalepool::transactions::nvlink::{NvlTransactionConfig, NvlTransactions};
use scalepool::transactions::ualink::{UalTransactionConfig, UalTransactions};
use scalepool::transactions::{AnswerLimit, TransactionChecker, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;

/// The judges of one link end.
pub struct Judges {
    /// The direction in which the end sends.
    dir: Dir,
    coherence: Option<PassiveMonitor>,
    transactions: Option<TransactionChecker>,
    config: CapiEndConfig,
}

/// Name of the link in texts.
const LINK: &str = "link";

/// The checker that a configuration asks for, before the first message.
fn checker(config: &CapiEndConfig) -> Option<TransactionChecker> {
    let CapiEndConfig { all_writers_seen, unique_tags, strict, .. } = *config;
    let limit = config.answer_flits.map(|time| AnswerLimit { time, unit: "flit clocks", steps: 1 });
    let names = vec![LINK.to_owned()];
    Some(match config.transactions? {
        JudgedTransactions::CxlMem(region) => {
            let config = CxlMemConfig { region, all_writers_seen, unique_tags, limit };
            TransactionChecker::CxlMem(Box::new(CxlMemTransactions::new(config, names)))
        }
        JudgedTransactions::CxlCache => {
            TransactionChecker::CxlCache(Box::new(CxlCacheTransactions::new(CxlCacheConfig { limit }, names)))
        }
        JudgedTransactions::CxlIo => {
            let config = CxlIoConfig { all_writers_seen, limit };
            TransactionChecker::CxlIo(Box::new(CxlIoTransactions::new(config, names)))
        }
        JudgedTransactions::Ualink => {
            let config = UalTransactionConfig { all_writers_seen, strict, limit };
            TransactionChecker::Ualink(Box::new(UalTransactions::new(config, names)))
        }
        JudgedTransactions::Nvlink => {
            let config = NvlTransactionConfig { all_writers_seen, limit };
            TransactionChecker::Nvlink(Box::new(NvlTransactions::new(config, names)))
        }
    })
}

fn event(way: Direction, unit: u64, violation: Violation) -> CapiEvent {
    CapiEvent::of(way, LinkEvent { severity: Severity::Protocol, unit, violation })
}

impl Judges {
    /// Those that a configuration asks for.
    pub fn new(config: &CapiEndConfig) -> Judges {
        let all_writers_seen = config.all_writers_seen;
        let of_cache = (config.transactions == Some(JudgedTransactions::CxlCache)).then(PassiveConfig::default);
        let coherence = config.coherence.or(of_cache.map(|default| default.region));
        let coherence = coherence.map(|region| PassiveConfig { all_writers_seen, region });
        Judges {
            dir: config.dir,
            coherence: coherence.map(|config| PassiveMonitor::new(config, vec![LINK.to_owned()])),
            transactions: checker(config),
            config: config.clone(),
        }
    }

    /// Whether an active end has to show its messages.
    pub fn wants_messages(&self) -> bool {
        self.transactions.is_some()
    }

    /// A unit passes that has this number in its direction.
    pub fn unit(&mut self, way: Direction, unit: u64) {
        let dir = self.dir_of(way);
        if let Some(transactions) = &mut self.transactions {
            transactions.unit(0, dir, unit);
        }
    }

    /// A message passes, in the unit with this number of its direction: the events.
    pub fn see(&mut self, way: Direction, unit: u64, message: &WatchedContent) -> Vec<CapiEvent> {
        let dir = self.dir_of(way);
        match message {
            WatchedContent::Cxl(message) => {
                let broken = self.coherence.as_mut().map(|monitor| monitor.see(0, message)).unwrap_or_default();
                let mut events: Vec<CapiEvent> =
                    broken.iter().map(|found| event(way, unit, found.violation())).collect();
                let found = self.transactions.as_mut().map(|checker| checker.see_cxl(0, unit, message));
                events.extend(self.events(found));
                events
            }
            WatchedContent::SpareData { slot } => {
                let found = self.transactions.as_mut().map(|checker| checker.see_spare_data(0, dir, unit, *slot));
                self.events(found)
            }
            WatchedContent::Tlp { bytes, form } => {
                let found = self.transactions.as_mut().map(|checker| checker.see_tlp(0, dir, unit, bytes, *form));
                self.events(found)
            }
            WatchedContent::Ualink(transfer) => {
                let found = self.transactions.as_mut().map(|checker| checker.see_ualink(0, dir, unit, transfer));
                self.events(found)
            }
            WatchedContent::Nvlink(packet) => {
                let found = self.transactions.as_mut().map(|checker| checker.see_nvlink(0, dir, unit, packet));
                self.events(found)
            }
            WatchedContent::Restart => {
                self.transactions = checker(&self.config);
                Vec::new()
            }
        }
    }

    /// The flit clock.
    pub fn clock(&mut self, now: u64) -> Vec<CapiEvent> {
        let found = self.transactions.as_mut().map(|transactions| transactions.clock(now));
        self.events(found)
    }

    /// Nothing passes any more.
    pub fn finish(&mut self) -> Vec<CapiEvent> {
        let found = self.transactions.as_mut().map(TransactionChecker::finish);
        self.events(found)
    }

    fn events(&self, found: Option<Vec<TransactionFinding>>) -> Vec<CapiEvent> {
        let way = |dir| if dir == self.dir { Direction::Tx } else { Direction::Rx };
        let event = |f: TransactionFinding| CapiEvent { tag: f.tag, ..event(way(f.dir), f.unit, f.violation) };
        found.into_iter().flatten().map(event).collect()
    }

    fn dir_of(&self, way: Direction) -> Dir {
        match way {
            Direction::Tx => self.dir,
            Direction::Rx => self.dir.opposite(),
        }
    }
}
