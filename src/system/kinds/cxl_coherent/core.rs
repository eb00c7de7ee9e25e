//! The core in front of a coherent agent, with the cache that it uses and what it does.

use crate::coherence::Seat;
use crate::field::{FieldRange, config};
use crate::kind::Site;
use crate::quantity::Unit;
use scalepool_coherence::clocked::accessor::{Accessor, CoreAccess};
use scalepool_coherence::clocked::core::AnyCore;
use scalepool_coherence::clocked::making::ClockedHolder;
use scalepool_coherence::clocked::program::CoreProgram;
use scalepool_kernel::Rng;
use scalepool_nodes::cxl::coherent::dealt::Deal;
use scalepool_nodes::cxl::coherent::patterns::{self, PATTERNS};

config! {
    /// A core and its stimulus. Numbers without another source are of the model (basis: model).
    pub struct CxlCore {
        pattern: String = "read-mostly" [Unit::Of("-")] in FieldRange::Words(PATTERNS), "access pattern of the cores";
        accesses: u64 = "2000" [Unit::Of("accesses per core")] in FieldRange::Int(1, 1 << 24), "accesses of each core";
        lines: u64 = "16" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 32), "lines that the cores share";
        outstanding: usize = "4" [Unit::Of("accesses")] in FieldRange::Int(1, 64), "open accesses per core; 1 = sequential";
        cache_lines: usize = "64" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 20), "size of each core's cache";
        poison_every: u64 = "0" [Unit::Of("stores")] in FieldRange::Int(0, 1 << 40), "poison the bytes of one in every N stores of a core; 0 = none (memory §6.3)";
        trace_block: u64 = "64" [Unit::Of("accesses")] in FieldRange::Int(1, 1 << 24), "a trace (--stimulus) is dealt to the cores in turn, in blocks of this many line accesses; it replaces core.pattern, core.accesses and core.lines";
    }
}

impl CxlCore {
    /// What the core of an agent does: of that holder of the domain, or of its home.
    pub(super) fn program(
        &self,
        site: &Site<'_>,
        name: &str,
        seat: &Seat,
        holder: Option<usize>,
    ) -> CoreProgram<CoreAccess> {
        let (core, cores) = seat.domain.core(holder);
        match &site.dealt {
            Some(trace) => {
                let (home, homes) = seat.domain.dealt();
                trace.program(Deal { homes, home, cores, core, block: self.trace_block })
            }
            None => patterns::program(&self.pattern, core, self.lines, self.accesses, Rng::for_name(site.seed, name)),
        }
    }

    /// The core with its program, which may change; a litmus program of the run stands in its place.
    pub(super) fn core<A: ClockedHolder>(
        &self,
        site: &Site<'_>,
        program: impl FnOnce() -> CoreProgram<CoreAccess>,
        amend: impl FnOnce(Accessor) -> Accessor,
    ) -> AnyCore<A> {
        match site.litmus {
            Some(runs) => A::litmus(runs),
            None => {
                let core = Accessor::new(program(), self.outstanding, self.cache_lines).poisoning(self.poison_every);
                A::accessor(amend(core))
            }
        }
    }
}
