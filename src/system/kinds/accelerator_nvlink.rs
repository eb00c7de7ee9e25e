//! `accelerator.nvlink`: a GPU of model profile NVL-M1 whose pages lie in tiers, see [`accelerator_tiers`](super::accelerator_tiers).
//!
//! Modelled: up to 18 NVLinks, to another such GPU or to switches; accesses and copies by READ and WRITE_NONPOSTED, so that each is answered.
//! Left out: posted writes, atomics, multicast and reductions, which [`nvlink_gpu`](super::nvlink_gpu) has. A walk: the links are looked at for
//! where they lead; all else is that of tiers.

use super::accelerator_tiers::{METRICS, TierLink, TierLinkFacts, TieredComponent};
use super::nvlink_gpu::links_lead_wrong;
use super::nvlink_link::{REQUEST, RESPONSE};
use crate::field::{Config, FieldRange, config};
use crate::kind::{ComponentKind, ConfigFinding, DomainMember, PortRole, SitePort, component};
use crate::quantity::Unit;
use scalepool_nodes::nvlink::link_group::LOCAL_BITS;
use scalepool_nodes::tiers::messages::NVLINK_CONTROL_BASE;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "accelerator.nvlink",
    about: "model NVL-M1: GPU with HBM, a page table and a copy engine, whose pages lie in its HBM, in HBM of the next GPU or in tier 2 behind a bridge, by a policy; its ports are `port[n]`",
    fields: TieredComponent::<NvlinkPorts>::fields,
    read: component::<TieredComponent<NvlinkPorts>>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// Its links.
    pub struct NvlinkPorts {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 18), "links of the GPU (nvlink §4: up to 18), as many as the bridge has";
    }
}

impl TierLink for NvlinkPorts {
    const FACTS: TierLinkFacts = TierLinkFacts {
        links: &["nvlink"],
        addresses: 1 << LOCAL_BITS,
        address_words: "the 36 bits of a local address",
        control_base: NVLINK_CONTROL_BASE,
        classes: [REQUEST, RESPONSE],
    };

    fn count(&self) -> usize {
        self.ports
    }

    fn check_joined(&self, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let mut wrong: Vec<ConfigFinding> = links_lead_wrong(ports).map(|text| ("ports", text)).into_iter().collect();
        let is_direct = |port: &&SitePort| port.peer_role == PortRole::Node;
        let direct = ports.iter().filter(is_direct).count();
        if direct > 0 && direct < ports.len() && member.nodes == 2 {
            let text = "found links to another GPU and to a switch, expected all links of a GPU at one other GPU, or all at switches";
            wrong.push(("ports", text.to_owned()));
        }
        wrong
    }
}
