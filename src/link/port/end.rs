//! Link ends as ports and pairs drive them: what every end has, and what the port of a CXL link needs beyond that.

use crate::event::{LinkEvent, Severity};
use crate::fault::WireUnit;
use crate::hook::Hooks;
use crate::line_time::LineTimeParts;
use scalepool_forms::FormError;
use scalepool_protocols::wire::Violation;

/// A link end, whatever its protocol. Times are flit clocks of the caller.
pub trait LinkEnd: Send + 'static {
    /// What travels.
    type Unit: WireUnit + Send + 'static;

    /// Signals in waves, with their widths in bits.
    const SIGNALS: &'static [(&'static str, u32)];

    /// Whether broken rules stand with the units that arrive, in waves and traces; else they stand with the signals.
    const FINDINGS_WITH_UNITS: bool = false;

    /// Whether it fills every place of the wire, so that the wire is never empty, see [`LinkEnd::fill`].
    const FILLS: bool = false;

    /// Most broken rules of the peer that its port keeps one by one.
    const MOST_FINDINGS: usize = usize::MAX;

    /// Name of its flits in [`scalepool_protocols::registry::PROTOCOLS`].
    fn protocol(&self) -> &'static str;

    /// The unit of these bytes.
    ///
    /// # Errors
    /// There are too many or too few.
    fn unit(&self, bytes: &[u8]) -> Result<Self::Unit, FormError>;

    /// Takes the even half of a unit; the bytes of the odd half are not there yet.
    fn receive_even(&mut self, unit: &Self::Unit, now_flits: u64) {
        let _ = (unit, now_flits);
    }

    /// Takes a unit off the wire; if its even half was taken before, the rest of it.
    fn receive(&mut self, unit: &Self::Unit, now_flits: u64);

    /// The same with a unit that nobody else needs.
    fn take_in(&mut self, unit: Self::Unit, now_flits: u64) {
        self.receive(&unit, now_flits);
    }

    /// Keeps payload from now on, for [`LinkEnd::take_payload`].
    fn keep_payload(&mut self) {}

    /// Shows the payload taken since the last call, with its number, where a receiver may take it later than it arrives.
    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        let _ = each;
    }

    /// The unit of this flit clock; `None`: nothing that anybody would miss.
    fn transmit(&mut self, now_flits: u64) -> Option<Self::Unit>;

    /// The same where every place of the wire is filled, also with what nobody would miss.
    fn fill(&mut self, now_flits: u64) -> Option<Self::Unit> {
        self.transmit(now_flits)
    }

    /// What the flit clock of the last [`LinkEnd::transmit`] was used for.
    fn uses(&self) -> LineTimeParts;

    /// Trainings, replays and requests for them in a row, without one good unit of payload or an answer between them.
    fn fruitless(&self) -> u32;

    /// The layer below is down, whoever asked for it. A link that knows no training is never told.
    fn phy_down(&mut self) {}

    /// The layer below is up again.
    fn phy_up(&mut self) {}

    /// Whether it asks the physical layer to train; the request is taken.
    fn take_retrain_request(&mut self) -> bool {
        false
    }

    /// Takes hooks; those of before are gone.
    fn attach_hooks(&mut self, hooks: &Hooks);

    /// Its hooks; those of the wire are asked by the port, in front of the faulty wire and behind it.
    fn hooks(&self) -> &Hooks;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<LinkEvent>;

    /// Whether the link repairs what an event says, and a fault input explains it. `damaged`: one changed the unit that has
    /// just come.
    fn is_repaired(&self, event: &LinkEvent, damaged: bool) -> bool {
        damaged && matches!(event.severity, Severity::Corrected | Severity::Retrain)
    }

    /// Whether what it carries has numbers, so that units which vanish or come twice are seen and repaired.
    fn is_numbered(&self) -> bool {
        false
    }

    /// The rule that stopped the link.
    fn halted(&self) -> Option<&'static str>;

    /// Nothing waits, everything sent is acknowledged.
    fn is_quiet(&self) -> bool;

    /// Nothing of its agents waits, is under way or stays here: what it still does is for the link itself.
    fn is_done(&self) -> bool {
        false
    }

    /// Values of [`LinkEnd::SIGNALS`], in that order.
    fn values(&self) -> Vec<u64>;

    /// What is open, for a person to read.
    fn open_work(&self) -> String;
}

/// A link end as the [`LinkEndPort`](super::LinkEndPort) of a CXL link drives it.
pub trait CxlEnd: LinkEnd {
    /// Number of the next unit that it expects, told to the peer beside the wire, where [`LinkEnd::is_done`] needs it.
    fn expects(&self) -> u8 {
        0
    }

    /// What the peer expects, as it was when the unit left that comes now.
    fn peer_expects(&mut self, number: u8) {
        let _ = number;
    }

    /// Holds back or releases the credits of its buffers (a fault input).
    fn hold_credits(&mut self, hold: bool);

    /// The next flit clock in which it has something to do if nothing arrives; `None`: never.
    fn wakes_at(&self, now_flits: u64) -> Option<u64>;

    /// A unit vanished, or came twice, in front of the one that is handed over next. Nobody sees that on a wire: it decides
    /// nothing, and only keeps the checks of a unit against those before it from blaming the peer.
    fn hidden_fault(&mut self) {}

    /// Its agents have nothing more to ask and everything is answered.
    fn is_over(&self) -> bool {
        false
    }

    /// The peer's end is over.
    fn peer_is_over(&mut self) {}
}

/// A link end that carries items of an agent.
pub trait Carries<T>: LinkEnd {
    /// Whether it has room for an item now.
    fn has_room(&self, item: &T) -> bool;

    /// Queues an item.
    ///
    /// # Errors
    /// It must not travel on this link; the rule that it would break.
    fn send(&mut self, item: T) -> Result<(), Violation>;

    /// Takes the next received item out of its buffer.
    fn take(&mut self) -> Option<T>;
}

/// A link end that can say what it has done.
pub trait Reports: LinkEnd {
    /// What the report of a run needs of it: figures and what is open, no flits.
    type Report: Clone + Send + 'static;

    /// The state of this instant.
    fn report(&self) -> Self::Report;
}
