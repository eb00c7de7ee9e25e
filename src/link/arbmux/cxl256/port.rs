//! An ARB/MUX over CXL.io and CXL.cachemem behind a port of the kernel: its signals, its credits, its open work.

use super::mux::ArbMux;
use crate::arbmux::state::ArbMuxInstance;
use crate::cxl256::Cachemem;
use crate::cxl256::port::{Layer, Signal, signals};
use crate::health::LinkHealth;
use crate::health::liveness::LinkWait;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;

impl<I: Layer<Flit = Cxl256Flit>> Layer for ArbMux<I, Cachemem> {
    const SIGNALS: &'static [Signal] = &signals::<8, 15>([
        ("io_active", 1),
        ("cachemem_active", 1),
        ("io_up", 1),
        ("io_flits", 32),
        ("cachemem_flits", 32),
        ("almps", 16),
        ("credits_waiting", 16),
        ("owed_slots", 6),
    ]);

    fn values(&self) -> Vec<u64> {
        let [io, cachemem] = ArbMuxInstance::ALL.map(|instance| self.may_send(instance).into());
        let ([io_flits, cachemem_flits], almps) = (self.stats().sent, self.stats().almps_sent);
        let mut values = vec![io, cachemem, Layer::is_up(&self.io).into(), io_flits, cachemem_flits, almps];
        values.extend(Layer::values(&self.cachemem));
        values
    }

    fn hold_credits(&mut self, hold: bool) {
        Layer::hold_credits(&mut self.io, hold);
        Layer::hold_credits(&mut self.cachemem, hold);
    }

    fn lacks_credit(&self) -> bool {
        Layer::lacks_credit(&self.io) || Layer::lacks_credit(&self.cachemem)
    }

    fn is_up(&self) -> bool {
        Layer::is_up(&self.cachemem)
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        self.cachemem.fill_health(health);
    }

    fn credit_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        self.cachemem.credit_waits(each);
    }

    fn halted(&self) -> Option<&'static str> {
        Layer::halted(&self.cachemem)
    }

    fn open_work(&self) -> String {
        format!("{}; {}", Layer::open_work(&self.io), Layer::open_work(&self.cachemem))
    }
}
