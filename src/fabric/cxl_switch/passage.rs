//! What judges a switch by the messages at its ports alone.
//!
//! Modelled: for each message that came, what has to leave for it, and where; what left otherwise names the rule by what differs: the port,
//! an identifier, the tag, poison, an answer that the switch made itself. Detail: whole messages, in the order in which they pass the ports;
//! no inside of the switch is looked at, so it can be one of somebody else. Left out: times, credits, bindings that change while the switch
//! runs, and which of several ports a message takes that may take any of them.
//!
//! A walk: a read of host 0 came at `usp[0]` for an address of the device at `dsp[1]`. It leaves at `dsp[0]`. Of what the switch owes, this
//! read is the one with the same class and tag; the message is right and the port is not, and the other port belongs to the same hierarchy:
//! that is FAB-CMR-01. Where the port were one of another hierarchy, it would be FAB-VCS-03.

use super::pbr::rgt::is_spread;
use super::pbr::route::{PbrPort, PbrRoutes, PbrSharedPort};
use super::route::{HbrRoute, HbrRoutes};
use super::switching::{Routed, Switching, Undelivered};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::cxl256::routing::Routing;
use scalepool_protocols::cxl::message::{Class, Message, MessageIdentifier, PeerRoute};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use std::collections::VecDeque;

/// Most messages that left last, among which one that leaves again is found \[messages\].
const REMEMBERED: usize = 64;

/// The tables by which a switch routes.
#[derive(Debug, Clone)]
pub enum PassageRoutes {
    /// Those of hierarchy based routing.
    Hierarchies(Box<HbrRoutes>),
    /// Those of port based routing.
    Ports(Box<PbrRoutes>),
}

/// What a message that came has to become.
#[derive(Debug, Clone)]
enum OwedPassage {
    /// It leaves at one of these ports, in this form.
    Leaves(Vec<usize>, Message),
    /// The switch answers it, if it has an answer.
    Answered(Undelivered, Option<(usize, Message)>),
    /// It leaves nowhere.
    Dropped(Undelivered),
}

impl OwedPassage {
    /// The message that leaves, and its ports.
    fn message(&self) -> Option<(&[usize], &Message)> {
        match self {
            OwedPassage::Leaves(ports, message) => Some((ports, message)),
            OwedPassage::Answered(_, Some((port, message))) => Some((std::slice::from_ref(port), message)),
            OwedPassage::Answered(_, None) | OwedPassage::Dropped(_) => None,
        }
    }
}

/// A message that came, with what has not left for it.
#[derive(Debug, Clone)]
struct Taken {
    from: usize,
    came: Message,
    owed: OwedPassage,
}

/// Judges the messages at the ports of a switch.
#[derive(Debug, Clone)]
pub struct PassageWatch {
    routes: PassageRoutes,
    taken: Vec<Taken>,
    /// Where messages left, and which, the last one last.
    left: VecDeque<(usize, Message)>,
}

