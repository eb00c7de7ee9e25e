//! DL messages of one end, followed from outside (`ualink` §6): what the end has to say of those that come.
//!
//! Modelled: answers without a question, channel negotiation, TL rates of the peer, UART credits and reset. Left out: deadlines,
//! for the time of a flit is not known, and the layouts, which the decoder of the stream judges.
//!
//! A walk: [`MessageMonitor::sent`] notes what the end asks and tells; [`MessageMonitor::received`] hands what comes to the
//! same state machines as the end has.

use super::{Basic, Channels, Deadlines, DlMessageFinding, UART_CHANNEL, Uart};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{DeviceType, MsgClass};
use scalepool_protocols::ualink::message;
use scalepool_protocols::ualink::stream::{DlItem, DlWord};
use scalepool_protocols::wire::LayoutDef;

/// Follows the DL messages of both directions.
#[derive(Debug, Clone)]
pub(in crate::ualink) struct MessageMonitor {
    basic: Basic,
    channels: Channels,
    uart: Uart,
}

impl MessageMonitor {
    /// Beside an end that sends in a direction: `down` is that of an accelerator, whose peer is a switch.
    pub fn new(dir: Dir) -> MessageMonitor {
        // Nothing is late here.
        let deadlines = Deadlines { answer_flits: u64::MAX, long_flits: u64::MAX };
        let peer = if dir == Dir::Down { DeviceType::Switch } else { DeviceType::Accelerator };
        MessageMonitor {
            basic: Basic::following(peer, deadlines),
            channels: Channels::new(deadlines),
            uart: Uart::new(0, deadlines),
        }
    }

    /// A flit has come, perhaps while a replay is waited for.
    pub fn flit_received(&mut self, replayed: bool) {
        self.uart.flit_received(replayed);
    }

    /// DWords that the end has sent for the first time.
    pub fn sent(&mut self, words: &[DlWord]) {
        for (def, bits) in words.iter().filter_map(listed) {
            match class(bits) {
                MsgClass::Basic => self.basic.sent(def, bits),
                MsgClass::Uart => self.uart.sent(def, bits),
                _ => self.channels.sent(bits),
            }
        }
    }

    /// DWords that the end has taken, and what it has to say of them.
    pub fn received(&mut self, words: &[DlWord]) -> Vec<DlMessageFinding> {
        let mut found = Vec::new();
        for (def, bits) in words.iter().filter_map(listed) {
            let online = self.channels.is_online(UART_CHANNEL);
            match class(bits) {
                MsgClass::Basic => self.basic.receive(def, bits, 0, &mut found),
                MsgClass::Uart => self.uart.receive(def, bits, online, &mut found),
                _ => self.channels.receive(bits, 0, &mut found),
            }
        }
        found
    }
}

/// A message that a receiver does not ignore.
fn listed(word: &DlWord) -> Option<(&'static LayoutDef, u32)> {
    match word.item {
        DlItem::Message(def) if !message::is_ignored(word.word) => Some((def, word.word)),
        _ => None,
    }
}

fn class(word: u32) -> MsgClass {
    MsgClass((word >> 2 & 0xf) as u8)
}
