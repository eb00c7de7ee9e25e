//! HDM decoders: windows of system (host physical) addresses, interleaved over targets.
//!
//! Modelled: the two halves of one decode. The root selects the target of an address, by modulo or XOR arithmetic
//! (`fabric` §2.2); the device takes the base of the window and the bits of the interleave out and adds the device address
//! at which its share of the window begins (`fabric` §2.3). Between them a switch may select again
//! ([`bridge`](crate::bridge)): the root then has fewer ways than the window. Left out: registers and their commit, skips
//! between decoders, UIO.
//!
//! A walk through one address: [`Interleave::way`] names the target by the chunk of the whole address; the host sends the
//! request there with the address as it is; [`Decoders::device_address`] finds the window that holds it and gives the byte
//! of the device.

/// Base and size of a window are multiples of this: decoder registers hold address bits from 28 on (`fabric` §2.1).
pub const WINDOW_STEP_BYTES: u64 = 256 << 20;
/// Host physical addresses end here: messages of CXL.mem carry Address\[51:6\] (`cxl-68b` §2.1, `cxl-256b` §3.1).
pub const ADDRESS_END: u64 = 1 << 52;
/// Numbers of targets that a window can have (`fabric` HDM-9).
pub const WAYS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
/// Sizes of a chunk, the bytes in a row at one target (`fabric` §2.1).
pub const GRANULARITIES: [u64; 7] = [256, 512, 1024, 2048, 4096, 8192, 16384];
/// Decoders of a device: as many windows can lead to it (`fabric` §2.1).
pub const DEVICE_DECODERS: usize = 10;

/// Address bits whose parity is bit i of the target in XOR arithmetic, for chunks of 256 bytes: the published maps
/// (`fabric` §2.5). Larger chunks shift them (basis: model; the sheet has no others).
const XOR_MAPS: [u64; 4] = [0x202_0900, 0x404_1200, 0x101_0400, 0x800];

/// How the target follows from the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// Address bits as they are.
    Modulo,
    /// Parities of address bits, which spread regular strides; 1 and 3 ways have none of them and are as modulo.
    Xor,
}

impl Arithmetic {
    /// All of them.
    pub const ALL: [Arithmetic; 2] = [Arithmetic::Modulo, Arithmetic::Xor];

    /// As descriptions name it.
    pub const fn name(self) -> &'static str {
        match self {
            Arithmetic::Modulo => "modulo",
            Arithmetic::Xor => "xor",
        }
    }
}

/// Chunks of a window dealt to targets in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interleave {
    ways: u64,
    /// Ways of the root; what is left of the ways is selected below it, by plain bits.
    root_ways: u64,
    /// The granularity is 2 to the power of this.
    shift: u32,
    arithmetic: Arithmetic,
}

impl Interleave {
    /// So many targets with so many bytes in a row each; `None`: not in [`WAYS`] or [`GRANULARITIES`].
    pub fn new(ways: usize, granularity_bytes: u64, arithmetic: Arithmetic) -> Option<Interleave> {
        let is_known = WAYS.contains(&ways) && GRANULARITIES.contains(&granularity_bytes);
        let (ways, shift) = (ways as u64, granularity_bytes.trailing_zeros());
        is_known.then_some(Interleave { ways, root_ways: ways, shift, arithmetic })
    }

    /// The same targets, of which the root selects among so many groups alone and decoders below it within a group; `None`: the
    /// ways are not those of the root times a power of two (`fabric` HDM-9), or decoders below would need more than
    /// [`BRIDGE_WAYS`](crate::bridge::BRIDGE_WAYS) or a larger granularity than there is.
    ///
    /// Target n is in group n modulo `root_ways`.
    pub fn over_root(self, root_ways: usize) -> Option<Interleave> {
        let root_ways = root_ways as u64;
        let is_root = WAYS.iter().any(|ways| *ways as u64 == root_ways) && self.ways.is_multiple_of(root_ways);
        let split = is_root.then_some(Interleave { root_ways, ..self })?;
        let (below, granularity) = split.below();
        (below == 1 || crate::bridge::BRIDGE_WAYS.contains(&below) && GRANULARITIES.contains(&granularity))
            .then_some(split)
    }

