//! Generations of the switch (`nvlink` §5).

/// One generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchPreset {
    /// 1 to 4.
    pub number: u8,
    /// Ports.
    pub ports: usize,
    /// Generation of its links, from 1.
    pub link_generation: usize,
    /// Copies and reduces. Stated for the third; of the fourth we assume it.
    pub multicast: bool,
}

/// All of them, in order.
pub static PRESETS: [SwitchPreset; 4] = [
    SwitchPreset { number: 1, ports: 18, link_generation: 2, multicast: false },
    SwitchPreset { number: 2, ports: 36, link_generation: 3, multicast: false },
    SwitchPreset { number: 3, ports: 64, link_generation: 4, multicast: true },
    SwitchPreset { number: 4, ports: 72, link_generation: 5, multicast: true },
];

impl SwitchPreset {
    /// Nominal bytes of all ports in both directions, in MB/s.
    pub fn total_mbps(&self) -> u64 {
        let generation = &scalepool_protocols::nvlink::GENERATIONS[self.link_generation - 1];
        2 * self.ports as u64 * generation.link_mbps()
    }
}
