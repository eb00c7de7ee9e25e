//! How messages of 256B flits find their way.

/// How messages find their way, and so which layouts they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Routing {
    /// Hierarchy based: CacheID, LD-ID, BI-ID (`cxl-256b` §3.1).
    Hbr,
    /// Port based: SPID, DPID (`cxl-256b` §3.2).
    Pbr,
}
