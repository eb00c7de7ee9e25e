//! A device of HDM-D and its host.

use super::composite::Composite;
use super::menu::{AtomicHold, Menu, ProgramOperation};
use super::part::{HdmDDevicePart, HdmDHostPart};
use super::setup::{AgentDescription, SystemDescription};
use scalepool_coherence::bias::tables;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::mem::{HostAccess, HostReq};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode};

/// What an exploration may do; no part of a state.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration of both agents.
    pub config: CoherenceConfig,
    /// Free operations of the device.
    pub device: Vec<D2hReqOpcode>,
    /// Free requests of the host.
    pub host: Vec<HostReq>,
    /// What a MemWr of the host may keep; empty: no write-backs of its own.
    pub write_backs: Vec<Copy4>,
    /// Whether the host drops clean copies.
    pub drops: bool,
    /// Atomics of both.
    pub atomics: Option<AtomicHold>,
    /// Programs of device and host; empty when they are free.
    pub device_program: Vec<ProgramOperation>,
    /// Program of the host.
    pub host_program: Vec<ProgramOperation>,
    /// Whether the programs run.
    pub programs: bool,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Agents whose stores and writes are poisoned: 0 the device, 1 the host. An M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    /// Every operation of both.
    pub fn everything(config: CoherenceConfig) -> Self {
        let device = tables::ROWS.iter().flat_map(|r| r.opcodes).copied().collect();
        let host = HostReq::ALL.into_iter().filter(|r| {
            ![M2sReqOpcode::MemClnEvct, M2sReqOpcode::MemSpecRd, M2sReqOpcode::MemInvNT].contains(&r.opcode)
        });
        let (device_program, host_program) = (Vec::new(), Vec::new());
        let host = host.collect();
        Self {
            config,
            device,
            host,
            write_backs: vec![Copy4::I, Copy4::S, Copy4::E],
            drops: true,
            atomics: None,
            device_program,
            host_program,
            programs: false,
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }
}

/// The device, agent 0, and the host, agent 1.
pub fn system(setup: Setup) -> Composite {
    let Setup { config, device, host, write_backs, drops, atomics, .. } = setup;
    let (programs, orders) = (setup.programs, setup.orders);
    let agent = |n, name: &str, member, program| AgentDescription {
        name: name.to_owned(),
        member,
        config: config.clone(),
        program,
        poisons: setup.poisoners.has(n),
    };
    let agents = vec![
        agent(0, "device", HdmDDevicePart::default().into(), setup.device_program),
        agent(1, "host", HdmDHostPart::default().into(), setup.host_program),
    ];
    let menu = Menu {
        cache: device,
        requests: host,
        write_backs,
        stores: true,
        wants: vec![HostAccess::Nothing, HostAccess::Store],
        drops,
        atomics,
        ..Menu::default()
    };
    Composite::of(SystemDescription { agents, links: vec![[(1, 0), (0, 0)]], lines: vec![0], menu, programs, orders })
}
