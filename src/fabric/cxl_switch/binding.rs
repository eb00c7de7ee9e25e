//! Bindings of vPPBs to downstream ports and logical devices (`fabric` §1.2, §1.3).
//!
//! Modelled: for each VCS, the vPPBs of its downstream ports, counted from 0. A vPPB is bound either to a whole port,
//! behind which is a device with one logical device, or to one logical device behind a port. Left out: the background
//! execution of a bind command; the vPPB of the upstream port itself, which is number 0 in `fabric` VCS-7.
//!
//! A walk through one binding: VCS, vPPB and port have to exist. The vPPB has to be free, and so has the port, or the
//! logical device if the port is already shared.

use scalepool_ordered::OrderedMap;

/// Maximum number of logical devices of a device, and of upstream ports that one downstream port can serve (`fabric`
/// VCS-2, MLD-1).
pub const LOGICAL_DEVICES: usize = 16;

/// A vPPB with the port or logical device that it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VppbBinding {
    /// The virtual hierarchy, which is the number of its upstream port.
    pub vcs: usize,
    /// The vPPB.
    pub vppb: usize,
    /// The downstream port.
    pub port: usize,
    /// The logical device; `None` for the whole port.
    pub ld: Option<u8>,
}

/// Why a binding is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The VCS does not exist.
    #[error("found VCS {found}, expected 0 to {last}")]
    Vcs {
        /// The number that was given.
        found: usize,
        /// The highest valid number.
        last: usize,
    },
    /// The vPPB does not exist.
    #[error("found vPPB {found}, expected 0 to {last}")]
    Vppb {
        /// The number that was given.
        found: usize,
        /// The highest valid number.
        last: usize,
    },
    /// The port does not exist.
    #[error("found port {found}, expected 0 to {last}")]
    Port {
        /// The number that was given.
        found: usize,
        /// The highest valid number.
        last: usize,
    },
    /// The logical device does not exist.
    #[error("found LD {found}, expected 0 to 15 (fabric MLD-1)")]
    Ld {
        /// The number that was given.
        found: u8,
    },
    /// The vPPB is already bound.
    #[error("found vPPB {vppb} of VCS {vcs}, which is bound to port {port}, expected a free one (fabric BND-7)")]
    VppbInUse {
        /// Its VCS.
        vcs: usize,
        /// The vPPB.
        vppb: usize,
        /// The port that it is bound to.
        port: usize,
    },
    /// The port, or the logical device, is already bound.
    #[error(
        "found port {port}{}, which is bound to vPPB {vppb} of VCS {vcs}, expected a free one (fabric VCS-2, BND-7)",
        .ld.map_or(String::new(), |ld| format!(", LD {ld}"))
    )]
    PortInUse {
        /// The port.
        port: usize,
        /// The logical device.
        ld: Option<u8>,
        /// VCS of the existing binding.
        vcs: usize,
        /// vPPB of the existing binding.
        vppb: usize,
    },
    /// The vPPB is not bound.
    #[error("found vPPB {vppb} of VCS {vcs}, which is not bound, expected a bound one (fabric BND-7)")]
    NotBound {
        /// Its VCS.
        vcs: usize,
        /// The vPPB.
        vppb: usize,
    },
}

/// The bindings of a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    sizes: [usize; 3],
    /// By VCS and vPPB.
    down: OrderedMap<(usize, usize), (usize, Option<u8>)>,
    /// By port and logical device.
    up: OrderedMap<(usize, Option<u8>), (usize, usize)>,
}

impl Bindings {
    /// Makes the bindings of a switch with `vcss` virtual hierarchies of `vppbs` vPPBs each, and `ports` downstream
    /// ports. No vPPB is bound.
    pub fn new(vcss: usize, vppbs: usize, ports: usize) -> Bindings {
        Bindings { sizes: [vcss, vppbs, ports], ..Bindings::default() }
    }

    /// Binds a vPPB.
    ///
    /// # Errors
    /// A part of the binding does not exist or is in use; the bindings are then unchanged.
    pub fn bind(&mut self, binding: VppbBinding) -> Result<(), BindingError> {
        let VppbBinding { vcs, vppb, port, ld } = binding;
        self.exists(vcs, vppb)?;
        if port >= self.sizes[2] {
            return Err(BindingError::Port { found: port, last: self.sizes[2].saturating_sub(1) });
        }
        if let Some(found) = ld.filter(|ld| usize::from(*ld) >= LOGICAL_DEVICES) {
            return Err(BindingError::Ld { found });
        }
        if let Some((port, _)) = self.down.get(&(vcs, vppb)) {
            return Err(BindingError::VppbInUse { vcs, vppb, port: *port });
        }
        // A port is bound either as a whole or by its logical devices.
        let others = self.up.range((port, None)..=(port, Some(u8::MAX)));
        let mut taken = others.filter(|((_, other), _)| ld.is_none() || other.is_none() || *other == ld);
        if let Some((&(port, ld), &(vcs, vppb))) = taken.next() {
            return Err(BindingError::PortInUse { port, ld, vcs, vppb });
        }
        self.down.insert((vcs, vppb), (port, ld));
        self.up.insert((port, ld), (vcs, vppb));
        Ok(())
    }

