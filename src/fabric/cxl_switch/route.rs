//! Routing: the output port of a message, without time (`fabric` §1.6).
//!
//! A walk through one request: the decoders of its VCS select a vPPB; the binding of the vPPB gives a port and a logical
//! device, whose LD-ID is written into the request. Where no decoder matches, or the vPPB is not bound, the switch
//! answers the request: a write is dropped and completed, and a read returns all ones (`fabric` CMR-4, CMR-5). A response
//! carries an LD-ID; its port and LD-ID identify vPPB and VCS, and its LD-ID is cleared. Back-invalidate snoops and their
//! answers go by BI-IDs ([`super::back_invalidate`]), messages of CXL.cache by CacheIDs ([`super::cache_id`]).

use super::back_invalidate::VppbBridge;
use super::binding::Bindings;
use super::cache_id::CachingDevices;
use super::command::Vppb;
use super::committing::TableKind;
use super::switching::Undelivered;
use scalepool_memory::bridge::BridgeDecoders;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode};
use scalepool_protocols::cxl::message::{Data, Message, MessageForm, PeerRoute, S2mDrs, S2mNdr};

/// The route of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HbrRoute {
    /// To a port, in this form, over this vPPB.
    Port(usize, Message, Vppb),
    /// Undelivered; the switch returns this response to the source, if the request requires one.
    Answered(Undelivered, Option<Message>),
    /// Undelivered, without a response.
    Dropped(Undelivered),
}

/// Routing state of the switch. Ports are numbered from 0, first the upstream ports, then the downstream ports.
#[derive(Debug, Clone)]
pub struct HbrRoutes {
    /// Bindings.
    pub bindings: Bindings,
    /// vPPBs that are being unbound and accept no new requests.
    pub stopped: OrderedSet<Vppb>,
    /// Decoders of each VCS; their targets are vPPBs.
    pub decoders: Vec<BridgeDecoders>,
    /// Bridges of the vPPBs below which devices send back-invalidate snoops.
    pub bridges: OrderedMap<Vppb, VppbBridge>,
    /// Caching devices, of the hierarchies that have any.
    pub caches: OrderedMap<usize, CachingDevices>,
    /// Message form of the link of each port.
    pub forms: Vec<MessageForm>,
    /// Tables of hierarchies that are not in use, as their commit has not ended well.
    pub uncommitted: OrderedSet<(usize, TableKind)>,
    /// Whether the data of a read that no decoder claims are poisoned (`fabric` §2.1, 4h).
    pub poison_on_decode_error: bool,
}

impl HbrRoutes {
    /// Number of upstream ports.
    pub fn hosts(&self) -> usize {
        self.decoders.len()
    }

    /// The form in which traces spell messages: that of 256B flits, which has all identifiers, if any link has it.
    pub fn shown_form(&self) -> MessageForm {
        let has_identifiers = self.forms.contains(&MessageForm::Hbr);
        if has_identifiers { MessageForm::Hbr } else { MessageForm::Cxl68 }
    }

    /// The route of a message that was received at a port.
    pub fn route(&self, from: usize, message: &Message) -> HbrRoute {
        let hosts = self.hosts();
        match message {
            Message::M2sReq(header) if from < hosts => self.down(from, header.address, message),
            Message::M2sRwd(header, _) if from < hosts => self.down(from, header.address, message),
            Message::M2sBirsp(_) if from < hosts => self.snoop_answer(from, message),
            Message::S2mBisnp(header) if from >= hosts => self.snoop(from - hosts, header.address, message),
            Message::H2dReq(_) | Message::H2dRsp(_) | Message::H2dData(..) if from < hosts => {
                self.cache_down(from, message)
            }
            Message::D2hReq(_) | Message::D2hRsp(_) | Message::D2hData(..) if from >= hosts => {
                self.cache_up(from - hosts, message)
            }
            Message::S2mNdr(header) if from >= hosts => self.up(from - hosts, header.ld_id, message),
            Message::S2mDrs(header, _) if from >= hosts => self.up(from - hosts, header.ld_id, message),
            _ => HbrRoute::Dropped(Undelivered::Class),
        }
    }

    /// Whether a table may be used.
    pub(super) fn is_in_use(&self, vcs: usize, kind: TableKind) -> bool {
        self.uncommitted.is_empty() || !self.uncommitted.contains(&(vcs, kind))
    }

    fn down(&self, vcs: usize, address: u64, message: &Message) -> HbrRoute {
        let target = self.decoders[vcs].target(address).filter(|_| self.is_in_use(vcs, TableKind::Hdm));
        let undelivered = match target {
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
        // On a 68B link the all-ones data are the only indication (`fabric` CMR-4).
        if let (Message::S2mDrs(header, _), MessageForm::Cxl68) = (&mut message, self.forms[vcs])
            && header.opcode == DrsOpcode::MemDataNXM
        {
            header.opcode = DrsOpcode::MemData;
        }
        HbrRoute::Port(vcs, message, (vcs, vppb))
    }

    /// The response to an undelivered request; `None` if it has none.
    fn answer(&self, form: MessageForm, request: &Message) -> Option<Message> {
        own_answer(form, self.poison_on_decode_error, request)
    }
}

/// Whether a request requires a response.
pub(super) fn has_answer(request: &Message) -> bool {
    own_answer(MessageForm::Hbr, false, request).is_some()
}

/// The response of a switch to a request of CXL.mem that reaches nothing, for a host with links of a form; `None` if it has
/// none. `poison`: the data of a read are poisoned.
pub(super) fn own_answer(form: MessageForm, poison: bool, request: &Message) -> Option<Message> {
    let (tag, is_read) = match request {
        Message::M2sReq(header) => match header.opcode {
            M2sReqOpcode::MemRd | M2sReqOpcode::MemRdData | M2sReqOpcode::MemRdTEE | M2sReqOpcode::MemRdDataTEE => {
                (header.tag, true)
            }
            M2sReqOpcode::MemSpecRd | M2sReqOpcode::MemSpecRdTEE | M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd => {
                return None;
            }
            _ => (header.tag, false),
        },
        Message::M2sRwd(header, _) => match header.opcode {
            M2sRwdOpcode::MemRdFill | M2sRwdOpcode::MemRdFillTEE => (header.tag, true),
            // BIConflict refers to a back-invalidate snoop, and no device can have sent one.
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
    let header = S2mDrs { opcode, meta_field, meta_value, tag, poison, ..S2mDrs::default() };
    Some(Message::S2mDrs(header, Data::line([0xff; 64])))
}
