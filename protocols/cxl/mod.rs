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

/// Moves the classes that were served to the end of their turn; each part keeps its order.
fn served_last<C: Copy>(turn: &mut [C], is_served: impl Fn(C) -> bool) {
    let Some(mut kept) = turn.iter().position(|class| is_served(*class)) else { return };
    for n in kept + 1..turn.len() {
        let class = turn[n];
        if !is_served(class) {
            // One behind those that were served, which move on by one.
            turn.copy_within(kept..n, kept + 1);
            turn[kept] = class;
            kept += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn those_that_were_served_go_behind_the_others_in_their_order() {
        for served in 0..1u32 << 6 {
            let (mut turn, mut sorted) = ([3, 0, 5, 1, 4, 2], [3, 0, 5, 1, 4, 2]);
            super::served_last(&mut turn, |n| served >> n & 1 == 1);
            sorted.sort_by_key(|n| served >> n & 1);
            assert_eq!(turn, sorted, "{served:#b}");
        }
    }
}
