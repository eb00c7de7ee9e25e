//! What sits above an ARB/MUX: link layers that make and take units.

use crate::cxl68::Cxl68End;
use crate::line_time::LineTimeParts;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use std::collections::VecDeque;

/// A link layer of one protocol.
pub trait Client {
    /// The unit for this place, `None`: nothing to send. Called only while the vLSM is Active.
    fn transmit(&mut self, now: u64) -> Option<Cxl68Unit>;
    /// What the place was used for for which [`Client::transmit`] was asked last.
    fn uses(&self) -> LineTimeParts {
        LineTimeParts::default()
    }
    /// Takes a unit of its protocol.
    fn receive(&mut self, unit: &Cxl68Unit, now: u64);
    /// The vLSM has left Active for training: units on the wire are lost.
    fn phy_down(&mut self);
    /// The vLSM is Active again.
    fn phy_up(&mut self);
    /// The vLSM has gone to Reset: begin again.
    fn link_reset(&mut self);
    /// Whether nothing waits, so that a power state may be entered.
    fn is_quiet(&self) -> bool;
    /// Whether it asks the physical layer to train; the request is taken.
    fn take_retrain_request(&mut self) -> bool;
}

impl Client for Cxl68End {
    fn transmit(&mut self, now: u64) -> Option<Cxl68Unit> {
        Cxl68End::transmit(self, now)
    }

    fn uses(&self) -> LineTimeParts {
        Cxl68End::uses(self)
    }

    fn receive(&mut self, unit: &Cxl68Unit, now: u64) {
        Cxl68End::receive(self, unit, now);
    }

    fn phy_down(&mut self) {
        Cxl68End::phy_down(self);
    }

    fn phy_up(&mut self) {
        Cxl68End::phy_up(self);
    }

    /// An end as it was built: messages and counters are gone.
    fn link_reset(&mut self) {
        // The configuration was accepted once, so it is again.
        if let Ok(mut fresh) = Cxl68End::new(self.config().clone()) {
            fresh.attach_hooks(self.hooks());
            *self = fresh;
        }
    }

    fn is_quiet(&self) -> bool {
        Cxl68End::is_quiet(self)
    }

    fn take_retrain_request(&mut self) -> bool {
        Cxl68End::take_retrain_request(self)
    }
}

/// CXL.io as opaque units: whatever is queued travels, whatever arrives is kept. It repairs nothing that training loses.
#[derive(Debug, Clone, Default)]
pub struct IoQueue {
    /// Units to be sent, with the protocol ID of CXL.io.
    pub outgoing: VecDeque<Cxl68Unit>,
    /// Units that came.
    pub incoming: VecDeque<Cxl68Unit>,
}

impl Client for IoQueue {
    fn transmit(&mut self, _now: u64) -> Option<Cxl68Unit> {
        self.outgoing.pop_front()
    }

    fn receive(&mut self, unit: &Cxl68Unit, _now: u64) {
        self.incoming.push_back(*unit);
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    /// Units that waited are gone; those that came stay.
    fn link_reset(&mut self) {
        self.outgoing.clear();
    }

    fn is_quiet(&self) -> bool {
        self.outgoing.is_empty()
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }
}
