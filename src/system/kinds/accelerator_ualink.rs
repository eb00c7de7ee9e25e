//! `accelerator.ualink`: an accelerator on UALink whose pages lie in tiers, see [`accelerator_tiers`](super::accelerator_tiers).
//!
//! Modelled: up to 16 UALinks in relaxed order. Left out: protection of transactions and UPLIs. A walk: the links are looked at for what the
//! accelerator cannot do; all else is that of tiers.

use super::accelerator_tiers::{METRICS, TierLink, TierLinkFacts, TieredComponent};
use super::ualink_accelerator::protection;
use super::ualink_link::{REQUEST, RESPONSE};
use crate::field::{Config, FieldRange, config};
use crate::kind::{Carried, ComponentKind, ConfigFinding, DomainMember, SitePort, component};
use crate::quantity::Unit;
use scalepool_link::ualink::security::Protection;
use scalepool_nodes::tiers::messages::UALINK_CONTROL_BASE;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "accelerator.ualink",
    about: "accelerator with HBM, a page table and a copy engine, whose pages lie in its HBM, in HBM of the next accelerator or in tier 2 behind a bridge, by a policy; its ports are `port[n]`",
    fields: TieredComponent::<UalinkPorts>::fields,
    read: component::<TieredComponent<UalinkPorts>>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// Its links.
    pub struct UalinkPorts {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "links of the accelerator (ualink §1)";
    }
}

impl TierLink for UalinkPorts {
    const FACTS: TierLinkFacts = TierLinkFacts {
        links: &["ualink"],
        addresses: 1 << 57,
        address_words: "the 57 bits of an address",
        control_base: UALINK_CONTROL_BASE,
        classes: [REQUEST, RESPONSE],
    };

    fn count(&self) -> usize {
        self.ports
    }

    fn check_joined(&self, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        if let Some(port) = ports.iter().find(|port| protection(port) != Protection::Off) {
            let text = format!("found authentication at {}, expected none: it does not check tags", port.path);
            wrong.push(("ports", text));
        }
        let is_strict = |port: &&SitePort| matches!(port.link.carried, Carried::Ualink { strict: true, .. });
        if let Some(port) = ports.iter().find(is_strict) {
            let text = format!(
                "found strict order at {}, expected relaxed: an answer about a page may come behind later ones",
                port.path
            );
            wrong.push(("ports", text));
        }
        wrong
    }
}
