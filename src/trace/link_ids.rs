//! Which transaction a message of a coherent link belongs to, for the log.
//!
//! Modelled: identifiers of CXL.cache and CXL.mem, each counted by link (`coherence` §1). A request binds its CQID or Tag
//! to the transaction that its sender began; the agent that takes it serves that transaction on the request's line, so
//! the snoops that it sends there belong to it too, and bind UQID and BITag. Answers are found by what they echo. Detail:
//! what an agent begins on its own account, such as giving a filter's victim back, has id 0. Left out: messages without
//! coherence, which the log finds by requester, tag and address.
//!
//! One read: the device's D2H Req binds its CQID; the home takes it and serves it; its H2D Req to another device binds a
//! UQID there, under which D2H Rsp and Data return; GO and data echo the CQID. With the answer the
//! home serves nothing there any more; an identifier means what it was sent for last.

use scalepool_forms::number;
use scalepool_ordered::OrderedMap;
use serde_json::Value;

/// Who counts an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Cqid,
    Uqid,
    Tag,
    BiTag,
}

/// An agent's part in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageRole {
    /// Ordinal of its place.
    pub place: u32,
    /// The transaction that it has open on the line itself, 0 for none.
    pub own: u64,
    /// It sends the message; otherwise it takes it.
    pub sends: bool,
}

/// What identifiers mean now.
#[derive(Debug, Default)]
pub(super) struct LinkIds {
    /// By link, kind and value.
    bound: OrderedMap<(u64, Kind, u64), u64>,
    /// By place and address of the line.
    served: OrderedMap<(u32, u64), u64>,
}

impl LinkIds {
    /// The id of a message of a link, 0 if it is not known; `part`: of the agent that sends or takes it, `None` on the wire.
    pub fn of(&mut self, link: u64, form: &Value, part: Option<MessageRole>) -> u64 {
        let fields = &form["fields"];
        let field = |name: &str| number::from_json(fields.get(name)?, name).ok().map(|n| n as u64);
        let name = form["layout"].as_str().and_then(|layout| layout.split_once('.')).map_or("", |(_, message)| message);
        let opcode = fields["opcode"].as_str().unwrap_or_default();
        let forwards = matches!(opcode, "MemRdFwd" | "MemWrFwd");
        let (kind, value, is_request) = match name {
            "d2h_req" => (Kind::Cqid, "cqid", true),
            "h2d_rsp" | "h2d_data" => (Kind::Cqid, "cqid", false),
            "h2d_req" | "d2h_rsp" | "d2h_data" => (Kind::Uqid, "uqid", false),
            // Their tag is a CQID.
            "m2s_req" if forwards => (Kind::Cqid, "tag", false),
            // BIConflict reuses the tag of the request.
            "m2s_req" | "m2s_rwd" => (Kind::Tag, "tag", opcode != "BIConflict"),
            "s2m_ndr" | "s2m_drs" => (Kind::Tag, "tag", false),
            "s2m_bisnp" | "m2s_birsp" => (Kind::BiTag, "bi_tag", false),
            _ => return 0,
        };
        let Some(value) = field(value) else { return 0 };
        let key = (link, kind, value);
        let line = field("address").map(|a| a & !63);
        let snoops = matches!(name, "h2d_req" | "s2m_bisnp");
        if let (Some(MessageRole { place, own, sends: true }), Some(line), true) = (part, line, is_request || snoops) {
            let serves = self.served.get(&(place, line)).copied().unwrap_or(0);
            self.bound.insert(key, if is_request { own } else { serves });
        }
        let id = self.bound.get(&key).copied().unwrap_or(0);
        let answers = matches!(name, "h2d_rsp" | "h2d_data" | "s2m_ndr" | "s2m_drs");
        match (part, line) {
            // A write is taken at any time and asks nobody.
            (Some(MessageRole { place, sends: false, .. }), Some(line)) if is_request && name != "m2s_rwd" => {
                self.served.insert((place, line), id);
            }
            (Some(MessageRole { place, sends: true, .. }), _) if answers => {
                self.served.retain(|(at, _), served| *at != place || *served != id);
            }
            _ => {}
        }
        // A pull says under which UQID its data comes.
        if name == "h2d_rsp"
            && opcode.contains("WritePull")
            && let Some(uqid) = field("rsp_data")
        {
            self.bound.insert((link, Kind::Uqid, uqid), id);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form(name: &str, fields: Value) -> Value {
        json!({"layout": format!("cxl256.{name}"), "fields": fields})
    }

    #[test]
    fn a_read_with_a_snoop_has_one_id() {
        let mut ids = LinkIds::default();
        let sent = |place, own| Some(MessageRole { place, own, sends: true });
        let taken = |place| Some(MessageRole { place, own: 0, sends: false });
        let request = form("d2h_req", json!({"opcode": "RdOwn", "cqid": 3, "address": "0x40"}));
        assert_eq!(ids.of(0, &request, sent(1, 77)), 77);
        // The same CQID of another link is somebody else.
        assert_eq!(ids.of(1, &request, None), 0);
        assert_eq!(ids.of(0, &request, None), 77);
        assert_eq!(ids.of(0, &request, taken(9)), 77);
        let snoop = form("h2d_req", json!({"opcode": "SnpInv", "uqid": 5, "address": "0x40"}));
        assert_eq!((ids.of(1, &snoop, sent(9, 0)), ids.of(1, &snoop, None)), (77, 77));
        assert_eq!(ids.of(1, &form("d2h_rsp", json!({"uqid": 5})), None), 77);
        // A snoop of a line that nobody asked for.
        let victim = form("h2d_req", json!({"opcode": "SnpInv", "uqid": 6, "address": "0x80"}));
        assert_eq!(ids.of(1, &victim, sent(9, 0)), 0);
        let go = form("h2d_rsp", json!({"opcode": "GO", "rsp_data": 2, "cqid": 3}));
        assert_eq!((ids.of(0, &go, sent(9, 0)), ids.of(0, &go, taken(1))), (77, 77));
        // The home serves nothing there any more: a snoop of its own under the same UQID.
        assert_eq!((ids.of(1, &snoop, sent(9, 0)), ids.of(1, &form("d2h_rsp", json!({"uqid": 5})), None)), (0, 0));
    }
}
