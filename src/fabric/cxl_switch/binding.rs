//! vPPBs and what they are bound to (`fabric` §1.2, §1.3).
//!
//! Modelled: for each VCS its vPPBs of downstream ports, counted from 0; a binding to a whole port, behind which is a device with
//! one logical device, or to one logical device behind a port. A walk through one binding: VCS, vPPB and port have to
//! exist, the vPPB has to be free, and so has the port, or the logical device of a port that is shared already. Left
//! out: the background of a bind command; the vPPB of the upstream port itself, which is number 0 of `fabric` VCS-7.

use std::collections::BTreeMap;

/// Logical devices of a device, and upstream ports that one port can serve (`fabric` VCS-2, MLD-1).
pub const LOGICAL_DEVICES: usize = 16;

/// A vPPB and what it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VppbBinding {
    /// The virtual hierarchy, which is the number of its upstream port.
    pub vcs: usize,
    /// The vPPB.
    pub vppb: usize,
    /// The downstream port.
    pub port: usize,
    /// The logical device; `None`: the whole port.
    pub ld: Option<u8>,
}

/// Why a binding is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// No such VCS.
    #[error("found VCS {found}, expected 0 to {last}")]
    Vcs {
        /// What was given.
        found: usize,
        /// The last one.
        last: usize,
    },
    /// No such vPPB.
    #[error("found vPPB {found}, expected 0 to {last}")]
    Vppb {
        /// What was given.
        found: usize,
        /// The last one.
        last: usize,
    },
    /// No such port.
    #[error("found port {found}, expected 0 to {last}")]
    Port {
        /// What was given.
        found: usize,
        /// The last one.
        last: usize,
    },
    /// No such logical device.
    #[error("found LD {found}, expected 0 to 15 (fabric MLD-1)")]
    Ld {
        /// What was given.
        found: u8,
    },
    /// The vPPB is bound.
    #[error("found vPPB {vppb} of VCS {vcs}, which is bound to port {port}, expected a free one (fabric BND-7)")]
    VppbInUse {
        /// Its VCS.
        vcs: usize,
        /// The vPPB.
        vppb: usize,
        /// What it is bound to.
        port: usize,
    },
    /// The port, or the logical device, is bound.
    #[error(
        "found port {port}{}, which is bound to vPPB {vppb} of VCS {vcs}, expected a free one (fabric VCS-2, BND-7)",
        .ld.map_or(String::new(), |ld| format!(", LD {ld}"))
    )]
    PortInUse {
        /// The port.
        port: usize,
        /// The logical device.
        ld: Option<u8>,
        /// VCS that has it.
        vcs: usize,
        /// vPPB that has it.
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
    down: BTreeMap<(usize, usize), (usize, Option<u8>)>,
    /// By port and logical device.
    up: BTreeMap<(usize, Option<u8>), (usize, usize)>,
}

impl Bindings {
    /// Of so many virtual hierarchies with so many vPPBs each, and so many downstream ports; nothing is bound.
    pub fn new(vcss: usize, vppbs: usize, ports: usize) -> Bindings {
        Bindings { sizes: [vcss, vppbs, ports], ..Bindings::default() }
    }

    /// Binds a vPPB.
    ///
    /// # Errors
    /// Something does not exist or is in use; nothing has changed then.
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
        // A port is bound as a whole or by its logical devices.
        let others = self.up.range((port, None)..=(port, Some(u8::MAX)));
        let mut taken = others.filter(|((_, other), _)| ld.is_none() || other.is_none() || *other == ld);
        if let Some((&(port, ld), &(vcs, vppb))) = taken.next() {
            return Err(BindingError::PortInUse { port, ld, vcs, vppb });
        }
        self.down.insert((vcs, vppb), (port, ld));
        self.up.insert((port, ld), (vcs, vppb));
        Ok(())
    }

    /// Takes the binding of a vPPB away: what it was.
    ///
    /// # Errors
    /// It does not exist or is not bound.
    pub fn unbind(&mut self, vcs: usize, vppb: usize) -> Result<VppbBinding, BindingError> {
        self.exists(vcs, vppb)?;
        let (port, ld) = self.down.remove(&(vcs, vppb)).ok_or(BindingError::NotBound { vcs, vppb })?;
        self.up.remove(&(port, ld));
        Ok(VppbBinding { vcs, vppb, port, ld })
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

    /// All of them, by VCS and vPPB.
    pub fn list(&self) -> impl Iterator<Item = VppbBinding> {
        self.down.iter().map(|(&(vcs, vppb), &(port, ld))| VppbBinding { vcs, vppb, port, ld })
    }

    /// Port and logical device of a vPPB; `None`: it is not bound.
    pub fn down(&self, vcs: usize, vppb: usize) -> Option<(usize, Option<u8>)> {
        self.down.get(&(vcs, vppb)).copied()
    }

    /// VCS and vPPB of what comes from a port with an LD-ID; `None`: that is not bound. A port that is bound as a whole has
    /// LD-ID 0 alone.
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
