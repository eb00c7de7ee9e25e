//! Channels between a node, or the place of one that stands outside, and the port of its link: one for each class of messages and
//! direction.

use scalepool_coherence::clocked::linked::{NodeLink, Numbered};
use scalepool_coherence::message::{Class, Dir, ORDER};
use scalepool_kernel::{Binder, BuildError, In, InEnd, Out, OutEnd, PartitionBuilder};
use scalepool_link::classes::{ClassChannels, DamageChannel};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_protocols::cxl::message::{Message, MessageForm};

/// Messages of a class between a node and its port; more wait in the packer of the link or in the node.
const CHANNEL_MESSAGES: u32 = 8;

/// The node's side of the channels.
pub struct NodeEnds {
    rx: Vec<(Class, InEnd<Message>)>,
    tx: Vec<(Class, OutEnd<Numbered>)>,
    tells: Option<OutEnd<LinkStatus>>,
    hears: Option<InEnd<LinkStatus>>,
    damage: Option<InEnd<u64>>,
}

/// The node's side, attached to a module.
pub struct ClassEnds {
    /// Messages that arrive.
    pub rx: Vec<(Class, In<Message>)>,
    /// Messages that it sends, each with its number.
    pub tx: Vec<(Class, Out<Numbered>)>,
}

/// The port's side.
pub struct CoherentPortEnds {
    tx: Vec<(Class, InEnd<Numbered>)>,
    rx: Vec<(Class, OutEnd<Message>)>,
    tells: Option<InEnd<LinkStatus>>,
    hears: Option<OutEnd<LinkStatus>>,
    damage: Option<OutEnd<u64>>,
}

/// What a component exchanges with its link beside messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkExtras {
    /// It may tell its peer statuses beside messages: viral, or hot resets.
    pub tells: bool,
    /// It hears of those that its peer tells.
    pub hears: bool,
    /// It records damage of the line.
    pub hears_damage: bool,
}

/// Channels named `<name>.<class>` for a node that sends in the directions `sends` and receives in the opposite ones, for the
/// classes that `form` has; a switch between switches has both, and a channel each way.
/// `beside`: whether there is one for statuses too, each way, and one for damage of the line. `rx_edges` is the latency from the port in edges of its clock.
///
/// # Errors
/// What the kernel refuses.
pub fn channels(
    p: &mut PartitionBuilder,
    name: &str,
    (sends, beside): (&[Dir], LinkExtras),
    form: MessageForm,
    rx_edges: u32,
) -> Result<(NodeEnds, CoherentPortEnds), BuildError> {
    let mut node = NodeEnds { rx: Vec::new(), tx: Vec::new(), tells: None, hears: None, damage: None };
    let mut port = CoherentPortEnds { tx: Vec::new(), rx: Vec::new(), tells: None, hears: None, damage: None };
    if beside.hears_damage {
        let (from_link, rx) = p.channel(&format!("{name}.damage"), CHANNEL_MESSAGES, rx_edges)?;
        (node.damage, port.damage) = (Some(rx), Some(from_link));
    }
    if beside.tells {
        let (tx, to_link) = p.channel(&format!("{name}.status"), CHANNEL_MESSAGES, 1)?;
        (node.tells, port.tells) = (Some(tx), Some(to_link));
    }
    if beside.hears {
        let (from_link, rx) = p.channel(&format!("{name}.status.received"), CHANNEL_MESSAGES, rx_edges)?;
        (node.hears, port.hears) = (Some(rx), Some(from_link));
    }
    for class in ORDER {
        if form.layout(class).is_none() {
            continue;
        }
        let path = format!("{name}.{}", class.name().to_lowercase().replace(' ', "_"));
        let is_sent = sends.contains(&class.dir());
        if is_sent {
            let (tx, to_link) = p.channel(&path, CHANNEL_MESSAGES, 1)?;
            node.tx.push((class, tx));
            port.tx.push((class, to_link));
        }
        if sends.contains(&class.dir().opposite()) {
            let path = if is_sent { format!("{path}.received") } else { path };
            let (from_link, rx) = p.channel(&path, CHANNEL_MESSAGES, rx_edges)?;
            node.rx.push((class, rx));
            port.rx.push((class, from_link));
        }
    }
    Ok((node, port))
}

impl NodeEnds {
    /// Attaches them to the node; `routes` lead to the peers behind the link, `number` is that of the link in the log, `link` in
    /// traces.
    pub fn attach(
        self,
        bind: &mut Binder,
        routes: Vec<PeerRoute>,
        form: MessageForm,
        (number, link): (u16, u32),
    ) -> NodeLink {
        NodeLink {
            tells: self.tells.map(|end| bind.attach(end)),
            hears: self.hears.map(|end| bind.attach(end)),
            damage: self.damage.map(|end| bind.attach(end)),
            rx: self.rx.into_iter().map(|(class, end)| (class, bind.attach(end).into())).collect(),
            tx: self.tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
            routes,
            form,
            number,
            link,
        }
    }
}

impl NodeEnds {
    /// Attaches them to a module that takes and sends the messages of each class by itself.
    pub fn attach_classes(self, bind: &mut Binder) -> ClassEnds {
        ClassEnds {
            rx: self.rx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
            tx: self.tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
        }
    }
}

impl CoherentPortEnds {
    /// Attaches them to the port.
    pub fn attach(self, bind: &mut Binder) -> ClassChannels {
        ClassChannels {
            tx: self.tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
            rx: self.rx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
            tells: self.tells.map(|end| bind.attach(end)),
            hears: self.hears.map(|end| bind.attach(end)),
            damage: self.damage.map(|end| DamageChannel { channel: bind.attach(end), told: 0 }),
        }
    }
}
