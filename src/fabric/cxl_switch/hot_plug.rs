//! Downstream ports as fabric manager and hosts see them come and go (`fabric` BND-1 to BND-3, BND-8, MLD-4, MLD-10).
//!
//! The states and their steps; [`plug`](super::plug) moves the ports of a running switch by them.
//!
//! Modelled: the steps of a bind and of an unbind in their order, Link Disable, presence, the hot-plug events of a host and the
//! records of the fabric manager, surprise link down against removal, and removal of a shared device that waits for every host.
//! Detail: one port, events without time. Left out: messages of CXL.mem, whose part of a removal is in
//! [`manager`](super::manager); power and attention indicators beside the attention button.
//!
//! A walk through one bind: the vPPB number is mapped to the port, its reset and presence lines follow, the link is held by Link
//! Disable, all functions of the bridge move to the vPPB, and the bridge of the manager is gone. The host sees presence and a
//! hot-plug event; it releases Link Disable and trains the link.

use super::command::Vppb;
use scalepool_ordered::OrderedSet;

/// What happens at a port, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortStep {
    /// The number of the vPPB is mapped to the port.
    Mapped(Vppb),
    /// Reset and presence lines of the vPPB are those of the port.
    LinesMoved,
    /// The link is held by Link Disable.
    LinkDisabled,
    /// All bridge functions of the port belong to the vPPB.
    FunctionsMoved,
    /// The bridge by which the manager owned the port is gone.
    ManagerBridgeGone,
    /// The host sees presence.
    PresenceSeen,
    /// The host gets a hot-plug event.
    HotPlugEvent,
    /// The host has released Link Disable.
    LinkReleased,
    /// The link is up.
    LinkUp,
    /// The host sees the link go down.
    LinkDownSeen,
    /// The host sees no presence.
    AbsenceSeen,
    /// The port belongs to the manager.
    ManagerOwned,
    /// The manager gets a record of a Physical Switch event.
    PhysicalRecord,
    /// The host sees the link come up again.
    LinkUpSeen,
    /// The host sees the attention button pressed.
    AttentionSeen,
    /// The host agrees to the removal.
    ReadySignalled,
    /// No step of anybody but what happened: the link has gone down by itself.
    LinkLost,
    /// The same: the device has been taken out.
    DeviceRemoved,
    /// The same: a device has been plugged in.
    DeviceInserted,
}

impl PortStep {
    /// Whether it is what a host sees, and no change at the port itself.
    pub const fn is_seen_by_host(self) -> bool {
        matches!(
            self,
            PortStep::PresenceSeen
                | PortStep::AbsenceSeen
                | PortStep::HotPlugEvent
                | PortStep::LinkUpSeen
                | PortStep::LinkDownSeen
                | PortStep::AttentionSeen
        )
    }

    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            PortStep::Mapped(_) => "plug_mapped",
            PortStep::LinesMoved => "plug_lines_moved",
            PortStep::LinkDisabled => "plug_link_disabled",
            PortStep::FunctionsMoved => "plug_functions_moved",
            PortStep::ManagerBridgeGone => "plug_manager_bridge_gone",
            PortStep::PresenceSeen => "plug_presence_seen",
            PortStep::HotPlugEvent => "plug_event",
            PortStep::LinkReleased => "plug_link_released",
            PortStep::LinkUp => "plug_link_up",
            PortStep::LinkDownSeen => "plug_link_down_seen",
            PortStep::AbsenceSeen => "plug_absence_seen",
            PortStep::ManagerOwned => "plug_manager_owned",
            PortStep::PhysicalRecord => "plug_physical_record",
            PortStep::LinkUpSeen => "plug_link_up_seen",
            PortStep::AttentionSeen => "plug_attention_seen",
            PortStep::ReadySignalled => "plug_ready",
            PortStep::LinkLost => "plug_link_lost",
            PortStep::DeviceRemoved => "plug_device_removed",
            PortStep::DeviceInserted => "plug_device_inserted",
        }
    }
}

