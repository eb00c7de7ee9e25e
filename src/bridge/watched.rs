//! What the watcher of a device's lines sees of a bridge.
//!
//! Modelled: the bridge stores to a line that it owns and gives it back in the same step, so it never has a copy to show; the store is
//! the newest value from then on. Left out: ownership without bytes, which nobody can read.

use scalepool_coherence::clocked::node::AgentWatch;
use scalepool_coherence::clocked::watcher::{HomeView, Watched};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;

/// The lines of a bridge without a cache: none between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeLines;

impl Watched for BridgeLines {
    fn copy(&self, _: &CoherenceConfig, _: LineAddr) -> Option<CopyView<CacheLine>> {
        None
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn early(&self, _: LineAddr) -> Option<CacheLine> {
        None
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
