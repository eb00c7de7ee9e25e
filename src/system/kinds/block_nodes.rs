//! Nodes that read and write blocks over XLink, as components have them, see [`scalepool_nodes::blocks`].
//!
//! Modelled: a node on the links that a description gives to its component, UALink or NVLink, all of one protocol. Left out: stations and
//! protection of UALink. A walk: the protocol of the links says which ledger there is and what traces show; when the component is placed, its
//! plugs become the ends of the node.

use super::ualink_accelerator::place_port;
use crate::kind::{Carried, ComponentPlug, NodeLedger, SitePort};
use scalepool_kernel::{Binder, BuildError, PartitionBuilder};
use scalepool_nodes::blocks::nvlink::NvlinkBlocks;
use scalepool_nodes::blocks::ualink::UalinkBlocks;
use scalepool_nodes::blocks::{BlockNode, BlockNodeConfig};
use scalepool_nodes::nvlink::gpu::{self, LinkEnds};
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_nodes::ualink::accelerator::{self, AcceleratorPortEnds};
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::port::Tamper;
use scalepool_trace::PlaceKind;
use std::sync::{Arc, Mutex};

/// A node that is still to be placed, by the protocol of its links.
pub(super) enum BlockNodeSite {
    /// On UALink.
    Ualink(Arc<Mutex<UalLedger>>),
    /// On NVLink.
    Nvlink(Arc<Mutex<NvlLedger>>),
}

/// Makes the node, with the module that has it.
type MakeNode = Box<dyn FnOnce(&mut Binder<'_>) -> Box<dyn BlockNode>>;

impl BlockNodeSite {
    /// A node with these ports, at least one, all of one protocol.
    pub fn new(ports: &[SitePort]) -> BlockNodeSite {
        match ports[0].link.carried {
            Carried::Nvlink { .. } => BlockNodeSite::Nvlink(Arc::default()),
            _ => BlockNodeSite::Ualink(Arc::default()),
        }
    }

    /// What it shows in traces and waves.
    pub fn shows(&self) -> PlaceKind {
        match self {
            BlockNodeSite::Ualink(_) => accelerator::SHOWS,
            BlockNodeSite::Nvlink(_) => gpu::SHOWS,
        }
    }

    /// What it sends and takes.
    pub fn ledger(&self) -> NodeLedger {
        match self {
            BlockNodeSite::Ualink(ledger) => NodeLedger::Ualink(ledger.clone()),
            BlockNodeSite::Nvlink(ledger) => NodeLedger::Nvlink(ledger.clone()),
        }
    }

    /// Puts its ports into a partition; `name` is that of its component.
    ///
    /// # Errors
    /// A name that the kernel refuses.
    pub fn place(
        self,
        p: &mut PartitionBuilder,
        name: &str,
        plugs: Vec<ComponentPlug>,
        config: BlockNodeConfig,
    ) -> Result<MakeNode, BuildError> {
        match self {
            BlockNodeSite::Ualink(ledger) => {
                let mut ends = Vec::new();
                for (n, plug) in plugs.into_iter().enumerate() {
                    let (socket, flit) = plug.ualink();
                    ends.push(place_port(p, name, n, (*socket, flit), None, Tamper::default())?);
                }
                Ok(Box::new(move |bind| {
                    let ports = ends.into_iter().map(|(tx, rx)| AcceleratorPortEnds {
                        tx: tx.map(|end| bind.attach(end)),
                        rx: rx.map(|end| bind.attach(end)),
                    });
                    Box::new(UalinkBlocks::new(config, ports.collect(), ledger))
                }))
            }
            BlockNodeSite::Nvlink(ledger) => Ok(Box::new(move |bind| {
                let links = plugs.into_iter().map(|plug| plug.nvlink().0).map(|plug| LinkEnds {
                    tx: plug.tx.map(|end| bind.attach(end)),
                    rx: plug.rx.map(|end| bind.attach(end)),
                });
                Box::new(NvlinkBlocks::new(config, links.collect(), ledger))
            })),
        }
    }
}
