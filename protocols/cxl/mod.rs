//! Compute Express Link.

pub mod cxl256;
pub mod cxl68;
pub mod cxlio;
pub mod fifo;
pub mod filled;
pub mod hdm_decoder;
pub mod isolation;
pub mod link_status;
pub mod message;
mod turn;

/// Direction of a flit on the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dir {
    /// Host to device: H2D and M2S messages.
    Down,
    /// Device to host: D2H and S2M messages.
    Up,
}

impl Dir {
    /// Both directions.
    pub const ALL: [Dir; 2] = [Dir::Down, Dir::Up];

    /// The other one.
    pub const fn opposite(self) -> Dir {
        match self {
            Dir::Down => Dir::Up,
            Dir::Up => Dir::Down,
        }
    }

    /// Name in JSON forms: `down` or `up`.
    pub const fn name(self) -> &'static str {
        match self {
            Dir::Down => "down",
            Dir::Up => "up",
        }
    }
}
