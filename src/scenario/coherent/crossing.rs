//! A switch between a hub and its leaves, and the device that the leaves of a star use directly behind one.

use super::build::{Build, Links, Wants};
use super::links::Kind;
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use crate::settings::Settings;
use scalepool_coherence::clocked::node::{Node, NodeConfig, NodeResult, Watch};
use scalepool_coherence::clocked::program::Program;
use scalepool_coherence::clocked::switch::{Switch, SwitchResult, Table};
use scalepool_coherence::clocked::uio::UioPeer;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::Line;
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::wire::{Route, layouts};
use scalepool_kernel::{BuildError, ClockId, PartitionBuilder, Simulation};
use scalepool_protocols::cxl::message::Form;
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Port of a fabric at which leaf `leaf` of a hub stands.
pub(super) const fn leaf_port(leaf: usize) -> u16 {
    1 + leaf as u16
}

/// Port of a fabric at which a hub stands, above those of its leaves.
pub(super) const fn hub_port(hub: usize) -> u16 {
    0x100 + hub as u16
}

/// Both routes between a hub and a leaf behind its switch: of the hub, of the leaf. A device does not know its CacheID.
pub(super) const fn switched_routes(hub: usize, leaf: usize) -> [Route; 2] {
    let (above, below) = (hub_port(hub), leaf_port(leaf));
    let bi_id = hub as u16;
    [
        Route { cache_id: leaf as u8, ld_id: 0, bi_id, spid: above, dpid: below },
        Route { cache_id: 0, ld_id: 0, bi_id, spid: below, dpid: above },
    ]
}

/// A table by ports of a fabric for a hub with so many leaves.
pub(super) fn by_ports(hub: usize, leaves: usize) -> Table {
    Table::Ports(std::iter::once(hub_port(hub)).chain((0..leaves).map(leaf_port)).collect())
}

/// A switch before it is built.
pub(super) struct Crossing {
    /// Its place.
    pub name: String,
    /// Builds its link to the hub.
    pub trunk: Build,
    /// How that link spells messages.
    pub form: Form,
    /// How it finds its ways.
    pub table: Table,
    /// Messages.
    pub tap: Tap,
    /// What it leaves behind.
    pub result: Arc<Mutex<SwitchResult>>,
}

impl Crossing {
    /// Builds it below the ends of the leaves' links; gives back the hub's end of the trunk. `at_hub` is the hub's
    /// position at a link.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn build(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        at_hub: usize,
        leaves: Vec<NodeEnds>,
        leaf_form: Form,
        config: CoherenceConfig,
    ) -> Result<NodeEnds, BuildError> {
        let Crossing { name, trunk, form, table, tap, result } = self;
        let [above, below] = trunk(p)?;
        let (hub, own) = if at_hub == 0 { (above, below) } else { (below, above) };
        p.module(&name, clock, |bind| {
            let mut links = vec![own.attach(bind, Vec::new(), form, 0)];
            links.extend(leaves.into_iter().map(|end| end.attach(bind, Vec::new(), leaf_form, 0)));
            Switch::new(links, table, config, tap, result)
        })?;
        Ok(hub)
    }
}

/// Name of the device that leaves use directly.
pub(super) const TARGET: &str = "target.dcoh";

/// A device with HDM-DB that the leaves of a star use directly, over a fabric of its own; leaf n is its holder n.
pub(super) struct Target {
    links: VecDeque<Build>,
    crossing: Crossing,
    form: Form,
    tap: Tap,
    result: Arc<Mutex<NodeResult<Dcoh<Line>, UioPeer>>>,
}

/// What is read of a target when the run is over.
pub(super) struct TargetResults {
    /// Its node.
    pub node: Arc<Mutex<NodeResult<Dcoh<Line>, UioPeer>>>,
    /// Its switch.
    pub switch: Arc<Mutex<SwitchResult>>,
}

impl Target {
    /// For so many leaves, with links of this kind whose numbers begin at `first`; they are added to `all`.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(
        link: &dyn Kind,
        leaves: usize,
        first: usize,
        all: &mut Links,
        sim: &mut Simulation,
        hub: &mut Hub,
        settings: &Settings,
    ) -> Result<(Target, TargetResults), BuildError> {
        let form = link.spec().form;
        let tap = hub.tap(TARGET, PlaceKind::Messages(layouts(form)));
        let mut links = VecDeque::new();
        for leaf in 0..leaves {
            let places = [format!("dev[{leaf}].peer"), format!("fabric.port[{leaf}]")];
            let wants = Wants { index: first + leaf, places, faults: Default::default(), settings };
            links.push_back(all.add(link.strand(sim, hub, wants)?));
        }
        let places = ["fabric.trunk".to_owned(), "target.link".to_owned()];
        let wants = Wants { index: first + leaves, places, faults: Default::default(), settings };
        let trunk = all.add(link.strand(sim, hub, wants)?);
        let switch_tap = hub.tap("fabric", PlaceKind::Messages(layouts(form)));
        let (node, switch) = (Arc::default(), Arc::default());
        let crossing = Crossing {
            name: "fabric".to_owned(),
            trunk,
            form,
            table: by_ports(0, leaves),
            tap: switch_tap,
            result: Arc::clone(&switch),
        };
        let target = Target { links, crossing, form, tap, result: Arc::clone(&node) };
        Ok((target, TargetResults { node, switch }))
    }

    /// Builds the link of the next leaf, which is number `leaf`; gives back the leaf's end with its form and its route,
    /// and the end for [`Target::build`].
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn link(
        &mut self,
        p: &mut PartitionBuilder,
        leaf: usize,
    ) -> Result<((NodeEnds, Form, Route), NodeEnds), BuildError> {
        let build = self.links.pop_front().expect("there is a link for each leaf");
        let [own, end] = build(p)?;
        Ok(((own, self.form, switched_routes(0, leaf)[1]), end))
    }

    /// Builds the switch and the device.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn build(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        ends: Vec<NodeEnds>,
        config: CoherenceConfig,
        watch: Option<Box<dyn Watch<Dcoh<Line>>>>,
    ) -> Result<(), BuildError> {
        let Target { crossing, form, tap, result, .. } = self;
        let leaves = ends.len();
        let routes = (0..leaves).map(|leaf| switched_routes(0, leaf)[0]).collect();
        let end = crossing.build(p, clock, 1, ends, form, config.clone())?;
        let agent = Dcoh::new(&config, leaves as u8);
        let core = UioPeer::new(Vec::new(), Program::default());
        p.module(TARGET, clock, |bind| {
            let links = vec![end.attach(bind, routes, form, 0)];
            let reductions = Vec::new();
            Node::new(NodeConfig { number: 0, agent, core, config, reductions, links, tap, watch }, result)
        })
    }
}
