//! Components that stand outside by their messages: the model keeps their link ends, a caller stands in their place.
//!
//! Modelled: nothing of its own. Each port has a mailbox with a channel for each class of messages that its link carries, and a
//! module that moves messages between it and the link end. A walk through one component: its mailboxes are made when its ports are
//! known; instead of its modules those of the mailboxes come into its partition, on its clock.

use super::kind::{Carried, CoherenceProtocol, ComponentPlug, CxlSide, PlaceNode, PortRole, SitePort};
use super::kinds::published;
use super::kinds::ualink_accelerator::place_port;
use super::measured::{ComponentMeasured, Measure};
use crate::metric::metrics;
use scalepool_kernel::{BuildError, ClockId, PartitionBuilder};
use scalepool_link::mailbox::{Mailbox, MailboxDirection, MailboxKind};
use scalepool_link::nvlink::port::CHANNELS;
use scalepool_nodes::cxl::MEM_CLASSES;
use scalepool_nodes::outside::{Outside, OutsideChannels, OutsideIn, OutsideOut, OutsideResult};
use scalepool_nodes::ualink::port::Tamper;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::Class;
use scalepool_protocols::ualink::packed::PackedTransfer;
use std::sync::{Arc, Mutex};

metrics! {
    /// What a component counts whose caller exchanges messages, whatever its kind.
    pub static METRICS {
        ARRIVED = "messages arrived" ["messages"] Sum, "messages that a component with external = \"messages\" received from its links";
        SENT = "messages sent" ["messages"] Sum, "messages that a component with external = \"messages\" sent";
    }
}

/// Classes of CXL.mem with back-invalidation.
const COHERENT_MEM: [Class; 6] =
    [Class::M2sReq, Class::M2sRwd, Class::M2sBirsp, Class::S2mNdr, Class::S2mDrs, Class::S2mBisnp];
/// Classes of CXL.cache.
const CACHE: [Class; 6] = [Class::D2hReq, Class::D2hRsp, Class::D2hData, Class::H2dReq, Class::H2dRsp, Class::H2dData];

/// Classes that a port with this side of a CXL link has a use for.
fn classes(role: PortRole) -> &'static [Class] {
    match role {
        // A switch passes on whatever its links carry.
        PortRole::SwitchUpstream | PortRole::SwitchDownstream => &Class::ALL,
        PortRole::Coherent(CoherenceProtocol::HdmDb, _) => &COHERENT_MEM,
        PortRole::Coherent(CoherenceProtocol::Cache, _) => &CACHE,
        _ => &MEM_CLASSES,
    }
}

/// Whether messages of a class can be carried by a link of this kind for one who stands outside: TLPs of CXL.io have no channel.
pub(crate) fn has_channels(carried: &Carried) -> bool {
    !matches!(carried, Carried::CxlIo { .. } | Carried::Flits { .. })
}

/// The mailbox of a port with this side of its link.
pub(crate) fn mailbox(port: &SitePort, role: PortRole) -> Mailbox {
    use MailboxDirection::{Arriving, Sent};
    match port.link.carried {
        Carried::Ualink { .. } => {
            let classes = [PackedTransfer::Request, PackedTransfer::Response];
            let channel = |flow| classes.map(|class| (MailboxKind::Ualink(class), flow));
            Mailbox::new([Arriving, Sent].into_iter().flat_map(channel).collect())
        }
        Carried::Nvlink { .. } => {
            let channel = |flow| (0..CHANNELS.len()).map(move |n| (MailboxKind::Nvlink(n), flow));
            Mailbox::new([Arriving, Sent].into_iter().flat_map(channel).collect())
        }
        _ => {
            use PortRole::{HomeMemory, Host, Requester, SwitchDownstream};
            let is_upstream = matches!(role, Host | HomeMemory | Requester | SwitchDownstream)
                || matches!(role, PortRole::Coherent(_, CxlSide::Host));
            let sends = if is_upstream { Dir::Down } else { Dir::Up };
            let flow = |dir| if dir == sends { Sent } else { Arriving };
            let (form, _) = port.link.cxl();
            let carried = classes(role).iter().filter(|class| form.layout(**class).is_some());
            Mailbox::new(carried.map(|class| (MailboxKind::Cxl(form, *class), flow(class.dir()))).collect())
        }
    }
}

/// Puts the place of a component at a port into a partition.
fn place_at(
    p: &mut PartitionBuilder,
    clock: ClockId,
    plug: ComponentPlug,
    (path, mailbox): (String, Mailbox),
    result: Arc<Mutex<OutsideResult>>,
) -> Result<(), BuildError> {
    let name = format!("{path}.outside");
    // The mailbox has what arrives first, each class by its place in the link.
    match plug {
        ComponentPlug::Ualink(socket, flit) => {
            let (tx, rx) = place_port(p, &path, 0, (*socket, flit), None, Tamper::default())?;
            p.module(&name, clock, |bind| {
                let rx = rx.into_iter().enumerate().map(|(n, end)| (n, OutsideIn::Ualink(bind.attach(end)))).collect();
                let tx = tx.into_iter().zip(2..).map(|(end, n)| (n, OutsideOut::Ualink(bind.attach(end)))).collect();
                Outside::new(path, OutsideChannels { rx, tx }, mailbox, result)
            })
        }
        ComponentPlug::Nvlink(plug, _) => p.module(&name, clock, |bind| {
            let rx = plug.rx.into_iter().enumerate();
            let tx = plug.tx.into_iter().zip(CHANNELS.len()..);
            let rx = rx.map(|(n, end)| (n, OutsideIn::Nvlink(bind.attach(end)))).collect();
            let tx = tx.map(|(end, n)| (n, OutsideOut::Nvlink(bind.attach(end)))).collect();
            Outside::new(path, OutsideChannels { rx, tx }, mailbox, result)
        }),
        plug => {
            let ends = plug.coherent();
            p.module(&name, clock, |bind| {
                let channels = OutsideChannels::of_classes(ends.attach_classes(bind), &mailbox);
                Outside::new(path, channels, mailbox, result)
            })
        }
    }
}

/// What stands in the place of a component with these mailboxes, by path of the port; and its figures.
pub(crate) fn node(ports: Vec<(String, Mailbox)>) -> (PlaceNode, Measure) {
    let results: Vec<Arc<Mutex<OutsideResult>>> = ports.iter().map(|_| Arc::default()).collect();
    let shared = results.clone();
    let place: PlaceNode = Box::new(move |p, clock, plugs| {
        for ((port, plug), result) in ports.into_iter().zip(plugs).zip(shared) {
            place_at(p, clock, plug, port, result)?;
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
