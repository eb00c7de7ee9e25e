//! The ports by which a half of a bridge asks accelerators, of whatever protocol.
//!
//! Modelled: what is asked as a message of its protocol, through the port of its block; which answers are still to come; what an answer
//! says. Left out: links. A walk: a read of a line leaves under its tag through the port of its block; an answer with that tag brings a
//! status and the line, and a second one finds nothing that is open. Of several lines it may bring one after the other.

use super::config::AcceleratorProtocol;
use super::message::BridgeMessage;
use super::model::{BridgeEvent, BridgePoint, ReferenceFinding};
use scalepool_bridge::inbound::beats::UpliAnswer;
use scalepool_bridge::inbound::side::{AcceleratorAnswer, SideAccess};
use scalepool_bridge::lines::BLOCK_BYTES;
use scalepool_bridge::outbound::request::BridgeResponse;
use scalepool_bridge::{inbound, outbound};
use scalepool_coherence::content::CacheLine;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;

/// The response to a request of an accelerator, if it has one.
pub(crate) fn response_message(own: u16, codec: &NvlConfig, response: &BridgeResponse<'_>) -> Option<BridgeMessage> {
    let upli = outbound::upli::answered(own, response).map(|transfer| BridgeMessage::Upli(Box::new(transfer)));
    let nvlink = || outbound::nvlink::answered(response, codec);
    upli.or_else(|| nvlink().map(|message| BridgeMessage::Nvlink(Box::new(message))))
}

/// What is under way under a tag.
#[derive(Debug, Clone)]
struct Asked {
    /// Its answer on UALink, beat by beat.
    upli: UpliAnswer,
    /// Address and bytes of an access that is no line.
    extent: Option<(u64, usize)>,
}

/// The ports to accelerators.
pub(crate) struct AcceleratorPorts {
    protocol: AcceleratorProtocol,
    /// Number of the bridge among accelerators.
    pub own: u16,
    /// Blocks are dealt among so many ports (`bridge` §5.4).
    ports: u64,
    pub codec: NvlConfig,
    asked: OrderedMap<u16, Asked>,
}

impl AcceleratorPorts {
    pub fn new(protocol: AcceleratorProtocol, own: u16, ports: u64) -> AcceleratorPorts {
        AcceleratorPorts { protocol, own, ports, codec: NvlConfig::default(), asked: OrderedMap::new() }
    }

    /// Whether an answer with this tag is still to come.
    pub fn awaits(&self, tag: u16) -> bool {
        self.asked.contains_key(&tag)
    }

    /// An access leaves under a tag.
    pub fn send(&mut self, tag: u16, access: SideAccess<'_>) -> BridgeEvent {
        let port = (access.address() / BLOCK_BYTES % self.ports) as usize;
        let (own, codec) = (self.own, &self.codec);
        let message = match (self.protocol, access) {
            (AcceleratorProtocol::Ualink, SideAccess::Lines(access)) => {
                BridgeMessage::Upli(Box::new(inbound::ualink::upli_spelled(own, tag, access)))
            }
            (AcceleratorProtocol::Ualink, SideAccess::Block(access)) => {
                BridgeMessage::Upli(Box::new(inbound::bar::upli::spelled(own, tag, access)))
            }
            (AcceleratorProtocol::Nvlink, SideAccess::Lines(access)) => {
                BridgeMessage::Nvlink(Box::new(inbound::nvlink::spelled(own, tag, access, codec)))
            }
            (AcceleratorProtocol::Nvlink, SideAccess::Block(access)) => {
                BridgeMessage::Nvlink(Box::new(inbound::bar::packets::spelled(own, tag, access, codec)))
            }
        };
        let extent = match access {
            SideAccess::Lines(_) => None,
            SideAccess::Block(access) => Some((access.address, access.bytes)),
        };
        self.asked.insert(tag, Asked { upli: UpliAnswer::new(access.is_read(), access.lines()), extent });
        BridgeEvent { point: BridgePoint::Sent, port, message }
    }

    /// What a message of an accelerator says, if it answers something that is open and is the last one to do so; `None`: it is no answer
    /// of these accelerators.
    pub fn answered(
        &mut self,
        message: &BridgeMessage,
        findings: &mut Vec<ReferenceFinding>,
    ) -> Option<Option<AcceleratorAnswer>> {
        let (tag, is_own) = match (self.protocol, message) {
            (AcceleratorProtocol::Ualink, BridgeMessage::Upli(transfer)) => match transfer.field {
                ControlField::Response(rsp) => (rsp.tag, true),
                _ => return None,
            },
            (AcceleratorProtocol::Nvlink, BridgeMessage::Nvlink(message)) => match message.op {
                Op::RSP_DATA | Op::RSP_DONE | Op::RSP_ERROR => (message.tag, message.rid == self.own),
                _ => return None,
            },
            _ => return None,
        };
        let Some(asked) = self.asked.get_mut(&tag).filter(|_| is_own) else {
            let (found, expected) = (format!("an answer with tag {tag}"), "an open access to an accelerator");
            findings.push(ReferenceFinding::new("BRG-TAG-02", found, expected));
            return Some(None);
        };
        let complete = understood(asked, message).unwrap_or_else(|(found, expected)| {
            // What cannot be used is as if the accelerator had given up.
            findings.push(ReferenceFinding::new("BRG-MAP-64", found, expected));
            Some((Status::TargetAbort, Vec::new()))
        });
        let answer = complete.map(|(status, lines)| AcceleratorAnswer { tag, status, lines });
        if answer.is_some() {
            self.asked.remove(&tag);
        }
        Some(answer)
    }
}

/// Status and lines of an answer, if it is complete.
type UnderstoodAnswer = Option<(Status, Vec<CacheLine>)>;

/// What an answer says, or what was found in place of what.
fn understood(asked: &mut Asked, message: &BridgeMessage) -> Result<UnderstoodAnswer, (String, &'static str)> {
    match message {
        BridgeMessage::Upli(transfer) => {
            asked.upli.take(transfer).map_err(|found| (found.to_owned(), "the response of its request"))
        }
        BridgeMessage::Nvlink(message) => match asked.extent {
            None => inbound::nvlink::understood(message)
                .map(Some)
                .map_err(|found| (found, "64 bytes, RSP_DONE or RSP_ERROR")),
            Some(extent) => inbound::nvlink::understood_block(extent, message)
                .map(Some)
                .map_err(|found| (found, "the bytes that were asked for, RSP_DONE or RSP_ERROR")),
        },
        BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => Err((message.layout().to_owned(), "an accelerator's answer")),
    }
}
