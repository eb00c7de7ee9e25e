//! Which transaction caused which, across links: who serves a request finds who sent it by the identifiers of the protocol.
//!
//! Modelled: what protocols tell requests apart by, each where it counts ([`RequestIdentifier`]); what an identifier
//! was used for last. No link carries anything for this, so a component of RTL may stand at either end: a request that
//! comes from it has parent 0. Left out: the inside of components, which say themselves what caused what
//! ([`super::Tap::record`]).
//!
//! A walk through one read: the host's record of the request is [`TransactionNaming::As`] the tag of its link; the
//! device's record of what it does is [`TransactionNaming::By`] that tag, and gets the host's transaction as its
//! parent; a switch between two links, whose records are [`TransactionNaming::Through`], takes the meaning of the
//! identifier from one link to the other. When the host's transaction has ended, the tag means nothing. Records come in
//! the order of time, so a request is known before it arrives.

use super::{Record, RecordKind};
use scalepool_ordered::OrderedMap;

/// What tells requests apart, and who counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestIdentifier {
    /// Tag of CXL.mem, of a host on a link.
    CxlTag,
    /// Tag of a conflict of CXL.mem, which is that of a request, of a host on a link.
    CxlConflict,
    /// CQID of CXL.cache, of a device on a link.
    Cqid,
    /// UQID of CXL.cache, of a host on a link.
    Uqid,
    /// Tag of a back-invalidate snoop, of a device on a link.
    BiTag,
    /// Transaction ID of CXL.io, of a requester on a link.
    IoTag,
    /// Number of a posted TLP of CXL.io on a link, whose order nothing changes.
    IoPosted,
    /// Tag of UALink, of an originator and one of its ports.
    UalinkTag,
    /// Tag of an NVLink request with an answer, of a requester.
    NvlinkTag,
    /// Address of a reduction, for which the switch reads under a name of its own.
    NvlinkReduction,
    /// Number of a posted NVLink request, of a requester and its target; addresses tell links apart.
    NvlinkPosted,
}

impl RequestIdentifier {
    /// Its requests have no answer: they have ended for their sender when they arrive.
    const fn is_posted(self) -> bool {
        matches!(self, RequestIdentifier::IoPosted | RequestIdentifier::NvlinkPosted)
    }
}

/// An identifier with its value: a request under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionHandle {
    /// What counts.
    pub identifier: RequestIdentifier,
    /// Number of the link on which it counts, or of the fabric.
    pub link: u32,
    /// Whose it is, where several share that.
    pub owner: u32,
    /// Its value.
    pub value: u16,
    /// Address of the request where the identifier alone may be in use twice, else 0.
    pub address: u64,
}

/// How the transaction of a record is known outside of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionNaming {
    /// Not at all.
    #[default]
    Nowhere,
    /// Its request leaves as this one.
    As(TransactionHandle),
    /// It came as this one. What begins is caused by it; another record without an id belongs to it.
    By(TransactionHandle),
    /// It came as the first one and leaves as the second one; the record belongs to it.
    Through(TransactionHandle, TransactionHandle),
}

/// Posted requests that are remembered for an identifier: it is not known when they arrive, and to how many.
const MOST_POSTED: usize = 64;

/// What identifiers mean now, and what is under way.
#[derive(Debug, Default)]
pub(super) struct Handles {
    /// Transactions that have begun and not ended, each with its parent.
    open: OrderedMap<u64, u64>,
    /// Handles without their address; transactions with it, more than one only where addresses tell them apart.
    bound: OrderedMap<TransactionHandle, Vec<(u64, u64)>>,
}

impl Handles {
    /// Fills in `id` and `parent` of the next record.
    pub fn complete(&mut self, record: &mut Record) {
        if let TransactionNaming::By(handle) | TransactionNaming::Through(handle, _) = record.named {
            let found = self.find(handle);
            match record.kind {
                RecordKind::Begin if record.parent == 0 => record.parent = found,
                RecordKind::Begin => (),
                _ if record.id == 0 => record.id = found,
                _ => (),
            }
        }
        match record.kind {
            _ if record.id == 0 => return,
            RecordKind::Begin => {
                self.open.insert(record.id, record.parent);
            }
            RecordKind::End => record.parent = self.open.remove(&record.id).unwrap_or(record.parent),
            _ => record.parent = self.open.get(&record.id).copied().unwrap_or(record.parent),
        }
        if let TransactionNaming::As(handle) | TransactionNaming::Through(_, handle) = record.named {
            self.bind(handle, record.id);
        }
    }

