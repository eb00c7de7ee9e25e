//! The interfaces of a link end: the one that every protocol implements, and the additions for the port of a CXL link.

use crate::event::{LinkEvent, Severity};
use crate::fault::WireUnit;
use crate::health::LinkHealth;
use crate::health::liveness::LinkWait;
use crate::hook::Hooks;
use crate::line_time::{LineTime, LineTimeParts};
use scalepool_forms::FormError;
use scalepool_protocols::wire::Violation;

/// A link end of any protocol. Times are flit clocks of the caller.
pub trait LinkEnd: Send + 'static {
    /// The wire unit of the protocol.
    type Unit: WireUnit + Send + 'static;

    /// Signals in waves, with their widths in bits.
    const SIGNALS: &'static [(&'static str, u32)];

    /// Whether waveforms and traces show broken rules at the received units; if not, they show them at the signals.
    const FINDINGS_WITH_UNITS: bool = false;

    /// Whether the end sends a unit in every unit slot of the wire, see [`LinkEnd::fill`].
    const FILLS: bool = false;

    /// Maximum number of broken rules of the peer that the port keeps individually.
    const MOST_FINDINGS: usize = usize::MAX;

    /// Name of its flits in [`scalepool_protocols::registry::PROTOCOLS`].
    fn protocol(&self) -> &'static str;

    /// Builds a unit from its bytes.
    ///
    /// # Errors
    /// The number of bytes is wrong.
    fn unit(&self, bytes: &[u8]) -> Result<Self::Unit, FormError>;

    /// Receives the even half of a unit; the bytes of the odd half have not arrived yet.
    fn receive_even(&mut self, unit: &Self::Unit, now_flits: u64) {
        let _ = (unit, now_flits);
    }

    /// Receives a unit from the wire; only its odd half if the even half was received before.
    fn receive(&mut self, unit: &Self::Unit, now_flits: u64);

    /// Receives a unit that nobody else needs: what it holds may be taken out of it.
    fn take_in(&mut self, unit: &mut Self::Unit, now_flits: u64) {
        self.receive(unit, now_flits);
    }

    /// Starts keeping payload for [`LinkEnd::take_payload`].
    fn keep_payload(&mut self) {}

    /// Passes the payload accepted since the last call, with its sequence number, to `each`. Only protocols whose
    /// receiver may accept payload later than it arrives do so.
    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        let _ = each;
    }

    /// The unit to send in this flit clock; `None` if only an idle unit would be sent, which the model leaves out.
    fn transmit(&mut self, now_flits: u64) -> Option<Self::Unit>;

    /// The unit to send in this flit clock where every slot of the wire is filled, idle units included.
    fn fill(&mut self, now_flits: u64) -> Option<Self::Unit> {
        self.transmit(now_flits)
    }

    /// What the flit clock of the last [`LinkEnd::transmit`] was used for.
    fn uses(&self) -> LineTimeParts;

    /// Adds that to the account of the line, for a unit of so many bits.
    #[inline]
    fn account(&self, unit_bits: u64, time: &mut LineTime) {
        time.add(unit_bits, &self.uses());
    }

    /// Number of consecutive trainings, replays and requests for either, without one good payload unit or a response
    /// between them.
    fn fruitless(&self) -> u32;

    /// Signals that the physical layer is down, whichever end requested it. Never called on a link without training.
    fn phy_down(&mut self) {}

    /// Signals that the physical layer is up again.
    fn phy_up(&mut self) {}

    /// Whether the end requests training from the physical layer; the call clears the request.
    fn take_retrain_request(&mut self) -> bool {
        false
    }

    /// Installs hooks, which replace the previous ones.
    fn attach_hooks(&mut self, hooks: &Hooks);

    /// The installed hooks. The port calls the hooks of the wire itself, before and after the faulty wire.
    fn hooks(&self) -> &Hooks;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<LinkEvent>;

    /// Whether there may be some. Nearly always there is none, and an end that says so is not asked for them.
    fn has_events(&self) -> bool {
        true
    }

    /// Whether an event reports an error that an injected fault explains and that the link repairs. `damaged`: an
    /// injected fault changed the unit that has just arrived.
    fn is_repaired(&self, event: &LinkEvent, damaged: bool) -> bool {
        damaged && matches!(event.severity, Severity::Corrected | Severity::Retrain)
    }

    /// Signals that a unit vanished or was duplicated before the one that is received next. A real receiver cannot see
    /// that, so it changes no decision; it only keeps checks against earlier units from blaming the peer.
    fn hidden_fault(&mut self) {}

    /// Whether units have sequence numbers, so that lost and duplicated units are detected and repaired.
    fn is_numbered(&self) -> bool {
        false
    }

    /// Id of the rule that stopped the link.
    fn halted(&self) -> Option<&'static str>;

    /// Whether nothing waits and everything sent has been acknowledged.
    fn is_quiet(&self) -> bool;

    /// Whether no item of the agents waits, is in flight or is stored at this end; further activity serves only the
    /// link itself.
    fn is_done(&self) -> bool {
        false
    }

    /// Values of [`LinkEnd::SIGNALS`], in that order.
    fn values(&self) -> Vec<u64>;

    /// Lets time pass up to a flit clock, before anything happens in it. The states that the end has been in since the last
    /// call get this time.
    fn pass_time(&mut self, now_flits: u64) {
        let _ = now_flits;
    }

    /// The figures of the end, with the time of its states up to a flit clock. An end without figures has none.
    fn health(&self, now_flits: u64) -> LinkHealth {
        let _ = now_flits;
        LinkHealth::default()
    }

    /// Tells everything that the end waits for now.
    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let _ = each;
    }

    /// Reports from now on, as [`Severity::Corrected`], also damage of the line that the end repairs or that a replay makes
    /// good, which a run counts alone.
    fn report_repairs(&mut self) {}

    /// Description of the outstanding work, for error messages.
    fn open_work(&self) -> String;
}