    /// The same where several levels of decoders stand below the root, each with ways and a granularity of its own, which are judged
    /// where they are committed.
    pub fn over_levels(self, root_ways: usize) -> Option<Interleave> {
        let root_ways = root_ways as u64;
        let is_root = WAYS.iter().any(|ways| *ways as u64 == root_ways) && self.ways.is_multiple_of(root_ways);
        (is_root && (self.ways / root_ways).is_power_of_two()).then_some(Interleave { root_ways, ..self })
    }

    /// Number of targets.
    pub fn ways(&self) -> u64 {
        self.ways
    }

    /// Number of targets, or of groups of them, that the root tells apart.
    pub fn root_ways(&self) -> u64 {
        self.root_ways
    }

    /// Ways and granularity of the decoders below the root: the granularity of the root times its ways, or a third of them
    /// where they have a factor of three (`fabric` HDM-8, HDM-12).
    pub fn below(&self) -> (u64, u64) {
        (self.ways / self.root_ways, 1 << (self.shift + self.root_ways.trailing_zeros()))
    }

    /// Bytes in a row at one target.
    pub fn granularity(&self) -> u64 {
        1 << self.shift
    }

    /// How the target follows from the address.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// The target of an address, a number below that of the ways (`fabric` §2.2).
    ///
    /// The address is the whole one, not that within the window: with three-fold ways the first chunk of a window lies at
    /// target 0 only if the base is a multiple of the ways' chunks (`fabric` HDM-6).
    pub fn way(&self, address: u64) -> usize {
        // 2^bits ways are told apart by bits, three times as many by a remainder above them.
        let bits = self.root_ways.trailing_zeros();
        let chunk = address >> self.shift;
        let low = match self.arithmetic {
            Arithmetic::Modulo => chunk & ((1 << bits) - 1),
            Arithmetic::Xor => (0..bits).map(|bit| self.parity(bit, address) << bit).sum(),
        };
        let threes = if self.root_ways.is_multiple_of(3) { (chunk >> bits) % 3 } else { 0 };
        let (below, granularity) = self.below();
        let inner = (address / granularity) & (below - 1);
        (low + (threes << bits) + inner * self.root_ways) as usize
    }

    fn parity(&self, bit: u32, address: u64) -> u64 {
        let map = XOR_MAPS[bit as usize] << (self.shift - GRANULARITIES[0].trailing_zeros());
        u64::from((address & map).count_ones() % 2)
    }

    /// The byte of a target's share, from the offset in the window (`fabric` §2.3).
    pub fn share_offset(&self, offset: u64) -> u64 {
        let low = offset & ((1 << self.shift) - 1);
        ((offset >> self.shift) / self.ways) << self.shift | low
    }
}

/// A range of system addresses and how it is dealt to its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// How its chunks are dealt.
    pub interleave: Interleave,
}

impl Window {
    /// The first address behind it.
    pub fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Bytes of each target.
    pub fn share(&self) -> u64 {
        self.size / self.interleave.ways
    }

    fn holds(&self, address: u64) -> bool {
        (self.base..self.end()).contains(&address)
    }
}

/// A window at one of its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressDecoder {
    /// The window.
    pub window: Window,
    /// Address in the device at which its share of the window begins.
    pub device_base: u64,
}

/// The decoders of a device, in the order of their bases. They don't overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoders {
    list: Vec<AddressDecoder>,
}

impl Decoders {
    /// Adds the next window, whose base is above those before; its share follows theirs in the device (`fabric` §2.3).
    pub fn push(&mut self, window: Window) {
        self.list.push(AddressDecoder { window, device_base: self.bytes() });
    }

    /// The decoders.
    pub fn list(&self) -> &[AddressDecoder] {
        &self.list
    }

    /// Bytes of the device that windows lead to.
    pub fn bytes(&self) -> u64 {
        self.list.last().map_or(0, |last| last.device_base + last.window.share())
    }

    /// The address in the device; `None`: no decoder is hit.
    pub fn device_address(&self, address: u64) -> Option<u64> {
        let hit = self.list.iter().find(|decoder| decoder.window.holds(address))?;
        Some(hit.device_base + hit.window.interleave.share_offset(address - hit.window.base))
    }
}

/// A window as one who asks sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowRoute {
    /// The window.
    pub window: Window,
    /// For each way how its target is reached.
    pub ways: Vec<WayRoute>,
}

