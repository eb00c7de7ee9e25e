//! A switch between homes and holders: the table of the clocked switch, without its queues.
//!
//! Every message goes on at once to where the table sends it. What has no entry is discarded, as in a run, and its request waits for
//! ever.

use super::{Deed, Part};
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort, Effect};
use scalepool_coherence::clocked::switch::SwitchTable;
use scalepool_coherence::content::LineToken;
use scalepool_coherence::message::{Class, Msg};
use scalepool_protocols::cxl::message::PeerRoute;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How the two ends of a way name each other on the links of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchNames {
    /// On messages of the home.
    pub of_home: PeerRoute,
    /// On messages of the holder.
    pub of_holder: PeerRoute,
}

/// The switch. Port n leads to the home, for holder n; behind these ports stand those to the holders, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchPart {
    table: Arc<SwitchTable>,
    ways: Arc<[SwitchNames]>,
}

impl SwitchPart {
    /// A switch with a table whose first link is the trunk, with one way for each holder.
    pub fn new(table: SwitchTable, ways: Vec<SwitchNames>) -> Self {
        Self { table: Arc::new(table), ways: ways.into() }
    }

    fn holders(&self) -> AgentPort {
        self.ways.len() as AgentPort
    }
}

/// It has no state.
impl Hash for SwitchPart {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ways.len().hash(state);
    }
}

impl Part for SwitchPart {
    fn ports(&self) -> AgentPort {
        self.holders() * 2
    }

    fn passes_on(&self, port: AgentPort) -> Option<AgentPort> {
        Some((port + self.holders()) % self.ports())
    }

    fn accepts(&self, _: AgentSite<'_>, _: AgentPort, _: &Msg<LineToken>) -> Accept {
        Accept::Take
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, _: u8, out: &mut AgentOutput<LineToken>) {
        let Deed::Took(port, msg) = *deed else { return };
        let holders = self.holders();
        let names = self.ways[usize::from(port % holders)];
        let (from, route) = match port.checked_sub(holders) {
            None => (0, names.of_home),
            Some(holder) => (usize::from(holder) + 1, names.of_holder),
        };
        let Some((to, message)) = self.table.way(site.config(), from, msg.to_link(route), &mut out.events) else {
            return;
        };
        let port = match to.checked_sub(1) {
            Some(holder) => holders + holder as AgentPort,
            // The home knows a request by the identifier that the switch has given it, and an answer by its UQID.
            None if msg.class() == Class::D2hReq => AgentPort::from(message.route().cache_id),
            None => port - holders,
        };
        out.send(port, msg);
    }

    fn settle(&mut self, _: &Effect<LineToken>, _: &mut dyn FnMut(&mut LineToken)) {}

    fn visit(&mut self, _: &mut dyn FnMut(&mut LineToken)) {}

    fn is_idle(&self) -> bool {
        true
    }
}