/// A link end as the [`FlitPhy`](super::FlitPhy) of a CXL link drives it.
pub trait CxlEnd: LinkEnd {
    /// Sequence number of the next unit that the end expects. The peer receives it out of band where
    /// [`LinkEnd::is_done`] depends on it.
    fn expects(&self) -> u8 {
        0
    }

    /// Takes the sequence number that the peer expected when it sent the unit that arrives now.
    fn peer_expects(&mut self, number: u8) {
        let _ = number;
    }

    /// Holds back or releases the credits of its buffers (a fault input).
    fn hold_credits(&mut self, hold: bool);

    /// The next flit clock in which the end has work if nothing arrives; `None` = never.
    fn wakes_at(&self, now_flits: u64) -> Option<u64>;

    /// Whether the agents will issue no more requests and every request has been answered.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether the peer is to be told that the agents of this end have finished. An end between two switches, whose both sides
    /// ask, tells it before it is over itself.
    fn tells_over(&self) -> bool {
        self.is_over()
    }

    /// Signals that the agents of the peer's end have finished.
    fn peer_is_over(&mut self) {}

    /// Whether its component asks for a hot reset of the link; the request is taken.
    fn take_hot_reset(&mut self) -> bool {
        false
    }

    /// Signals that the peer's component resets the link.
    fn peer_resets(&mut self) {}
}

/// A link end that carries items of an agent.
pub trait Carries<T>: LinkEnd {
    /// Whether it has room for an item now.
    fn has_room(&self, item: &T) -> bool;

    /// Whether it has room for an item, whatever it is.
    fn has_room_for_any(&self) -> bool {
        false
    }

    /// Queues an item.
    ///
    /// # Errors
    /// The item must not travel on this link; the error names the rule that it would break.
    fn send(&mut self, item: T) -> Result<(), Violation>;

    /// Whether there may be a received item that nobody has taken.
    fn has_arrivals(&self) -> bool {
        true
    }

    /// Queues an item where it lies; what is left of it is nobody's. An item that is moved out of the channel first is moved twice.
    ///
    /// # Errors
    /// As [`Carries::send`].
    #[inline]
    fn send_taken(&mut self, item: &mut Option<T>) -> Result<(), Violation> {
        item.take().map_or(Ok(()), |item| self.send(item))
    }

    /// Takes the next received item out of its buffer.
    fn take(&mut self) -> Option<T>;

    /// Takes the next item that is whole: of what comes in parts, all of them. For agents, which work on whole items.
    fn take_whole(&mut self) -> Option<T> {
        self.take()
    }

    /// Gives the next item that is whole to `give`, without moving it in between; `false`: there is none.
    #[inline]
    fn give_whole(&mut self, give: impl FnOnce(T)) -> bool {
        self.take_whole().map(give).is_some()
    }
}

/// A link end that reports its results.
pub trait Reports: LinkEnd {
    /// The data that the report of a run needs: figures and outstanding work, no flits.
    type Report: Clone + Send + 'static;

    /// The report at this instant.
    fn report(&self) -> Self::Report;
}
