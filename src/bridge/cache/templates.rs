//! Conversions that are kept (`bridge` §9.7): what a request was converted to, without its data.
//!
//! Modelled: the key and the lines that a conversion gave, in sets with LRU; what was kept in another epoch of the windows is not found, and leaves
//! its set when others need the place. Left out: windows of class IO, which are never kept. A walk: a source reads lines 1 and 2 of a block; its port, its
//! group, the block, the operation and the lines are looked for; they are there, so the places of both lines and their steps are known
//! without a look at windows, rights and tables.
//!
//! In the mask of touched lines stand those that are covered by a read, or have a byte that is written: nothing is sent for others.

use super::policy::EvictionPolicy;
use super::sets::SetArray;
use crate::flows::{FlowStep, LineOperation};
use crate::window::{BridgeRoute, WindowClass};
use scalepool_coherence::content::LineAddr;

/// How the templates are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateConfig {
    /// Templates, a multiple of the ways.
    pub entries: usize,
    /// Templates of a set.
    pub ways: usize,
}

impl TemplateConfig {
    /// The sheet's numbers (`bridge` §9.7).
    pub const SHEET: TemplateConfig = TemplateConfig { entries: 64 << 10, ways: 8 };

    /// Sets.
    pub fn sets(&self) -> u64 {
        (self.entries / self.ways).max(1) as u64
    }
}

/// What a conversion depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TemplateKey {
    /// Input at which it came.
    pub port: usize,
    /// Group of the source, which has the rights.
    pub group: usize,
    /// Block of 256 bytes: address of accelerators divided by them.
    pub block: u64,
    /// What is done: a write of whole lines alone is another kind than any other write.
    pub operation: LineOperation,
    /// Bit i: something is sent for line i of the block.
    pub touched: u8,
    /// Bit i: line i is written whole.
    pub full: u8,
    /// Epoch of the windows and rights by which it was made.
    pub epoch: u64,
}

/// What a request was converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// CXL port.
    pub port: usize,
    /// What the window is.
    pub class: WindowClass,
    /// The first line of the block on CXL.
    pub first: LineAddr,
    /// Steps of each line of the block without a cache; none: nothing is sent.
    pub steps: [&'static [FlowStep]; 4],
}

impl Template {
    /// Of a route, with the steps of each line.
    pub fn new(route: BridgeRoute, steps: [&'static [FlowStep]; 4]) -> Template {
        let first = LineAddr(LineAddr::of_address(route.address).0 & !3);
        Template { port: route.port, class: route.class, first, steps }
    }
}

/// The templates.
#[derive(Debug, Clone)]
pub struct TemplateStore {
    sets: u64,
    array: SetArray<TemplateKey, Template>,
}

impl TemplateStore {
    /// An empty one.
    pub fn new(config: TemplateConfig) -> TemplateStore {
        TemplateStore { sets: config.sets(), array: SetArray::new(config.ways, EvictionPolicy::Lru) }
    }

    /// The template of a key, which is the one that was used last from now on.
    pub fn look_up(&mut self, key: TemplateKey) -> Option<Template> {
        let place = self.array.find(key.block % self.sets, key)?;
        self.array.used(place, true);
        self.array.get(place).copied()
    }

    /// Keeps a conversion; in a full set the one that was not used for longest leaves.
    pub fn keep(&mut self, key: TemplateKey, template: Template) {
        let set = key.block % self.sets;
        if self.array.find(set, key).is_none()
            && let Some(place) = self.array.way_for(set, |_| true)
        {
            self.array.put(place, key, template);
        }
    }
}