/// A way of a window as one who asks sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayRoute {
    /// The port that leads to its target.
    pub port: usize,
    /// The target, a number among all that are reached.
    pub target: usize,
    /// Where the share of the window begins in that.
    pub device_base: u64,
}

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    /// Port of the one who asks.
    pub port: usize,
    /// The memory there, a number among all that are reached: behind a switch a port leads to several.
    pub target: usize,
    /// Address in that.
    pub device_address: u64,
}

/// The windows that one who asks can reach, in the order of their bases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowRoutes {
    list: Vec<WindowRoute>,
}

impl WindowRoutes {
    /// Windows whose bases rise and that don't overlap.
    pub fn new(list: Vec<WindowRoute>) -> WindowRoutes {
        WindowRoutes { list }
    }

    /// The windows.
    pub fn list(&self) -> &[WindowRoute] {
        &self.list
    }

    /// Where an address leads; `None`: into a hole, or to what cannot be reached.
    pub fn destination(&self, address: u64) -> Option<Destination> {
        let above = self.list.partition_point(|route| route.window.base <= address);
        let WindowRoute { window, ways } = self.list[..above].last().filter(|route| route.window.holds(address))?;
        let WayRoute { port, target, device_base } = ways[window.interleave.way(address)];
        let device_address = device_base + window.interleave.share_offset(address - window.base);
        Some(Destination { port, target, device_address })
    }

    /// Number of memories that the windows lead to.
    pub fn targets(&self) -> usize {
        self.list.iter().flat_map(|route| &route.ways).map(|way| way.target + 1).max().unwrap_or(0)
    }

    /// Ranges of addresses that can be used, (first, first behind), windows side by side joined to one.
    pub fn spans(&self) -> Vec<(u64, u64)> {
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for WindowRoute { window, .. } in &self.list {
            match spans.last_mut() {
                Some((_, end)) if *end == window.base => *end = window.end(),
                _ => spans.push((window.base, window.end())),
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(base: u64, size: u64, ways: usize) -> Window {
        let interleave = Interleave::new(ways, 256, Arithmetic::Modulo).expect("a legal interleave");
        Window { base, size, interleave }
    }

    #[test]
    fn only_what_the_codes_can_say() {
        let is_known = |ways, granularity| Interleave::new(ways, granularity, Arithmetic::Xor).is_some();
        assert_eq!((0..20).filter(|&ways| is_known(ways, 256)).collect::<Vec<_>>(), WAYS);
        assert!([128, 255, 384, 32768].iter().all(|&granularity| !is_known(2, granularity)));
    }

    #[test]
    fn shares_of_a_device_follow_one_another() {
        let mut decoders = Decoders::default();
        assert_eq!(decoders.device_address(0), None);
        decoders.push(window(4 << 30, 1 << 30, 2));
        decoders.push(window(12 << 30, 768 << 20, 3));
        decoders.push(window(32 << 30, 2 << 30, 4));
        let at = |address| decoders.device_address(address);
        assert_eq!(at((4 << 30) - 1), None);
        assert_eq!((at(4 << 30), at((5 << 30) - 1), at(5 << 30)), (Some(0), Some((512 << 20) - 1), None));
        assert_eq!((at(12 << 30), at(32 << 30)), (Some(512 << 20), Some(768 << 20)));
        assert_eq!(decoders.bytes(), 1280 << 20);
    }

    #[test]
    fn routes_lead_to_ports_and_not_into_holes() {
        let way = |&(port, device_base): &(usize, u64)| WayRoute { port, target: port, device_base };
        let route = |base, ways: &[(usize, u64)]| WindowRoute {
            window: window(base, 1 << 30, ways.len()),
            ways: ways.iter().map(way).collect(),
        };
        let routes = WindowRoutes::new(vec![
            route(1 << 30, &[(1, 64)]),
            route(2 << 30, &[(0, 0), (2, 128)]),
            route(4 << 30, &[(3, 0)]),
        ]);
        let to = |address| routes.destination(address).map(|d| (d.port, d.device_address));
        assert_eq!((to((1 << 30) - 1), to(3 << 30), to(5 << 30)), (None, None, None));
        assert_eq!(
            (to(1 << 30), to((2 << 30) + 64), to((2 << 30) + 256)),
            (Some((1, 64)), Some((0, 64)), Some((2, 128)))
        );
        assert_eq!(routes.targets(), 4);
        assert_eq!(routes.spans(), [(1 << 30, 3 << 30), (4 << 30, 5 << 30)]);
    }
}
