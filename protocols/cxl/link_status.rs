//! What a component and its link tell each other beside messages.

/// A status of a link that carries CXL.cache and CXL.mem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// Viral, with its vector of logical devices; 0: all.
    Viral(u16),
    /// Viral is over, as a conventional reset ends it. No peer hears of that.
    ViralOver,
    /// A hot reset.
    HotReset,
}
