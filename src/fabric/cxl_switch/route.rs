//! A message to its output, without time (`fabric` §1.6).
//!
//! A walk through one request: the decoders of its VCS name a vPPB, the binding of that a port and a logical device, whose LD-ID the
//! request gets. Where no decoder is hit, or the vPPB is not bound, the switch answers: a write is dropped and completed, a
//! read gets ones (`fabric` CMR-4, CMR-5). An answer has port and LD-ID, which name vPPB and VCS; its LD-ID is cleared.

use super::binding::Bindings;
use super::manager::Vppb;
use scalepool_memory::bridge::BridgeDecoders;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode};
use scalepool_protocols::cxl::message::{Data, Message, MessageForm, PeerRoute, S2mDrs, S2mNdr};
use std::collections::BTreeSet;

/// Why a message does not reach a device or a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undelivered {
    /// No decoder holds its address.
    NotDecoded,
    /// Its decoder leads to a vPPB that is not bound.
    NotBound,
    /// It has an LD-ID that is not bound (`fabric` MLD-5).
    UnknownLd,
    /// Its class is not of CXL.mem without back-invalidates, or does not go this way (`fabric` ERR-4).
    Class,
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HbrRoute {
    /// To a port, as this, over this vPPB.
    Port(usize, Message, Vppb),
    /// Nowhere; the switch answers with this where it came, if it has to have an answer.
    Answered(Undelivered, Option<Message>),
    /// Nowhere.
    Dropped(Undelivered),
}

/// What the switch knows of its hierarchies. Ports are counted from the upstream ones on, then the downstream ones.
#[derive(Debug, Clone)]
pub struct HbrRoutes {
    /// Bindings.
    pub bindings: Bindings,
    /// vPPBs that are being unbound: they take no requests any more.
    pub stopped: BTreeSet<Vppb>,
    /// Decoders of each VCS; their targets are vPPBs.
    pub decoders: Vec<BridgeDecoders>,
    /// How the link of each port spells messages.
    pub forms: Vec<MessageForm>,
    /// Data of a read that nothing decodes is poisoned (`fabric` §2.1, 4h).
    pub poison_on_decode_error: bool,
}

impl HbrRoutes {
    /// Upstream ports.
    pub fn hosts(&self) -> usize {
        self.decoders.len()
    }

    /// Where a message that came in at a port goes.
    pub fn route(&self, from: usize, message: &Message) -> HbrRoute {
        let hosts = self.hosts();
        match message {
            Message::M2sReq(header) if from < hosts => self.down(from, header.address, message),
            Message::M2sRwd(header, _) if from < hosts => self.down(from, header.address, message),
            Message::S2mNdr(header) if from >= hosts => self.up(from - hosts, header.ld_id, message),
            Message::S2mDrs(header, _) if from >= hosts => self.up(from - hosts, header.ld_id, message),
            _ => HbrRoute::Dropped(Undelivered::Class),
        }
    }

    fn down(&self, vcs: usize, address: u64, message: &Message) -> HbrRoute {
        let undelivered = match self.decoders[vcs].target(address) {
            None => Undelivered::NotDecoded,
            Some(vppb) => match self.bindings.down(vcs, vppb).filter(|_| !self.stopped.contains(&(vcs, vppb))) {
                None => Undelivered::NotBound,
                Some((port, ld)) => {
                    let route = PeerRoute { ld_id: ld.unwrap_or(0), ..PeerRoute::default() };
                    return HbrRoute::Port(self.hosts() + port, message.on_route(route), (vcs, vppb));
                }
            },
        };
        HbrRoute::Answered(undelivered, self.answer(self.forms[vcs], message))
    }

    fn up(&self, port: usize, ld_id: u8, message: &Message) -> HbrRoute {
        let Some((vcs, vppb)) = self.bindings.up(port, ld_id) else {
            return HbrRoute::Dropped(Undelivered::UnknownLd);
        };
        let mut message = message.on_route(PeerRoute::default());
        // Toward a 68B link the ones are all that says it (`fabric` CMR-4).
        if let (Message::S2mDrs(header, _), MessageForm::Cxl68) = (&mut message, self.forms[vcs])
            && header.opcode == DrsOpcode::MemDataNXM
        {
            header.opcode = DrsOpcode::MemData;
        }
        HbrRoute::Port(vcs, message, (vcs, vppb))
    }

    /// Whether a request is answered.
    pub fn has_answer(&self, request: &Message) -> bool {
        self.answer(MessageForm::Hbr, request).is_some()
    }

    /// The answer to a request that reaches nothing; `None`: it has none.
    fn answer(&self, form: MessageForm, request: &Message) -> Option<Message> {
        let (tag, is_read) = match request {
            Message::M2sReq(header) => match header.opcode {
                M2sReqOpcode::MemRd | M2sReqOpcode::MemRdData | M2sReqOpcode::MemRdTEE | M2sReqOpcode::MemRdDataTEE => {
                    (header.tag, true)
                }
                M2sReqOpcode::MemSpecRd
                | M2sReqOpcode::MemSpecRdTEE
                | M2sReqOpcode::MemRdFwd
                | M2sReqOpcode::MemWrFwd => return None,
                _ => (header.tag, false),
            },
            Message::M2sRwd(header, _) => match header.opcode {
                M2sRwdOpcode::MemRdFill | M2sRwdOpcode::MemRdFillTEE => (header.tag, true),
                // It is about a snoop, and no device can have sent one.
                M2sRwdOpcode::BIConflict => return None,
                _ => (header.tag, false),
            },
            _ => return None,
        };
        let (meta_field, meta_value) = (MetaField::NoOp, MetaValue::Invalid);
        if !is_read {
            let opcode = NdrOpcode::Cmp;
            return Some(Message::S2mNdr(S2mNdr { opcode, meta_field, meta_value, tag, ..S2mNdr::default() }));
        }
        let opcode = if form == MessageForm::Cxl68 { DrsOpcode::MemData } else { DrsOpcode::MemDataNXM };
        let poison = self.poison_on_decode_error;
        let header = S2mDrs { opcode, meta_field, meta_value, tag, poison, ..S2mDrs::default() };
        Some(Message::S2mDrs(header, Data::line([0xff; 64])))
    }
}