/// Why the link of a port does not train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrainingError {
    /// It is held by Link Disable.
    #[error("found a link held by Link Disable, expected the host to release it first (fabric BND-1, BND-3)")]
    Disabled,
    /// Nothing is plugged in.
    #[error("found no device at the port, expected one (fabric BND-8)")]
    Absent,
}

/// Why a bind, an unbind or a release is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HotPlugError {
    /// The port is bound.
    #[error("found a port that is bound to vPPB {1} of VCS {0}, expected one of the manager (fabric BND-7)", .vppb.0, .vppb.1)]
    Bound {
        /// Its vPPB.
        vppb: Vppb,
    },
    /// The port is not bound.
    #[error("found a port of the manager, expected one that is bound (fabric BND-7)")]
    NotBound,
}

/// A downstream port that is bound as a whole, or belongs to the manager: then it serves logical devices, or it is held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HotPlugPort {
    bound: Option<Vppb>,
    /// It can have a device with several logical devices.
    is_mld: bool,
    present: bool,
    link_disabled: bool,
    link_up: bool,
    steps: Vec<PortStep>,
}

impl HotPlugPort {
    /// A port of the manager for a device without logical devices, present or not; Link Disable holds it.
    pub fn new(present: bool) -> HotPlugPort {
        HotPlugPort { present, link_disabled: true, ..HotPlugPort::default() }
    }

    /// A port of the manager for a device with logical devices, present or not. Bridge and link are the manager's, and the link is
    /// trained for the logical devices that are bound (`fabric` MLD-3).
    pub fn of_logical_devices(present: bool) -> HotPlugPort {
        HotPlugPort { is_mld: true, present, ..HotPlugPort::default() }
    }

    /// What has happened since the last call.
    pub fn take_steps(&mut self) -> Vec<PortStep> {
        std::mem::take(&mut self.steps)
    }

    /// Whether the host of the port sees a device; nobody does while the manager owns the port.
    pub fn is_presence_seen(&self) -> bool {
        self.present && self.bound.is_some()
    }

    /// Whether a device is plugged in.
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// The vPPB that it is bound to as a whole.
    pub fn bound(&self) -> Option<Vppb> {
        self.bound
    }

    /// Whether the link is up.
    pub fn is_up(&self) -> bool {
        self.link_up
    }

    /// Whether a device with several logical devices is told in training that the port can have them: a port that is bound as a
    /// whole does not, so that the device works with one (`fabric` MLD-4).
    pub fn advertises_mld(&self) -> bool {
        self.is_mld && self.bound.is_none()
    }

    /// Binds the port to a vPPB.
    ///
    /// # Errors
    /// It is bound; nothing changes.
    pub fn bind(&mut self, vppb: Vppb) -> Result<(), HotPlugError> {
        if let Some(vppb) = self.bound {
            return Err(HotPlugError::Bound { vppb });
        }
        (self.bound, self.link_disabled, self.link_up) = (Some(vppb), true, false);
        self.steps.extend([
            PortStep::Mapped(vppb),
            PortStep::LinesMoved,
            PortStep::LinkDisabled,
            PortStep::FunctionsMoved,
            PortStep::ManagerBridgeGone,
        ]);
        self.show_presence();
        Ok(())
    }

    fn show_presence(&mut self) {
        if self.present {
            self.steps.extend([PortStep::PresenceSeen, PortStep::HotPlugEvent]);
        }
    }

    /// The host releases Link Disable.
    ///
    /// # Errors
    /// The port is not bound: the manager holds it.
    pub fn release_link(&mut self) -> Result<(), HotPlugError> {
        self.bound.ok_or(HotPlugError::NotBound)?;
        if std::mem::take(&mut self.link_disabled) {
            self.steps.push(PortStep::LinkReleased);
        }
        Ok(())
    }

