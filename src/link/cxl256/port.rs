//! A 256B [`End`] with CXL.cachemem behind a port of the kernel: messages of agents in its own spelling, its signals, its
//! open work.
//!
//! A link in L0 carries a flit in every flit clock. NOPs that change nothing are left out, see [`End::wakes_at`]: an end
//! sends in the flit clocks in which it has something to say, whenever it is asked. So no fault hits the NOPs of a link at
//! rest.

use super::cachemem::Cachemem;
use super::client::{Client, Part, Urgent};
use super::config::{CachememConfig, LinkConfig};
use super::end::End;
use super::fault::WireFlit;
use super::number;
use crate::link::event::{Event, finding};
use crate::link::port::LinkEnd;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Flit;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

/// CXL.cachemem whose payload can be watched.
#[derive(Debug, Clone)]
pub struct Watched {
    cachemem: Cachemem,
    /// Payload since it was asked for last.
    taken: Vec<Flit>,
    /// Payload in all.
    count: u64,
}

impl Client for Watched {
    fn transmit(&mut self, now_flits: u64) -> Option<Flit> {
        self.cachemem.transmit(now_flits)
    }

    fn receive(&mut self, flit: &Flit, part: Part, now_flits: u64) {
        if part != Part::Even {
            self.taken.push(*flit);
            self.count += 1;
        }
        self.cachemem.receive(flit, part, now_flits);
    }

    fn urgent(&mut self, leaving: Option<&Flit>) -> Option<Urgent> {
        self.cachemem.urgent(leaving)
    }

    fn phy_down(&mut self) {
        self.cachemem.phy_down();
    }

    fn phy_up(&mut self) {
        self.cachemem.phy_up();
    }

    fn link_reset(&mut self) {
        self.taken.clear();
        self.count = 0;
        self.cachemem.link_reset();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.cachemem.take_retrain_request()
    }

    fn is_quiet(&self) -> bool {
        self.cachemem.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        self.cachemem.wakes_at(now_flits)
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.cachemem.take_events()
    }
}

/// An end, and what a port counts of it.
#[derive(Debug, Clone)]
pub struct PortEnd {
    /// The end.
    pub end: End<Watched>,
    /// Flits sent, without the NOPs that were left out.
    pub sent: u64,
    /// Flit clocks in which a message waited and had no credit, while nothing else could be sent.
    pub credit_stalls: u64,
}

impl PortEnd {
    /// An end that has sent nothing.
    pub fn new(link: LinkConfig, config: CachememConfig) -> PortEnd {
        let mode = config.mode;
        let client = Watched { cachemem: Cachemem::new(config), taken: Vec::new(), count: 0 };
        PortEnd { end: End::new(LinkConfig { mode, ..link }, client), sent: 0, credit_stalls: 0 }
    }

    /// What stands above the numbers.
    pub fn cachemem(&self) -> &Cachemem {
        &self.end.client.cachemem
    }

    /// Whether a message has to wait for a credit alone.
    fn lacks_credit(&self) -> bool {
        let client = self.cachemem();
        let lacks = |class: Class| client.waiting(class) > 0 && client.credits().spend[class.index()] == 0;
        client.is_up() && Class::ALL.into_iter().any(lacks)
    }
}

impl LinkEnd for PortEnd {
    type Unit = WireFlit;

    const SIGNALS: &'static [(&'static str, u32)] = &[
        ("next_number", 10),
        ("acknowledged", 10),
        ("unacknowledged", 9),
        ("expected", 10),
        ("handshake", 1),
        ("replaying", 1),
        ("nak_open", 1),
        ("credits_waiting", 16),
        ("owed_slots", 6),
    ];

    fn protocol(&self) -> &'static str {
        self.end.link().mode.protocol()
    }

    fn dir(&self) -> Dir {
        self.cachemem().config().dir
    }

    fn send(&mut self, message: &Message) -> Result<(), Violation> {
        let routing = self.end.link().mode.routing();
        let rule = message.class().def(routing).rule;
        let refused = |text: &str| finding(rule, "an illegal message", "a legal one", text);
        let message = message.to_cxl256(routing).map_err(|e| refused(&e.to_string()))?;
        self.end.client.cachemem.send(message).map_err(|e| refused(&e.to_string()))
    }

    fn waiting(&self, class: Class) -> usize {
        self.cachemem().waiting(class)
    }

    fn has_message(&self) -> bool {
        self.cachemem().next_class().is_some()
    }

    fn take(&mut self) -> Option<Message> {
        let routing = self.end.link().mode.routing();
        self.end.client.cachemem.take().map(|message| Message::from_cxl256(&message, routing))
    }

    fn receive_even(&mut self, unit: &WireFlit, now_flits: u64) {
        self.end.receive_even(&unit.flit, now_flits);
    }

    fn receive(&mut self, unit: &WireFlit, now_flits: u64) {
        self.end.receive(&unit.flit, now_flits);
    }

    fn take_payload(&mut self) -> Vec<(u16, WireFlit)> {
        let (mode, client) = (self.end.link().mode, &mut self.end.client);
        let taken = std::mem::take(&mut client.taken);
        // The client gets each number once and in order.
        let first = client.count - taken.len() as u64;
        let number = |n| (n % u64::from(number::LAST)) as u16 + 1;
        (first..).zip(taken).map(|(n, flit)| (number(n), WireFlit { mode, flit })).collect()
    }

    fn transmit(&mut self, now_flits: u64) -> Option<WireFlit> {
        let due = |end: &End<Watched>| now_flits == 0 || end.wakes_at(now_flits - 1).is_some_and(|at| at <= now_flits);
        if !due(&self.end) {
            return None;
        }
        let lacks_credit = self.lacks_credit();
        let flit = self.end.transmit(now_flits);
        self.sent += 1;
        self.credit_stalls += u64::from(lacks_credit && flit.header().flit_type == FlitType::Nop);
        Some(WireFlit { mode: self.end.link().mode, flit })
    }

    fn hold_credits(&mut self, hold: bool) {
        self.end.client.cachemem.hold_credits(hold);
    }

    fn phy_down(&mut self) {
        self.end.phy_down();
    }

    fn phy_up(&mut self) {
        self.end.phy_up();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.end.take_retrain_request()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.end.take_events()
    }

    fn halted(&self) -> Option<&'static str> {
        self.cachemem().halted()
    }

    fn is_quiet(&self) -> bool {
        self.end.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        self.end.wakes_at(now_flits)
    }

    fn values(&self) -> Vec<u64> {
        let (transmitter, receiver, client) = (self.end.transmitter(), self.end.receiver(), self.cachemem());
        vec![
            transmitter.next_number().into(),
            transmitter.acknowledged().into(),
            transmitter.unacknowledged() as u64,
            receiver.expected.into(),
            transmitter.in_handshake().into(),
            transmitter.replaying().into(),
            receiver.nak_open.into(),
            client.credits().pending().into(),
            client.owed_slots() as u64,
        ]
    }

    fn open_work(&self) -> String {
        let client = self.cachemem();
        let waiting: usize = Class::ALL.iter().map(|&c| client.waiting(c)).sum();
        format!(
            "{waiting} messages to send, {} received and not taken, {} flits not acknowledged, {} credits to return",
            client.inbox_len(),
            self.end.transmitter().unacknowledged(),
            client.credits().pending()
        )
    }
}
