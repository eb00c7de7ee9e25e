//! Conservation, message by message: what a GPU sends to another one, or to a switch, is what that one gets.
//!
//! Modelled: for each pair of GPUs, link and channel, and for each flow between a GPU and a switch that reduces, the messages
//! in their order, as a [`Chain`] at both ends. A multicast write counts for each member of its group. The promised order:
//! what one source sends to one destination over one link and channel comes once, unchanged, in that order (`nvlink` §3:
//! nothing is ordered between links and channels). Left out: packets of the link itself.
//!
//! A walk: a GPU enters a message when it goes to its port and when it comes from there; a switch enters those that end or
//! begin in it; when the run is over both ends of each flow are compared.

use crate::PlacedViolation;
use scalepool_fabric::nvlink_switch::crossbar::SWITCH_RID;
use scalepool_link::nvlink::NvlMessage;
use scalepool_link::nvlink::chain::Chain;
use scalepool_link::nvlink::port::CHANNELS;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::wire::Violation;

/// The other end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NvlPeer {
    /// A GPU.
    Gpu(u16),
    /// The switch behind the link.
    Switch,
}

impl NvlPeer {
    /// Who has asked as this requester.
    pub const fn of_requester(rid: u16) -> NvlPeer {
        if rid == SWITCH_RID { NvlPeer::Switch } else { NvlPeer::Gpu(rid) }
    }
}

/// A flow of messages, seen from one end: peer, link, channel by [`CHANNELS`].
pub type NvlFlow = (NvlPeer, usize, usize);

/// What has passed at one end of all its flows.
#[derive(Debug, Clone, Default)]
pub struct NvlLedger {
    /// Sent.
    pub sent: OrderedMap<NvlFlow, Chain>,
    /// Received.
    pub received: OrderedMap<NvlFlow, Chain>,
}

impl NvlLedger {
    /// A message goes.
    pub fn send(&mut self, flow: NvlFlow, message: &NvlMessage) {
        self.sent.entry(flow).or_default().add(message);
    }

    /// A message has come.
    pub fn receive(&mut self, flow: NvlFlow, message: &NvlMessage) {
        self.received.entry(flow).or_default().add(message);
    }
}

/// Compares both ends of all flows between GPUs, by number, and of those to switches; `switch` gives what it has taken in and
/// sent out of itself at a GPU's link and channel.
pub fn compare(gpus: &[&NvlLedger], switch: impl Fn(usize, usize, usize) -> [Chain; 2]) -> Vec<PlacedViolation> {
    let mut broken = Vec::new();
    let mut judge = |from: String, to: String, (link, channel): (usize, usize), sent: Chain, received: Chain| {
        if sent != received {
            let found = match sent.count == received.count {
                true => "others, or in another order".to_owned(),
                false => format!("{} messages", received.count),
            };
            let text = format!(
                "the messages from {from} over link {link} on {:?} have not all come, once and in order",
                CHANNELS[channel]
            );
            let expected = format!("the {} messages sent", sent.count);
            broken.push(PlacedViolation {
                place: to,
                violation: Violation::at_byte("SIM-E2E-04", 0, found, expected, text),
            });
        }
    };
    let name = |gpu: usize| format!("gpu[{gpu}]");
    let found = |chain: Option<&Chain>| chain.copied().unwrap_or_default();
    for (gpu, ledger) in gpus.iter().enumerate() {
        for (&(peer, link, channel), &sent) in &ledger.sent {
            let place = (link, channel);
            match peer {
                NvlPeer::Gpu(to) => {
                    let flow = (NvlPeer::Gpu(gpu as u16), link, channel);
                    let received = found(gpus.get(usize::from(to)).and_then(|peer| peer.received.get(&flow)));
                    judge(name(gpu), name(to.into()), place, sent, received);
                }
                NvlPeer::Switch => judge(name(gpu), "switch".into(), place, sent, switch(gpu, link, channel)[0]),
            }
        }
        for (&(peer, link, channel), &received) in &ledger.received {
            let place = (link, channel);
            match peer {
                // Where something was sent it has been compared.
                NvlPeer::Gpu(from) => {
                    let flow = (NvlPeer::Gpu(gpu as u16), link, channel);
                    if !gpus.get(usize::from(from)).is_some_and(|peer| peer.sent.contains_key(&flow)) {
                        judge(name(from.into()), name(gpu), place, Chain::default(), received);
                    }
                }
                NvlPeer::Switch => {
                    judge("the switch".into(), name(gpu), place, switch(gpu, link, channel)[1], received)
                }
            }
        }
    }
    broken
}
