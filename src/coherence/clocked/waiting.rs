//! Who may wait for whom inside an agent (`coherence` §3.6).
//!
//! An incoming message is taken only when the classes that it may wait for have room on their way out. A class that it
//! must not wait for is never asked: its queue grows by what the protocol bounds, the requests of the agent itself.

use crate::event::CoherenceEvent;
use crate::message::{Class, Dir, rank, waiting_rule};

/// Whether an incoming message may wait for an outgoing class, at a device or at a host. Deadlock freedom is the order of
/// [`rank`]: D2H Req > M2S Req > S2M BISnp > {M2S RwD, H2D Req} > {NDR, DRS, D2H Rsp, D2H Data} > {H2D Rsp, H2D Data, BIRsp}.
pub const fn may_wait_for(incoming: Class, outgoing: Class) -> bool {
    incoming.dir() as u8 != outgoing.dir() as u8 && rank(outgoing) > rank(incoming)
}

/// Who waits for whom in one agent: the table above, what a direct peer adds, and what a test adds to break it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaitTable {
    peer: bool,
    extra: Vec<(Class, Class)>,
}

impl WaitTable {
    /// Of a device that drives CXL.mem towards a peer itself (`coherence` §3.7).
    pub fn peer() -> Self {
        Self { peer: true, extra: Vec::new() }
    }

    /// With one more wait, which the sheet does not have; tests only.
    pub fn with(mut self, incoming: Class, outgoing: Class) -> Self {
        self.extra.push((incoming, outgoing));
        self
    }

    /// The rule that forbids `incoming` to wait for `outgoing`; `None` when it may.
    pub fn forbids(&self, incoming: Class, outgoing: Class) -> Option<&'static str> {
        use Class::*;
        if self.peer && outgoing.dir() == Dir::Down {
            // Towards the peer it is a host, and it holds little: a Req nothing, a RwD Req and BISnp.
            let may = match outgoing {
                M2sRwd => matches!(incoming, M2sReq | S2mBisnp),
                M2sBirsp => !matches!(incoming, H2dRsp | H2dData | M2sBirsp),
                _ => false,
            };
            return (!may).then_some("COH-P2P-03");
        }
        (!may_wait_for(incoming, outgoing)).then(|| waiting_rule(incoming))
    }

    /// Whether `incoming` waits for `outgoing` in this agent.
    pub fn waits(&self, incoming: Class, outgoing: Class) -> bool {
        self.forbids(incoming, outgoing).is_none() || self.extra.contains(&(incoming, outgoing))
    }

    /// All waits of the agent: the class that comes in, and the one that it waits for.
    pub fn all(&self) -> impl Iterator<Item = (Class, Class)> + '_ {
        let pairs = Class::ALL.into_iter().flat_map(|incoming| Class::ALL.map(|outgoing| (incoming, outgoing)));
        pairs.filter(|&(incoming, outgoing)| self.waits(incoming, outgoing))
    }

    /// A cycle of classes in which each waits for the next, where all other agents keep the sheet. The event names the
    /// row of the wait that closes it.
    pub fn cycle(&self) -> Option<CoherenceEvent> {
        let mut waits: Vec<(Class, Class)> = Vec::new();
        for incoming in Class::ALL {
            let of = |o: &Class| may_wait_for(incoming, *o) || self.waits(incoming, *o);
            waits.extend(Class::ALL.into_iter().filter(of).map(|outgoing| (incoming, outgoing)));
        }
        for (incoming, outgoing) in Class::ALL.into_iter().flat_map(|i| Class::ALL.into_iter().map(move |o| (i, o))) {
            let Some(rule) = self.forbids(incoming, outgoing).filter(|_| self.waits(incoming, outgoing)) else {
                continue;
            };
            // From what it waits for back to itself.
            let mut chain = vec![outgoing];
            let mut reached = 0;
            while reached < chain.len() {
                let at = chain[reached];
                let next = waits.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to);
                let new: Vec<_> = next.filter(|c| !chain.contains(c)).collect();
                chain.extend(new);
                reached += 1;
            }
            if chain.contains(&incoming) {
                let found = format!("{} waits for {}, which waits for it", incoming.name(), outgoing.name());
                return Some(CoherenceEvent::new(rule, None, "agent", found, "no cycle"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of `coherence` §3.6 as the sheet writes them, class by class.
    #[test]
    fn the_order_of_classes_gives_the_tables_of_the_sheet() {
        use Class::*;
        let tables: [(Class, &[Class]); 12] = [
            // At a device.
            (M2sReq, &[S2mNdr, S2mDrs, D2hRsp, D2hData, S2mBisnp]),
            (M2sRwd, &[S2mNdr, S2mDrs, D2hRsp, D2hData]),
            (H2dReq, &[S2mNdr, S2mDrs, D2hRsp, D2hData]),
            (H2dRsp, &[]),
            (H2dData, &[]),
            (M2sBirsp, &[]),
            // At a host.
            (S2mNdr, &[H2dRsp, H2dData, M2sBirsp]),
            (S2mDrs, &[H2dRsp, H2dData, M2sBirsp]),
            (D2hRsp, &[H2dRsp, H2dData, M2sBirsp]),
            (D2hData, &[H2dRsp, H2dData, M2sBirsp]),
            (S2mBisnp, &[M2sRwd, H2dReq, H2dRsp, H2dData, M2sBirsp]),
            (D2hReq, &[H2dReq, H2dRsp, H2dData, M2sReq, M2sRwd, M2sBirsp]),
        ];
        for (incoming, may) in tables {
            for outgoing in Class::ALL {
                assert_eq!(may_wait_for(incoming, outgoing), may.contains(&outgoing), "{incoming:?} for {outgoing:?}");
            }
        }
    }
}