/// A rule, what was found and what should have been.
type Named = (&'static str, String, String);

impl PassageRoutes {
    /// Identifiers of the messages on the link of a port.
    pub fn routing(&self, port: usize) -> Routing {
        match self {
            PassageRoutes::Hierarchies(_) => Routing::Hbr,
            PassageRoutes::Ports(routes) => match routes.ports.get(port) {
                Some(PbrPort::Fabric | PbrPort::Shared(_)) => Routing::Pbr,
                _ => Routing::Hbr,
            },
        }
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        match self {
            PassageRoutes::Hierarchies(routes) => routes.forms.len(),
            PassageRoutes::Ports(routes) => routes.ports.len(),
        }
    }

    /// Name of a port: `usp[0]`, `dsp[0]`, and `isl[0]` at the end of an inter-switch link.
    pub fn name(&self, port: usize) -> String {
        match self {
            PassageRoutes::Hierarchies(routes) => match port.checked_sub(routes.hosts()) {
                None => format!("usp[{port}]"),
                Some(dsp) => format!("dsp[{dsp}]"),
            },
            PassageRoutes::Ports(routes) => {
                let kind = |port: &PbrPort| match port {
                    PbrPort::Host(_) => "usp",
                    PbrPort::Device(_) | PbrPort::Shared(_) => "dsp",
                    PbrPort::Fabric => "isl",
                };
                let own = routes.ports.get(port).map_or("port", kind);
                let before = routes.ports.iter().take(port).filter(|other| kind(other) == own).count();
                format!("{own}[{before}]")
            }
        }
    }

    fn owed(&self, from: usize, message: &Message) -> OwedPassage {
        match self {
            PassageRoutes::Hierarchies(routes) => match routes.route(from, message) {
                HbrRoute::Port(to, message, _) => OwedPassage::Leaves(vec![to], message),
                HbrRoute::Answered(why, answer) => OwedPassage::Answered(why, answer.map(|answer| (from, answer))),
                HbrRoute::Dropped(why) => OwedPassage::Dropped(why),
            },
            PassageRoutes::Ports(routes) => match routes.route(from, message) {
                Routed::Port { to, message, flow } => {
                    let group = routes.tables.group(from, flow.dpid).filter(|_| is_spread(message.class()));
                    let ports = group.map_or_else(|| vec![to], |group| group.ports().collect());
                    OwedPassage::Leaves(ports, message)
                }
                Routed::Answered { why, answer } => OwedPassage::Answered(why, answer),
                Routed::Dropped(why) => OwedPassage::Dropped(why),
            },
        }
    }

    /// The hierarchies to which a port of a switch with hierarchy based routing belongs.
    fn hierarchies(routes: &HbrRoutes, port: usize) -> Vec<usize> {
        match port.checked_sub(routes.hosts()) {
            None => vec![port],
            Some(dsp) => routes.bindings.list().filter(|one| one.port == dsp).map(|one| one.vcs).collect(),
        }
    }
}

impl PassageWatch {
    /// Of a switch with these tables, through which nothing has passed.
    pub fn new(routes: PassageRoutes) -> PassageWatch {
        PassageWatch { routes, taken: Vec::new(), left: VecDeque::new() }
    }

    /// The tables.
    pub fn routes(&self) -> &PassageRoutes {
        &self.routes
    }

    /// A message came at a port. The rule that its sender broke by it, where the switch alone can tell: a device for many hosts that answers as
    /// if there were no memory.
    pub fn comes(&mut self, from: usize, message: Message) -> Option<Violation> {
        let owed = self.routes.owed(from, &message);
        let found = self.of_sender(from, &message, &owed);
        self.taken.push(Taken { from, came: message, owed });
        found.map(named)
    }

    fn of_sender(&self, from: usize, message: &Message, owed: &OwedPassage) -> Option<Named> {
        let PassageRoutes::Ports(routes) = &self.routes else { return None };
        let is_gfd = matches!(routes.ports.get(from), Some(PbrPort::Shared(PbrSharedPort { is_gfd: true, .. })));
        let is_hole = matches!(message, Message::S2mDrs(header, _) if header.opcode == DrsOpcode::MemDataNXM);
        let is_led = matches!(owed, OwedPassage::Leaves(..));
        (is_gfd && is_hole && is_led).then(|| {
            ("FAB-GFD-05", format!("{} as MemDataNXM", self.said(from, message)), "MemData, poisoned".to_owned())
        })
    }

    /// What has to leave next for the message that came last: port and message.
    pub fn owes(&self) -> Option<(usize, Message)> {
        let (ports, message) = self.taken.last()?.owed.message()?;
        Some((*ports.first()?, *message))
    }

    /// The message that came last, of those for which something is owed or had to be dropped.
    pub fn came(&self) -> Option<Message> {
        self.taken.last().map(|taken| taken.came)
    }

    /// A message left at a port. The rule that the switch broke by it.
    pub fn leaves(&mut self, port: usize, message: Message) -> Option<Violation> {
        let is_right =
            |taken: &Taken| taken.owed.message().is_some_and(|(ports, owed)| ports.contains(&port) && *owed == message);
        let found = match self.taken.iter().position(is_right) {
            Some(at) => {
                let taken = self.taken.remove(at);
                self.overtaken(at, port, &taken)
            }
            None => Some(self.wrong(port, &message)),
        };
        if self.left.len() == REMEMBERED {
            self.left.pop_front();
        }
        self.left.push_back((port, message));
        found.map(named)
    }

    /// Nothing passes any more. What should have left and did not.
    pub fn finish(&mut self) -> Vec<Violation> {
        let left: Vec<Taken> = std::mem::take(&mut self.taken);
        left.iter().filter_map(|taken| self.lost(taken)).map(named).collect()
    }

    /// Said of a message at a port.
    fn said(&self, port: usize, message: &Message) -> String {
        let (kind, number) = message.identifier();
        let kind = match kind {
            MessageIdentifier::Cqid => "CQID",
            MessageIdentifier::Uqid => "UQID",
            MessageIdentifier::Tag => "Tag",
            MessageIdentifier::BiTag => "BITag",
        };
        format!("{} with {kind} {number:#x} at {}", message.class().name(), self.routes.name(port))
    }

    /// A snoop of CXL.cache that has left in front of a response that came before it on the same way.
    fn overtaken(&self, at: usize, port: usize, snoop: &Taken) -> Option<Named> {
        let is_before = |taken: &&Taken| {
            let to = taken.owed.message().map(|(ports, _)| ports.contains(&port));
            taken.from == snoop.from && to == Some(true) && taken.came.class() == Class::H2dRsp
        };
        let response = self.taken.iter().take(at).find(is_before).filter(|_| snoop.came.class() == Class::H2dReq)?;
        let expected = format!("behind the {} that came before it", self.said(response.from, &response.came));
        Some(("FAB-ORD-05", self.said(port, &snoop.came), expected))
    }

    /// What did not leave.
    fn lost(&self, taken: &Taken) -> Option<Named> {
        let (ports, message) = taken.owed.message()?;
        let rule = match taken.owed {
            OwedPassage::Answered(Undelivered::NotBound, _) => "FAB-CMR-05",
            OwedPassage::Answered(..) => "FAB-CMR-04",
            _ => "FAB-CON-01",
        };
        let found = format!("nothing left for the {}", self.said(taken.from, &taken.came));
        Some((rule, found, self.said(*ports.first()?, message)))
    }

    /// The rule of a message that is not what is owed.
    fn wrong(&mut self, port: usize, message: &Message) -> Named {
        let said = self.said(port, message);
        if self.left.iter().any(|(before, left)| *before == port && left == message) {
            return ("FAB-SWC-09", format!("{said} a second time"), "each message to leave once".to_owned());
        }
        let is_of = |other: &Message| other.class() == message.class() && other.identifier() == message.identifier();
        let by = |matches: &dyn Fn(&Taken) -> bool| self.taken.iter().position(matches);
        // The nearest first: what is owed with this identifier, what came with it, what answers its request, the same class.
        let at = by(&|taken| taken.owed.message().is_some_and(|(_, owed)| is_of(owed)))
            .or_else(|| by(&|taken| is_of(&taken.came)))
            .or_else(|| by(&|taken| taken.came.identifier().1 == message.identifier().1))
            .or_else(|| by(&|taken| taken.came.class() == message.class()));
        let Some(at) = at else {
            return ("FAB-SWC-09", said, "no message, as none came for it".to_owned());
        };
        let taken = self.taken.remove(at);
        let expected = match taken.owed.message() {
            Some((ports, owed)) => self.said(ports.first().copied().unwrap_or(taken.from), owed),
            None => format!("the {} to be dropped", self.said(taken.from, &taken.came)),
        };
        let rule = |rule| (rule, said.clone(), expected.clone());
        let is_of_other = |owed: &Message| owed.class() != message.class();
        let (ports, owed) = match &taken.owed {
            OwedPassage::Dropped(why) => return rule(self.of_dropped(*why, &taken, message)),
            OwedPassage::Answered(why, None) => return rule(of_answered(*why)),
            OwedPassage::Answered(why, Some((_, owed))) if is_of_other(owed) => {
                return rule(self.of_answered_elsewhere(*why, &taken));
            }
            OwedPassage::Answered(why, Some((to, owed))) => {
                let field = self.differing(*to, owed, message);
                // Ones with poison are what a read of bad data gets.
                let is_bad = field.as_ref().is_some_and(|(name, ..)| *name == "poison");
                let of = if is_bad { "FAB-ERR-01" } else { of_answered(*why) };
                return with_field(rule(of), field);
            }
            OwedPassage::Leaves(ports, owed) => (ports, owed),
        };
        if !ports.contains(&port) {
            return rule(self.of_port(&taken, port, message));
        }
        match self.differing(port, owed, message) {
            Some(field) => {
                let of = self.of_field(&taken, field.0, message.class());
                with_field(rule(of), Some(field))
            }
            None if message.class() != owed.class() => rule("FAB-ERR-01"),
            None => rule("FAB-SWC-09"),
        }
    }

    /// The first field in which two messages of a class differ, and its values.
    fn differing(&self, port: usize, owed: &Message, found: &Message) -> Option<(&'static str, u128, u128)> {
        let form = self.routes.routing(port).into();
        let [(def, owed), (other, found)] = [owed.spell(form).ok()?, found.spell(form).ok()?];
        let mut fields = def.fields.iter().filter(|_| std::ptr::eq(def, other));
        let field = fields.find(|field| field.extract(owed) != field.extract(found))?;
        Some((field.name, field.value(owed), field.value(found)))
    }

    /// The rule by which a message had to be dropped for which one left.
    fn of_dropped(&self, why: Undelivered, taken: &Taken, message: &Message) -> &'static str {
        let is_by_hierarchies = matches!(self.routes, PassageRoutes::Hierarchies(_));
        match (why, taken.came.class(), message.class()) {
            // The switch answers a snoop itself.
            (_, Class::S2mBisnp, Class::M2sBirsp) => "FAB-BIR-03",
            (Undelivered::BackInvalidate, Class::S2mBisnp, _) => "FAB-BIR-01",
            (Undelivered::BackInvalidate, ..) => "FAB-BIR-02",
            (Undelivered::UnknownLd, ..) if is_by_hierarchies => "FAB-MLD-05",
            (Undelivered::CacheId, ..) if is_by_hierarchies => "FAB-CID-02",
            (Undelivered::UnknownLd | Undelivered::CacheId, ..) => "FAB-EDG-08",
            (Undelivered::NoRoute, ..) => "FAB-DRT-02",
            (Undelivered::NotClaimed, ..) => "FAB-PID-05",
            (Undelivered::LostLink, ..) => "FAB-ISL-07",
            (Undelivered::Contained, ..) => "FAB-MLD-07",
            _ if self.has_logical_devices(taken.from) && !taken.came.class().is_mem() => "FAB-MLD-06",
            _ => "FAB-ERR-04",
        }
    }

    /// Whether a port has a device with logical devices.
    fn has_logical_devices(&self, port: usize) -> bool {
        let PassageRoutes::Hierarchies(routes) = &self.routes else { return false };
        let dsp = port.checked_sub(routes.hosts());
        routes.bindings.list().any(|one| Some(one.port) == dsp && one.ld.is_some())
    }

    /// The rule where a request that the switch has to answer left instead.
    fn of_answered_elsewhere(&self, why: Undelivered, taken: &Taken) -> &'static str {
        let is_fabric = |routes: &PbrRoutes| matches!(routes.ports.get(taken.from), Some(PbrPort::Fabric));
        match &self.routes {
            // The far end of a virtual link decodes again.
            PassageRoutes::Ports(routes) if is_fabric(routes) => "FAB-EDG-05",
            _ => of_answered(why),
        }
    }

    /// The rule of a message that left at the wrong port.
    fn of_port(&self, taken: &Taken, port: usize, message: &Message) -> &'static str {
        match &self.routes {
            PassageRoutes::Hierarchies(routes) => {
                let own = PassageRoutes::hierarchies(routes, taken.from);
                let is_own = PassageRoutes::hierarchies(routes, port).iter().any(|vcs| own.contains(vcs));
                let is_request = matches!(taken.came.class(), Class::M2sReq | Class::M2sRwd);
                match message.class() {
                    // The switch ends a request that it should have passed on.
                    Class::S2mNdr | Class::S2mDrs if is_request => "FAB-CON-03",
                    Class::S2mNdr | Class::S2mDrs => "FAB-CMR-02",
                    _ if !is_own => "FAB-VCS-03",
                    Class::M2sReq | Class::M2sRwd => "FAB-CMR-01",
                    Class::M2sBirsp | Class::S2mBisnp => "FAB-BIR-02",
                    _ => match own.iter().filter_map(|vcs| routes.caches.get(vcs)).any(|caches| caches.vppbs.len() > 1)
                    {
                        true => "FAB-CID-02",
                        false => "FAB-CID-01",
                    },
                }
            }
            PassageRoutes::Ports(routes) => {
                let PeerRoute { dpid, .. } = taken.owed.message().map(|(_, owed)| owed.route()).unwrap_or_default();
                let is_of_group =
                    routes.tables.group(taken.from, dpid).is_some_and(|group| group.ports().any(|of| of == port));
                match () {
                    () if routes.lost.contains(&port) => "FAB-ISL-07",
                    () if is_of_group => "FAB-RGT-08",
                    () => "FAB-DRT-01",
                }
            }
        }
    }

    /// The rule of a field that is not what it has to be.
    fn of_field(&self, taken: &Taken, field: &str, class: Class) -> &'static str {
        let is_by_hierarchies = matches!(self.routes, PassageRoutes::Hierarchies(_));
        match field {
            "poison" => "FAB-ERR-03",
            "ld_id" if is_by_hierarchies => "FAB-MLD-02",
            "bi_id" if is_by_hierarchies => "FAB-BIR-01",
            "cache_id" if is_by_hierarchies => "FAB-CID-02",
            "ld_id" | "bi_id" | "cache_id" | "spid" | "dpid" => self.of_identifier(taken, class),
            "tag" | "bi_tag" | "cqid" | "uqid" if !is_by_hierarchies => "FAB-EDG-09",
            "opcode" if class == Class::S2mDrs => "FAB-ERR-01",
            "address" if !is_by_hierarchies => "FAB-EDG-02",
            _ if is_by_hierarchies && matches!(class, Class::S2mNdr | Class::S2mDrs) => "FAB-CMR-02",
            _ if is_by_hierarchies => "FAB-CMR-01",
            _ => "FAB-EDG-09",
        }
    }

    /// The row of the table of conversions at edges that a message comes by (`fabric` §3.4).
    fn of_identifier(&self, taken: &Taken, class: Class) -> &'static str {
        let has_segments = match &self.routes {
            PassageRoutes::Ports(routes) => {
                matches!(routes.ports.get(taken.from), Some(PbrPort::Host(host)) if !host.segments.is_empty())
            }
            PassageRoutes::Hierarchies(_) => false,
        };
        match class {
            Class::D2hReq => "FAB-EDG-12",
            Class::H2dReq => "FAB-EDG-13",
            Class::H2dRsp | Class::H2dData => "FAB-EDG-14",
            Class::D2hRsp | Class::D2hData => "FAB-EDG-15",
            Class::M2sReq | Class::M2sRwd if has_segments => "FAB-EDG-16",
            Class::M2sReq | Class::M2sRwd => "FAB-EDG-17",
            Class::S2mNdr | Class::S2mDrs => "FAB-EDG-18",
            Class::S2mBisnp => "FAB-EDG-19",
            Class::M2sBirsp => "FAB-EDG-20",
        }
    }
}