    /// The link is trained.
    ///
    /// # Errors
    /// Link Disable holds it, or nothing is there.
    pub fn train(&mut self) -> Result<(), TrainingError> {
        if self.link_disabled {
            return Err(TrainingError::Disabled);
        }
        if !self.present {
            return Err(TrainingError::Absent);
        }
        if !std::mem::replace(&mut self.link_up, true) {
            self.steps.push(PortStep::LinkUp);
        }
        Ok(())
    }

    /// Whether it was up.
    fn link_goes_down(&mut self) -> bool {
        let was_up = std::mem::take(&mut self.link_up);
        if was_up && self.bound.is_some() {
            self.steps.push(PortStep::LinkDownSeen);
        }
        was_up
    }

    /// Takes the port away from its vPPB: the host sees the link down and no device, and the port is the manager's, which holds it
    /// unless it can have logical devices.
    ///
    /// # Errors
    /// It is not bound; nothing changes.
    pub fn unbind(&mut self) -> Result<Vppb, HotPlugError> {
        let vppb = self.bound.ok_or(HotPlugError::NotBound)?;
        self.link_goes_down();
        if self.present {
            self.steps.push(PortStep::AbsenceSeen);
        }
        (self.bound, self.link_disabled) = (None, !self.is_mld);
        self.steps.extend(self.link_disabled.then_some(PortStep::LinkDisabled));
        self.steps.push(PortStep::ManagerOwned);
        Ok(vppb)
    }

    /// The link goes down by itself. The device is still there, and so is its presence. Nothing happens to a link that is down.
    pub fn surprise_down(&mut self) {
        if self.link_goes_down() {
            self.tell_event();
        }
    }

    /// The device is taken out: the link goes down, and its presence goes. Nothing happens where none is.
    pub fn remove(&mut self) {
        if !std::mem::take(&mut self.present) {
            return;
        }
        self.link_goes_down();
        if self.bound.is_some() {
            self.steps.push(PortStep::AbsenceSeen);
        }
        self.tell_event();
    }

    /// A device is plugged in.
    pub fn insert(&mut self) {
        if std::mem::replace(&mut self.present, true) {
            return;
        }
        if self.bound.is_some() {
            self.show_presence();
        } else {
            self.steps.push(PortStep::PhysicalRecord);
        }
    }

    /// At a bound port the host does the hot-plug flow, else the manager gets a record.
    fn tell_event(&mut self) {
        self.steps.push(if self.bound.is_some() { PortStep::HotPlugEvent } else { PortStep::PhysicalRecord });
    }
}

/// A device with logical devices that is removed after every host has agreed (`fabric` MLD-10).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedRemoval {
    /// vPPBs whose hosts see the attention button and have not signalled ready.
    awaited: OrderedSet<Vppb>,
    all: Vec<Vppb>,
}

impl SharedRemoval {
    /// The attention button is shown on the vPPBs of all hosts.
    pub fn begin(vppbs: impl IntoIterator<Item = Vppb>) -> SharedRemoval {
        let all: Vec<Vppb> = vppbs.into_iter().collect();
        SharedRemoval { awaited: all.iter().copied().collect(), all }
    }

    /// vPPBs on which the attention button is shown.
    pub fn awaited(&self) -> impl Iterator<Item = Vppb> + '_ {
        self.awaited.iter().copied()
    }

    /// A vPPB is bound meanwhile: its host sees the button too, and is awaited.
    pub fn join(&mut self, vppb: Vppb) {
        self.awaited.insert(vppb);
        self.all.push(vppb);
    }

    /// A host signals ready. The vPPBs that the manager may unbind now: all of them with the last host, before that none.
    pub fn ready(&mut self, vppb: Vppb) -> Vec<Vppb> {
        self.awaited.remove(&vppb);
        if self.awaited.is_empty() { std::mem::take(&mut self.all) } else { Vec::new() }
    }

    /// A vPPB is unbound for another reason. The vPPBs that the manager may unbind now, as by [`SharedRemoval::ready`].
    pub fn forget(&mut self, vppb: Vppb) -> Vec<Vppb> {
        self.all.retain(|one| *one != vppb);
        self.ready(vppb)
    }
}
