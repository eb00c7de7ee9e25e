//! What stands above the numbers of a 256B link: a link layer, or the ARB/MUX in front of two of them.
//!
//! The end of the link numbers, keeps, repeats and checks flits and knows nothing of their content; its client fills
//! payload flits and takes those that came well, in order and once. A walk through one flit clock: payload that arrived is
//! handed over with [`Client::receive`]; then, if a new flit may go, [`Client::transmit`] is asked for one.
//!
//! Times are flit clocks of the link, counted from any start; they never go back, and they may jump where nothing was to
//! be done, see [`Client::wakes_at`].

use super::form::Flit256;
use crate::event::LinkEvent;
use crate::hook::Hooks;
use crate::line_time::{LineTimeParts, Use};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, lopt_io, standard_io};

/// How much of a flit has arrived (`cxl-256b` §7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlitPart {
    /// All of it.
    Whole,
    /// The even half of a latency-optimised flit; the other bytes must not be read yet.
    Even,
    /// The odd half, after the even one was handed over; the flit is whole. What the even half held counts as taken.
    Odd,
}

impl FlitPart {
    /// The TLP bytes of a CXL.io flit that come with this part (`cxl-256b` §1.2, §1.5). A TLP that the even half leaves open
    /// goes on with the odd one.
    pub fn tlp_bytes(self, mode: Mode, flit: &Cxl256Flit) -> Vec<u8> {
        let (even, odd) = if mode.is_lopt() { (lopt_io::TLP_EVEN, lopt_io::TLP_ODD) } else { (standard_io::TLP, 0..0) };
        match self {
            FlitPart::Whole => [&flit.0[even], &flit.0[odd]].concat(),
            FlitPart::Even => flit.0[even].to_vec(),
            FlitPart::Odd => flit.0[odd].to_vec(),
        }
    }
}

/// A flit that has to go at once and in front of what was about to go: a Viral (`cxl-256b` §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Urgent<F = Cxl256Flit> {
    /// Takes the place of the flit that leaves in the retry buffer.
    pub flit: F,
    /// Takes the next place: the flit that leaves, or what remains to be sent of it.
    pub follows: Option<F>,
}

/// A link layer over a 256B link.
pub trait Client {
    /// What its flits are.
    type Flit: Flit256;

    /// The next payload flit, with its Flit Type and body; number, CRC and FEC are added below. `None`: nothing to send.
    fn transmit(&mut self, now_flits: u64) -> Option<Self::Flit>;

    /// What the place was used for for which [`Client::transmit`] was asked last. A client that keeps no account sends payload.
    fn uses(&self) -> LineTimeParts {
        LineTimeParts::all(Use::Payload)
    }

    /// Takes payload that came well: each flit once, in the order of the numbers.
    fn receive(&mut self, flit: &Self::Flit, part: FlitPart, now_flits: u64);

    /// Takes a flit back that [`Client::receive`] has read, for its memory.
    fn done_with(&mut self, flit: Self::Flit) {
        drop(flit);
    }

    /// A flit that takes the place of `leaving`, the new payload that was about to go (`None`: a NOP was). `leaving` is sent
    /// with a spoilt CRC, or the urgent flit itself if there is none; the replay brings the urgent flit, then what follows.
    /// Of a latency-optimised `leaving` whose even half the urgent flit repeats, the odd half alone is spoilt.
    fn urgent(&mut self, leaving: Option<&Self::Flit>) -> Option<Urgent<Self::Flit>> {
        let _ = leaving;
        None
    }

    /// The four DLLP bytes for a CXL.io flit or a NOP that leaves now, also when a flit goes again (`cxl-256b` §9).
    /// `None`: the bytes of a new flit stay as they are, those of a repeated one and of a NOP are 0.
    fn dllp(&mut self, now_flits: u64) -> Option<[u8; 4]> {
        let _ = now_flits;
        None
    }

    /// Takes the DLLP bytes of every good CXL.io flit and NOP, whether its payload is new or not.
    fn receive_dllp(&mut self, bytes: [u8; 4], now_flits: u64) {
        let _ = (bytes, now_flits);
    }

    /// The physical layer leaves L0: for training, or into a power state.
    fn phy_down(&mut self);

    /// The physical layer is in L0 again; everything not acknowledged will go again.
    fn phy_up(&mut self);

    /// Begins as new: the link has come up from its down state, before [`Client::phy_up`], or the client's vLSM has gone to
    /// Reset. Nothing that was queued or sent counts.
    fn link_reset(&mut self);

    /// Whether this layer asks for a hot reset of the link; the request is taken.
    fn take_hot_reset(&mut self) -> bool {
        false
    }

    /// The peer resets the link.
    fn peer_resets(&mut self) {}

    /// Whether this layer asks for training; the request is taken.
    fn take_retrain_request(&mut self) -> bool;

    /// Nothing waits to be sent, taken or returned.
    fn is_quiet(&self) -> bool;

    /// Flit clock, later than `now_flits`, at which it has payload or a DLLP to send without being called before; `None`:
    /// never. NOPs until then may be left out, and [`Client::dllp`] is not asked for them.
    fn wakes_at(&self, now_flits: u64) -> Option<u64>;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<LinkEvent>;

    /// Whether there may be some.
    fn has_events(&self) -> bool {
        true
    }

    /// Takes the hooks of the end; they concern one that packs messages.
    fn attach_hooks(&mut self, hooks: &Hooks) {
        let _ = hooks;
    }
}
