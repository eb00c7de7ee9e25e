//! A switch between homes and holders: the table of the clocked switch, without its queues.
//!
//! Every message goes on at once to where the table sends it. What has no entry is discarded, as in a run, and its request waits for
//! ever.

use super::{Deed, Part};
use crate::systems::setup::Site;
use scalepool_coherence::agent::{Accept, Effect, Out, Port};
use scalepool_coherence::clocked::switch::Table;
use scalepool_coherence::content::Token;
use scalepool_coherence::message::{Class, Msg};
use scalepool_protocols::cxl::message::Route;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How the two ends of a way name each other on the links of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// On messages of the home.
    pub of_home: Route,
    /// On messages of the holder.
    pub of_holder: Route,
}

/// The switch. Port n leads to the home, for holder n; behind these ports stand those to the holders, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    table: Arc<Table>,
    ways: Arc<[Names]>,
}

impl Switch {
    /// A switch with a table whose first link is the trunk, with one way for each holder.
    pub fn new(table: Table, ways: Vec<Names>) -> Self {
        Self { table: Arc::new(table), ways: ways.into() }
    }

    fn holders(&self) -> Port {
        self.ways.len() as Port
    }
}

/// It has no state.
impl Hash for Switch {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ways.len().hash(state);
    }
}

impl Part for Switch {
    fn ports(&self) -> Port {
        self.holders() * 2
    }

    fn passes_on(&self, port: Port) -> Option<Port> {
        Some((port + self.holders()) % self.ports())
    }

    fn accepts(&self, _: Site<'_>, _: Port, _: &Msg<Token>) -> Accept {
        Accept::Take
    }

    fn act(&mut self, site: Site<'_>, deed: &Deed, _: u8, out: &mut Out<Token>) {
        let Deed::Took(port, msg) = *deed else { return };
        let holders = self.holders();
        let mut table = Table::clone(&self.table);
        let names = self.ways[usize::from(port % holders)];
        let (from, route) = match port.checked_sub(holders) {
            None => (0, names.of_home),
            Some(holder) => (usize::from(holder) + 1, names.of_holder),
        };
        let Some((to, message)) = table.way(site.config(), from, msg.to_link(route), &mut out.events) else { return };
        let port = match to.checked_sub(1) {
            Some(holder) => holders + holder as Port,
            // The home knows a request by the identifier that the switch has given it, and an answer by its UQID.
            None if msg.class() == Class::D2hReq => Port::from(message.route().cache_id),
            None => port - holders,
        };
        out.send(port, msg);
    }

    fn settle(&mut self, _: &Effect<Token>, _: &mut dyn FnMut(&mut Token)) {}

    fn visit(&mut self, _: &mut dyn FnMut(&mut Token)) {}

    fn is_idle(&self) -> bool {
        true
    }
}