    fn find(&self, handle: TransactionHandle) -> u64 {
        let bound = self.bound.get(&TransactionHandle { address: 0, ..handle }).into_iter().flatten();
        let means = |(address, id): &&(u64, u64)| {
            *address == handle.address && (handle.identifier.is_posted() || self.open.contains_key(id))
        };
        bound.rev().find(means).map_or(0, |(_, id)| *id)
    }

    fn bind(&mut self, handle: TransactionHandle, id: u64) {
        let bound = self.bound.entry(TransactionHandle { address: 0, ..handle }).or_default();
        match handle.identifier.is_posted() {
            true if bound.len() >= MOST_POSTED => drop(bound.remove(0)),
            true => (),
            false => bound.retain(|(address, id)| *address != handle.address && self.open.contains_key(id)),
        }
        bound.push((handle.address, id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Hub, PlaceKind, Stamp};

    fn tag(link: u32, value: u16) -> TransactionHandle {
        TransactionHandle { identifier: RequestIdentifier::CxlTag, link, owner: 0, value, address: 0 }
    }

    /// Ids and parents of the records that three places make.
    #[test]
    fn a_request_is_found_across_links_while_it_is_open() {
        let mut hub = Hub::new(true);
        let [mut host, mut switch, mut device] =
            ["host", "switch", "device"].map(|p| hub.tap(p, PlaceKind::Messages(&[])));
        let at = |t_fs| Stamp { t_fs, cycle: 0 };
        let (access, request, served) = (host.new_id(), host.new_id(), device.new_id());
        host.record(at(0), RecordKind::Begin, access, 0, || Body::None);
        host.named(TransactionNaming::As(tag(1, 7)), at(0), RecordKind::Begin, request, access, || Body::None);
        switch.named(TransactionNaming::Through(tag(1, 7), tag(2, 7)), at(1), RecordKind::Mark, 0, 0, || Body::None);
        device.named(TransactionNaming::By(tag(2, 7)), at(2), RecordKind::Begin, served, 0, || Body::None);
        device.record(at(3), RecordKind::End, served, 0, || Body::None);
        host.record(at(4), RecordKind::End, request, 0, || Body::None);
        device.named(TransactionNaming::By(tag(2, 7)), at(5), RecordKind::Begin, served, 0, || Body::None);
        device.named(TransactionNaming::By(tag(1, 8)), at(6), RecordKind::Mark, 0, 0, || Body::None);
        let found: Vec<_> = hub.drain().iter().map(|r| (r.id, r.parent)).collect();
        let of_request = (request, access);
        let of_served = (served, request);
        let expected = [(access, 0), of_request, of_request, of_served, of_served, of_request, (served, 0), (0, 0)];
        assert_eq!(found, expected);
    }

    /// One originator may use a tag on each of its ports; a posted request is over when it arrives.
    #[test]
    fn addresses_tell_requests_apart_and_posted_ones_are_found_behind_their_end() {
        let mut handles = Handles::default();
        let ualink = |address| TransactionHandle {
            identifier: RequestIdentifier::UalinkTag,
            link: 0,
            owner: 3,
            value: 1,
            address,
        };
        handles.open.extend([(10, 0), (11, 0)]);
        handles.bind(ualink(0x40), 10);
        handles.bind(ualink(0x80), 11);
        assert_eq!([0x40, 0x80, 0xc0].map(|a| handles.find(ualink(a))), [10, 11, 0]);
        let posted = TransactionHandle { identifier: RequestIdentifier::NvlinkPosted, ..ualink(0) };
        handles.bind(posted, 12);
        assert_eq!(handles.find(posted), 12);
        // What has ended leaves with the next request of the same identifier.
        handles.open.clear();
        handles.open.insert(13, 0);
        handles.bind(ualink(0x100), 13);
        assert_eq!(handles.bound[&ualink(0)], [(0x100, 13)]);
    }
}
