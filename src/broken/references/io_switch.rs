//! The reference of a switch of CXL.io: where a TLP goes, by buses and windows.
//!
//! Behind the upstream port, buses 2 to 6, there are three vPPBs with windows of 1 MiB each from 10_0000_0000h on: bus 3, buses 4 and 5, and
//! bus 6, at which nothing is bound. The window of the upstream port has one more MiB.

use super::machine::{Figure, said};
use scalepool_endpoint::config_space::registers as reg;
use scalepool_endpoint::pm::{Happened, PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool_endpoint::tlp::{Enables, Tlp, TlpKind};
use scalepool_nodes::io::switch::hierarchy::{IoHierarchy, IoRouted, IoSide};
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::dvsec::FlexBus;

const BASE: u64 = 0x10_0000_0000;
const MIB: u64 = 1 << 20;
/// The host.
const ROOT: u16 = 0;
/// The upstream port, and its vPPBs with their buses.
const UPSTREAM: u16 = 0x100;
const BUSES: [[u8; 2]; 3] = [[3, 3], [4, 5], [6, 6]];

/// Writes buses, a window and the command of a port.
fn program(switch: &mut IoHierarchy, target: u16, [secondary, subordinate]: [u8; 2], base: u64, bytes: u64) {
    let level = u8::from(target != UPSTREAM);
    let last = base + bytes - 1;
    let half = |address: u64| (address >> 16) as u32 & 0xfff0;
    let at = reg::PREFETCHABLE.start;
    for (register, value) in [
        (reg::BUSES.start, u32::from_le_bytes([(target >> 8) as u8, secondary, subordinate, 0])),
        (reg::WINDOW.start, 0xfff0),
        (at, half(last) << 16 | half(base)),
        (at + 4, (base >> 32) as u32),
        (at + 8, (last >> 32) as u32),
        (reg::COMMAND.start, u32::from(reg::COMMAND_MEMORY | reg::COMMAND_MASTER)),
    ] {
        let kind = TlpKind::ConfigWrite { level, target, register: register as u16, enables: 0xf };
        switch.route(IoSide::Up, Tlp::new(kind, ROOT, value.to_le_bytes().to_vec()));
    }
}

fn parse(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

/// A TLP: `config:TARGET`, `flr:TARGET`, `read:ADDRESS`, `write:ADDRESS` or `completion:REQUESTER`.
fn tlp(word: &str, requester: u16) -> Option<Tlp> {
    let (kind, at) = word.split_once(':')?;
    let at = parse(at)?;
    let bus = u16::try_from(at);
    let (enables, level) = (0xf, 1);
    Some(match kind {
        "config" => {
            Tlp::new(TlpKind::ConfigRead { level, target: bus.ok()?, register: 0, enables }, requester, Vec::new())
        }
        "flr" => {
            let register = (reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL) as u16;
            let kind = TlpKind::ConfigWrite { level, target: bus.ok()?, register, enables };
            Tlp::new(kind, requester, (1_u32 << 15).to_le_bytes().to_vec())
        }
        "read" => Tlp::new(TlpKind::MemRead { address: at, dw: 1, enables: Enables::all(1) }, requester, Vec::new()),
        "write" => Tlp::new(TlpKind::MemWrite { address: at, enables: Enables::all(1) }, requester, vec![1, 2, 3, 4]),
        "completion" => {
            let kind = TlpKind::Completion { completer: 0x300, status: CplStatus::SC, byte_count: 4, lower_address: 0 };
            Tlp::new(kind, bus.ok()?, vec![0; 4])
        }
        _ => return None,
    })
}

/// Where a TLP goes: `FROM TLP`, `FROM` being `up`, `dsp:N`, or `ld:N` for a port whose device has logical devices.
pub(super) fn ways(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const MOST_PAYLOAD_BYTES: usize = 512;
    let [from, word] = words else { return None };
    let mut switch = IoHierarchy::new(&[true, true, false], 32, FlexBus::default(), MOST_PAYLOAD_BYTES);
    program(&mut switch, UPSTREAM, [2, 6], BASE, 4 * MIB);
    for (n, buses) in BUSES.into_iter().enumerate() {
        program(&mut switch, 0x200 | (n as u16) << 3, buses, BASE + n as u64 * MIB, MIB);
    }
    let side = match from.split_once(':') {
        None if *from == "up" => IoSide::Up,
        Some(("dsp" | "ld", n)) => IoSide::Down(n.parse().ok()?),
        _ => return None,
    };
    if let (IoSide::Down(n), true) = (side, from.starts_with("ld")) {
        switch.redirects(n);
    }
    let requester = match side {
        IoSide::Up => ROOT,
        IoSide::Down(n) => u16::from(BUSES.get(n)?[0]) << 8,
    };
    let level = |tlp: &Tlp| match tlp.kind {
        TlpKind::ConfigRead { level, .. } | TlpKind::ConfigWrite { level, .. } => format!(", as type {level}"),
        _ => String::new(),
    };
    Some(vec![vec![match switch.route(side, tlp(word, requester)?) {
        IoRouted::To(IoSide::Up, tlp) => said("TLP", 16, format!("leaves at the upstream port{}", level(&tlp))),
        IoRouted::To(IoSide::Down(n), tlp) => said("TLP", n as u64, format!("leaves at vPPB {n}{}", level(&tlp))),
        IoRouted::ToAll(sides, _) => said("TLP", 21, format!("leaves at {} ports", sides.len())),
        IoRouted::Completed(_) => said("TLP", 17, "ends in the switch"),
        IoRouted::Unsupported(_) => said("TLP", 18, "is completed as Unsupported Request"),
        IoRouted::Dropped => said("TLP", 19, "is dropped"),
        IoRouted::Aborted(_) => said("TLP", 20, "is completed as Completer Abort"),
    }]])
}

/// Whether a host that announces a reset has its answer before the ports below have theirs: of a `switch`, or as a `device` answers.
pub(super) fn reset_answer(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let is_of_switch = match words {
        ["switch"] => true,
        ["device"] => false,
        _ => return None,
    };
    let mut host = PmAgent::new(PmConfig::new(PmSide::Host));
    let mut port = PmAgent::new(PmConfig { is_of_switch, ..PmConfig::new(PmSide::Device) });
    let talk = |host: &mut PmAgent, port: &mut PmAgent| {
        // Each of them says a few messages and then waits.
        for _ in 0..8 {
            while let Some(message) = host.next_message() {
                port.receive(&message, 0);
            }
            while let Some(message) = port.next_message() {
                host.receive(&message, 0);
            }
        }
    };
    talk(&mut host, &mut port);
    host.ask(PmRequest::ResetPrep(ResetKind::Reset), 0);
    talk(&mut host, &mut port);
    let is_answered = host.take_happened().contains(&Happened::ResetAcknowledged);
    let text = if is_answered { "is answered" } else { "waits for the ports below" };
    Some(vec![vec![said("reset", is_answered.into(), text)]])
}
