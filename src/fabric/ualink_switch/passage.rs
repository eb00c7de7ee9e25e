//! What judges a UALink switch by the transactions at its ports alone (`ualink` §14).
//!
//! Modelled: for each request and response that came, the port at which it has to leave, as it came; what left otherwise names the rule by what
//! differs: the port, the virtual channel, the order, or that it was to be dropped. Detail: whole transactions without what belongs to a
//! link alone (pool credits, ways of the address cache), in the order in which they pass the ports; no inside of the switch is looked at, so it
//! can be one of somebody else. Left out: times, credits, compressed fields, which a transaction layer expands before, and deny bits that
//! change while the switch runs.
//!
//! A walk: a read from 1 to 3 came at port 1. It leaves at port 3. Left it at port 2, the read that is owed would have the same source, destination
//! and tag, and another port: UAL-SWI-01.

use super::route::{UalRouteRefused, UalRoutes};
use scalepool_link::ualink::tl::TlClass;
use scalepool_protocols::rules;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{At, Violation};
use std::collections::VecDeque;

/// Most transactions that left last, and most that had to be dropped, among which one that leaves again is found.
const REMEMBERED: usize = 64;

/// What tells a transaction apart: its class, source, destination and tag.
type PassageKey = (TlClass, u16, u16, u16);

/// A transaction that came and has not left.
#[derive(Debug, Clone)]
struct Taken {
    from: u16,
    to: Result<u16, UalRouteRefused>,
    came: Transfer,
}

/// Judges the transactions at the ports of a switch.
#[derive(Debug, Clone)]
pub struct UalPassageWatch {
    routes: UalRoutes,
    taken: Vec<Taken>,
    /// Where transactions left, and which, the last one last.
    left: VecDeque<(u16, Transfer)>,
}

/// A rule, what was found and what should have been.
type Named = (&'static str, String, String);

/// A transaction without what belongs to a link; `None`: it is neither an uncompressed request nor a response.
fn between_links(transfer: &Transfer) -> Option<Transfer> {
    let mut own = transfer.clone();
    match &mut own.field {
        ControlField::Request(req) => (req.pool, req.cway, req.cload) = (false, 0, false),
        ControlField::Response(rsp) => rsp.pool = false,
        _ => return None,
    }
    Some(own)
}

fn identity(transfer: &Transfer) -> Option<PassageKey> {
    match &transfer.field {
        ControlField::Request(req) => Some((TlClass::Request, req.src, req.dst, req.tag)),
        ControlField::Response(rsp) => Some((TlClass::Response, rsp.src, rsp.dst, rsp.tag)),
        _ => None,
    }
}

fn channel(transfer: &Transfer) -> u8 {
    match &transfer.field {
        ControlField::Request(req) => req.vchan,
        ControlField::Response(rsp) => rsp.vchan,
        _ => 0,
    }
}

fn said(port: u16, transfer: &Transfer) -> String {
    let Some((class, src, dst, tag)) = identity(transfer) else { return format!("a field at port {port}") };
    let class = if class == TlClass::Request { "request" } else { "response" };
    format!("{class} {tag} from {src} to {dst} on channel {} at port {port}", channel(transfer))
}

impl UalPassageWatch {
    /// Of a switch with these tables, through which nothing has passed.
    pub fn new(routes: UalRoutes) -> UalPassageWatch {
        UalPassageWatch { routes, taken: Vec::new(), left: VecDeque::new() }
    }

    /// A transaction came at a port.
    pub fn comes(&mut self, from: u16, transfer: &Transfer) {
        let Some((came, (_, _, dst, _))) = between_links(transfer).zip(identity(transfer)) else { return };
        let to = self.routes.route(from, dst);
        self.taken.push(Taken { from, to, came });
        // What has to be dropped does not leave, so it would be kept for ever.
        let mut dropped = self.taken.iter().enumerate().filter(|(_, taken)| taken.to.is_err()).map(|(at, _)| at);
        if let (Some(oldest), REMEMBERED..) = (dropped.next(), dropped.count()) {
            self.taken.remove(oldest);
        }
    }

    /// A transaction left at a port. The rule that the switch broke by it.
    pub fn leaves(&mut self, port: u16, transfer: &Transfer) -> Option<Violation> {
        let transfer = between_links(transfer)?;
        let found = match self.taken.iter().position(|taken| taken.to == Ok(port) && taken.came == transfer) {
            Some(at) => {
                let taken = self.taken.remove(at);
                self.overtaken(at, port, &taken)
            }
            None => Some(self.wrong(port, &transfer)),
        };
        if self.left.len() == REMEMBERED {
            self.left.pop_front();
        }
        self.left.push_back((port, transfer));
        found.map(named)
    }

    /// Nothing passes any more. What should have left and did not.
    pub fn finish(&mut self) -> Vec<Violation> {
        let lost = |taken: Taken| {
            let to = taken.to.ok()?;
            let found = format!("nothing left for the {}", said(taken.from, &taken.came));
            Some(named(("UAL-SWI-04", found, said(to, &taken.came))))
        };
        std::mem::take(&mut self.taken).into_iter().filter_map(lost).collect()
    }

    /// One that left in front of another one that had come before it by the same port and goes to the same one.
    fn overtaken(&self, at: usize, port: u16, later: &Taken) -> Option<Named> {
        let class = |transfer: &Transfer| identity(transfer).map(|(class, ..)| class);
        let is_before = |taken: &&Taken| {
            (taken.from, taken.to) == (later.from, later.to) && class(&taken.came) == class(&later.came)
        };
        let earlier = self.taken.iter().take(at).find(is_before)?;
        let expected = format!("behind the {} that came before it", said(earlier.from, &earlier.came));
        Some(("UAL-SWI-06", said(port, &later.came), expected))
    }

    /// The rule of a transaction that is not what is owed.
    fn wrong(&mut self, port: u16, transfer: &Transfer) -> Named {
        let found = said(port, transfer);
        let own = identity(transfer);
        let Some(at) = self.taken.iter().position(|taken| identity(&taken.came) == own) else {
            let is_again = self.left.iter().any(|(before, left)| *before == port && left == transfer);
            return match is_again {
                true => ("UAL-SWI-04", format!("{found} a second time"), "each transaction to leave once".to_owned()),
                false => ("UAL-SWI-04", found, "no transaction, as none came for it".to_owned()),
            };
        };
        let taken = self.taken.remove(at);
        let dropped = || format!("the {} to be dropped", said(taken.from, &taken.came));
        match taken.to {
            Err(UalRouteRefused::Denied { .. }) => ("UAL-SWI-02", found, dropped()),
            Err(UalRouteRefused::OutOfRange { .. }) => ("UAL-SWI-03", found, dropped()),
            Ok(to) if to != port => ("UAL-SWI-01", found, said(to, &taken.came)),
            Ok(to) if channel(&taken.came) != channel(transfer) => ("UAL-SWI-07", found, said(to, &taken.came)),
            Ok(to) => {
                ("UAL-SWI-04", format!("{found} with other content"), format!("{} as it came", said(to, &taken.came)))
            }
        }
    }
}

fn named((rule, found, expected): Named) -> Violation {
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    Violation { rule, at: At::Message, found, expected, text }
}
