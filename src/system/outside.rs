//! Components that stand outside by their messages: the model keeps their link ends, a caller stands in their place.
//!
//! Modelled: nothing of its own. Each port has a mailbox with a channel for each class of messages that its link carries, and a
//! module that moves messages between it and the link end. A walk through one component: its mailboxes are made when its ports are
//! known; instead of its modules those of the mailboxes come into its partition, on its clock.

use super::kind::{ComponentPlug, PlaceNode, PortRole, SitePort};
use super::kinds::published;
use super::measured::{ComponentMeasured, Measure};
use crate::metric::metrics;
use scalepool_link::mailbox::{Mailbox, MailboxDirection};
use scalepool_nodes::cxl::MEM_CLASSES;
use scalepool_nodes::cxl::outside::{Outside, OutsideResult};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::Class;
use std::sync::{Arc, Mutex};

metrics! {
    /// What a component counts whose caller exchanges messages, whatever its kind.
    pub static METRICS {
        ARRIVED = "messages arrived" ["messages"] Sum, "messages that a component with external = \"messages\" received from its links";
        SENT = "messages sent" ["messages"] Sum, "messages that a component with external = \"messages\" sent";
    }
}

/// The mailbox of a port with this side of its link.
pub(crate) fn mailbox(port: &SitePort, role: PortRole) -> Mailbox {
    let sends =
        if matches!(role, PortRole::Host | PortRole::HomeMemory | PortRole::Requester | PortRole::SwitchDownstream) {
            Dir::Down
        } else {
            Dir::Up
        };
    let flow = |dir| if dir == sends { MailboxDirection::Sent } else { MailboxDirection::Arriving };
    let (form, _) = port.link.cxl();
    // A switch passes on whatever its links carry; others have no use for more than CXL.mem without coherence.
    let is_switch = matches!(role, PortRole::SwitchUpstream | PortRole::SwitchDownstream);
    let classes = if is_switch { &Class::ALL[..] } else { &MEM_CLASSES[..] };
    let carried = classes.iter().filter(|class| form.layout(**class).is_some());
    Mailbox::new(form, carried.map(|class| (*class, flow(class.dir()))).collect())
}

/// What stands in the place of a component with these mailboxes, by path of the port; and its figures.
pub(crate) fn node(ports: Vec<(String, Mailbox)>) -> (PlaceNode, Measure) {
    let results: Vec<Arc<Mutex<OutsideResult>>> = ports.iter().map(|_| Arc::default()).collect();
    let shared = results.clone();
    let place: PlaceNode = Box::new(move |p, clock, plugs| {
        for (((path, mailbox), plug), result) in ports.into_iter().zip(plugs).zip(shared) {
            let ends = ComponentPlug::coherent(plug);
            p.module(&format!("{path}.outside"), clock, |bind| {
                Outside::new(path, ends.attach_outside(bind), mailbox, result)
            })?;
        }
        Ok(())
    });
    (place, Box::new(move || measured(&results.iter().map(published).collect::<Vec<_>>())))
}

fn measured(ports: &[OutsideResult]) -> ComponentMeasured {
    let moved = |n: usize| ports.iter().map(|port| port.moved[n]).sum();
    ComponentMeasured {
        counts: vec![(&ARRIVED, moved(0)), (&SENT, moved(1))],
        broken: ports.iter().flat_map(|port| port.broken.iter().cloned()).collect(),
        ..ComponentMeasured::default()
    }
}