/// The rule of an answer that a switch makes itself.
fn of_answered(why: Undelivered) -> &'static str {
    if why == Undelivered::NotBound { "FAB-CMR-05" } else { "FAB-CMR-04" }
}

/// The same with the field that differs.
fn with_field((rule, found, expected): Named, field: Option<(&'static str, u128, u128)>) -> Named {
    match field {
        Some((name, owed, left)) => {
            (rule, format!("{found}, {name} {left:#x}"), format!("{expected}, {name} {owed:#x}"))
        }
        None => (rule, found, expected),
    }
}

fn named((rule, found, expected): Named) -> Violation {
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    Violation { rule, at: At::Message, found, expected, text }
}

#[cfg(test)]
mod tests {
    use super::super::binding::{Bindings, VppbBinding};
    use super::*;
    use scalepool_memory::bridge::{BridgeDecoder, BridgeDecoders};
    use scalepool_ordered::{OrderedMap, OrderedSet};
    use scalepool_protocols::cxl::cxl256::code::NdrOpcode;
    use scalepool_protocols::cxl::message::{M2sReq, MessageForm, S2mNdr};

    const GIB: u64 = 1 << 30;

    /// Two hosts, each with a logical device at one port; nothing is bound to vPPB 1, and nothing decodes the third GiB.
    fn watch() -> PassageWatch {
        let mut bindings = Bindings::new(2, 2, 1);
        for vcs in 0..2 {
            bindings.bind(VppbBinding { vcs, vppb: 0, port: 0, ld: Some(vcs as u8 + 4) }).expect("it is free");
        }
        let mut decoders = BridgeDecoders::default();
        for n in 0..2 {
            let (base, targets) = (n as u64 * GIB, vec![n]);
            let decoder = BridgeDecoder { base, size: GIB, granularity: 256, targets, back_invalidate: false };
            decoders.commit(decoder).expect("it is legal");
        }
        PassageWatch::new(PassageRoutes::Hierarchies(Box::new(HbrRoutes {
            bindings,
            stopped: OrderedSet::new(),
            decoders: vec![decoders; 2],
            bridges: OrderedMap::new(),
            caches: OrderedMap::new(),
            forms: vec![MessageForm::Hbr; 3],
            uncommitted: OrderedSet::new(),
            poison_on_decode_error: false,
        })))
    }

    fn request(address: u64, ld_id: u8) -> Message {
        Message::M2sReq(M2sReq { address, tag: 7, ld_id, ..M2sReq::default() })
    }

    fn answer(ld_id: u8) -> Message {
        Message::S2mNdr(S2mNdr { opcode: NdrOpcode::Cmp, tag: 7, ld_id, ..S2mNdr::default() })
    }

    fn rule(found: Option<Violation>) -> Option<&'static str> {
        found.map(|violation| violation.rule)
    }

    /// The same tag of both hosts, in another order than they came, and back: nothing is broken and nothing left.
    #[test]
    fn what_passes_as_it_has_to_breaks_nothing() {
        let mut watch = watch();
        (0..2).for_each(|host| assert_eq!(watch.comes(host, request(64, 0)), None));
        for host in [1, 0] {
            assert_eq!(watch.leaves(2, request(64, host + 4)), None);
            assert_eq!(watch.comes(2, answer(host + 4)), None);
        }
        (0..2).for_each(|host| assert_eq!(watch.leaves(host, answer(0)), None));
        assert_eq!(watch.finish(), []);
    }

    /// Every way of an answer and a request to be wrong has its rule, and what is missing is told at the end.
    #[test]
    fn what_differs_names_the_rule() {
        type Events = [(bool, usize, Message)];
        let cases: [(&Events, &str); 6] = [
            (&[(true, 0, request(64, 0)), (false, 2, request(64, 5))], "FAB-MLD-02"),
            (&[(true, 2, answer(4)), (false, 1, answer(0))], "FAB-CMR-02"),
            (&[(true, 2, answer(4)), (false, 0, answer(4))], "FAB-MLD-02"),
            (&[(true, 2, answer(9)), (false, 0, answer(0))], "FAB-MLD-05"),
            (&[(true, 0, request(GIB, 0)), (false, 2, request(GIB, 4))], "FAB-CMR-05"),
            (&[(true, 0, request(2 * GIB, 0)), (false, 2, request(2 * GIB, 4))], "FAB-CMR-04"),
        ];
        for (events, expected) in cases {
            let mut watch = watch();
            let found = events.iter().filter_map(|(comes, port, message)| match comes {
                true => rule(watch.comes(*port, *message)),
                false => rule(watch.leaves(*port, *message)),
            });
            assert_eq!(found.collect::<Vec<_>>(), [expected], "{events:?}");
        }
        let mut lost = watch();
        assert_eq!(lost.comes(0, request(64, 0)), None);
        assert_eq!(lost.finish().into_iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["FAB-CON-01"]);
        let mut twice = watch();
        assert_eq!(twice.comes(2, answer(4)), None);
        assert_eq!((twice.leaves(0, answer(0)), rule(twice.leaves(0, answer(0)))), (None, Some("FAB-SWC-09")));
    }
}