    /// Removes the binding of a vPPB and returns it.
    ///
    /// # Errors
    /// The vPPB does not exist or is not bound.
    pub fn unbind(&mut self, vcs: usize, vppb: usize) -> Result<VppbBinding, BindingError> {
        self.exists(vcs, vppb)?;
        let (port, ld) = self.down.remove(&(vcs, vppb)).ok_or(BindingError::NotBound { vcs, vppb })?;
        self.up.remove(&(port, ld));
        Ok(VppbBinding { vcs, vppb, port, ld })
    }

    /// Number of virtual hierarchies.
    pub fn hierarchies(&self) -> usize {
        self.sizes[0]
    }

    /// Number of downstream ports.
    pub fn ports(&self) -> usize {
        self.sizes[2]
    }

    fn exists(&self, vcs: usize, vppb: usize) -> Result<(), BindingError> {
        let [vcss, vppbs, _] = self.sizes;
        if vcs >= vcss {
            return Err(BindingError::Vcs { found: vcs, last: vcss.saturating_sub(1) });
        }
        if vppb >= vppbs {
            return Err(BindingError::Vppb { found: vppb, last: vppbs.saturating_sub(1) });
        }
        Ok(())
    }

    /// All bindings, ordered by VCS and vPPB.
    pub fn list(&self) -> impl Iterator<Item = VppbBinding> {
        self.down.iter().map(|(&(vcs, vppb), &(port, ld))| VppbBinding { vcs, vppb, port, ld })
    }

    /// Port and logical device of a vPPB; `None` if it is not bound.
    pub fn down(&self, vcs: usize, vppb: usize) -> Option<(usize, Option<u8>)> {
        self.down.get(&(vcs, vppb)).copied()
    }

    /// VCS and vPPB of a message that arrives at a downstream port with an LD-ID; `None` if that pair is not bound. A
    /// port that is bound as a whole has only LD-ID 0.
    pub fn up(&self, port: usize, ld_id: u8) -> Option<(usize, usize)> {
        let whole = self.up.get(&(port, None)).filter(|_| ld_id == 0);
        whole.or_else(|| self.up.get(&(port, Some(ld_id)))).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(vcs: usize, vppb: usize, port: usize, ld: Option<u8>) -> VppbBinding {
        VppbBinding { vcs, vppb, port, ld }
    }

    #[test]
    fn both_ways_lead_to_the_same() {
        let mut all = Bindings::new(2, 4, 3);
        let list = [binding(0, 0, 0, Some(1)), binding(0, 3, 2, None), binding(1, 0, 0, Some(0))];
        list.into_iter().for_each(|one| all.bind(one).expect("it is free"));
        for VppbBinding { vcs, vppb, port, ld } in list {
            assert_eq!(all.down(vcs, vppb), Some((port, ld)));
            assert_eq!(all.up(port, ld.unwrap_or(0)), Some((vcs, vppb)));
        }
        assert_eq!([all.up(0, 2), all.up(2, 1), all.up(1, 0)], [None; 3]);
        assert_eq!(all.list().collect::<Vec<_>>(), list);
        assert_eq!(all.unbind(0, 3), Ok(list[1]));
        assert_eq!((all.down(0, 3), all.up(2, 0)), (None, None));
        all.bind(binding(1, 1, 2, Some(7))).expect("it is free again");
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut all = Bindings::new(2, 2, 2);
        all.bind(binding(0, 0, 0, Some(3))).expect("it is free");
        all.bind(binding(1, 1, 1, None)).expect("it is free");
        let before = all.clone();
        let refused = [
            (binding(2, 0, 0, None), BindingError::Vcs { found: 2, last: 1 }),
            (binding(0, 2, 0, None), BindingError::Vppb { found: 2, last: 1 }),
            (binding(0, 1, 2, None), BindingError::Port { found: 2, last: 1 }),
            (binding(0, 1, 0, Some(16)), BindingError::Ld { found: 16 }),
            (binding(0, 0, 0, Some(4)), BindingError::VppbInUse { vcs: 0, vppb: 0, port: 0 }),
            (binding(0, 1, 0, Some(3)), BindingError::PortInUse { port: 0, ld: Some(3), vcs: 0, vppb: 0 }),
            (binding(0, 1, 0, None), BindingError::PortInUse { port: 0, ld: Some(3), vcs: 0, vppb: 0 }),
            (binding(0, 1, 1, Some(0)), BindingError::PortInUse { port: 1, ld: None, vcs: 1, vppb: 1 }),
        ];
        for (one, error) in refused {
            assert_eq!(all.bind(one), Err(error));
        }
        assert_eq!(all.unbind(0, 1), Err(BindingError::NotBound { vcs: 0, vppb: 1 }));
        assert_eq!(all.unbind(2, 1), Err(BindingError::Vcs { found: 2, last: 1 }));
        assert_eq!(all, before);
    }
}
