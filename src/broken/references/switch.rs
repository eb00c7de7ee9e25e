//! References of switches: resets, viral, errors, queues, allocation, unordered I/O, numbers of vPPBs.
//!
//! The switch of resets, viral and errors has two hierarchies: vPPB 0 of both is bound to a logical device of `dsp[0]`, 0 and 1; vPPB 1 of
//! the first one to `dsp[1]`, that of the second one to `dsp[2]`.

use super::machine::{Figure, number, said};
use scalepool_arbiter::{Allocator, Islip, Matching, Requests, RoundRobin};
use scalepool_fabric::cxl_switch::aer::{AerBridges, AerError, NO_HEADER};
use scalepool_fabric::cxl_switch::hot_plug::HotPlugPort;
use scalepool_fabric::cxl_switch::{
    Bindings, ResetScope, SWITCH_STAGES, SwitchPreset, UioFrom, UioRouted, UioRoutes, ViralHierarchies, VoqConfig,
    VoqCrossbar, VppbBinding,
};
use scalepool_memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool_memory::decoder::Arithmetic;
use scalepool_memory::uio::UioRange;
use scalepool_nodes::io::switch::hierarchy::vppb_function;
use scalepool_ordered::{OrderedMap, OrderedSet};

const GIB: u64 = 1 << 30;

/// What is bound, each with its name.
const BOUND: [(&str, VppbBinding); 4] = [
    ("LD 0 at dsp[0]", VppbBinding { vcs: 0, vppb: 0, port: 0, ld: Some(0) }),
    ("device at dsp[1]", VppbBinding { vcs: 0, vppb: 1, port: 1, ld: None }),
    ("LD 1 at dsp[0]", VppbBinding { vcs: 1, vppb: 0, port: 0, ld: Some(1) }),
    ("device at dsp[2]", VppbBinding { vcs: 1, vppb: 1, port: 2, ld: None }),
];

fn bindings() -> Option<Bindings> {
    let mut all = Bindings::new(2, 2, 3);
    BOUND.iter().try_for_each(|(_, one)| all.bind(*one)).ok()?;
    Some(all)
}

/// `switch`, `host:N`, `vppb:VCS:N` or `port:N`.
fn scope(word: &str) -> Option<ResetScope> {
    let parts: Vec<&str> = word.split(':').collect();
    let parse = |text: &str| text.parse::<usize>().ok();
    Some(match parts[..] {
        ["switch"] => ResetScope::Switch,
        ["host", vcs] => ResetScope::Upstream(parse(vcs)?),
        ["vppb", vcs, vppb] => ResetScope::Vppb((parse(vcs)?, parse(vppb)?)),
        ["port", port] => ResetScope::Port(parse(port)?),
        _ => return None,
    })
}

/// What a reset covers: `SCOPE`, or `none`.
pub(super) fn resets(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [word] = words else { return None };
    let scope = if *word == "none" { None } else { Some(scope(word)?) };
    let of = |(name, binding): &(&'static str, VppbBinding)| {
        let is_reset = scope.is_some_and(|scope| scope.covers(*binding));
        said(name, is_reset.into(), if is_reset { "reset" } else { "not reset" })
    };
    Some(vec![BOUND.iter().map(of).collect()])
}

/// Hierarchies in viral: `SCOPE` goes viral, `reset:SCOPE` is reset, `off:VCS:N` has Viral_Enable off.
pub(super) fn viral(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const PORTS: [&str; 5] = ["usp[0] tells", "usp[1] tells", "dsp[0] tells", "dsp[1] tells", "dsp[2] tells"];
    const HIERARCHIES: [&str; 2] = ["VCS 0", "VCS 1"];
    let bindings = bindings()?;
    let off: Option<OrderedSet<(usize, usize)>> = words
        .iter()
        .filter_map(|word| word.strip_prefix("off:"))
        .map(|vppb| {
            let (vcs, vppb) = vppb.split_once(':')?;
            Some((vcs.parse().ok()?, vppb.parse().ok()?))
        })
        .collect();
    let (mut all, mut told) = (ViralHierarchies::new(off?), OrderedMap::new());
    let mut figures = |all: &mut ViralHierarchies| {
        for (port, vector) in all.to_tell(&bindings) {
            told.insert(port, vector);
        }
        let of_hierarchy = |(vcs, name): (usize, &&'static str)| {
            said(name, all.has(vcs).into(), if all.has(vcs) { "viral" } else { "well" })
        };
        let of_port = |(port, name): (usize, &&'static str)| match told.get(&port).copied().flatten() {
            Some(vector) => said(name, u64::from(vector) + 1, format!("viral, LD-ID vector {vector:#x}")),
            None => said(name, 0, "nothing"),
        };
        let hierarchies: Vec<Figure> = HIERARCHIES.iter().enumerate().map(of_hierarchy).collect();
        hierarchies.into_iter().chain(PORTS.iter().enumerate().map(of_port)).collect()
    };
    let mut answers: Vec<Vec<Figure>> = vec![figures(&mut all)];
    for word in words.iter().filter(|word| !word.starts_with("off:")) {
        match word.strip_prefix("reset:") {
            Some(word) => drop(all.reset(scope(word)?)),
            None => drop(all.declare(scope(word)?, &bindings)),
        }
        answers.push(figures(&mut all));
    }
    Some(answers)
}

/// Who records an error: `PORT ERROR LD`, with a header of its own.
pub(super) fn errors(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const HEADER: [u32; 4] = [0x4000_0001, 0x0100_000f, 0x1000, 0];
    let [port, error, ld] = words else { return None };
    let error = AerError::by_name(error)?;
    let mut bridges = AerBridges::default();
    let records = bridges.record(port.parse().ok()?, error, ld.parse().ok(), Some(HEADER), &bindings()?);
    let of = |(name, VppbBinding { vcs, vppb, .. }): &(&'static str, VppbBinding)| match records
        .iter()
        .find(|record| record.vppb == Some((*vcs, *vppb)))
        .map(|record| record.header)
    {
        None => said(name, 0, "records nothing"),
        Some(Some(NO_HEADER)) => said(name, 1, "records it with a header of ones"),
        Some(Some(_)) => said(name, 2, "records it with its header"),
        Some(None) => said(name, 3, "records it without a header"),
    };
    Some(vec![BOUND.iter().map(of).collect()])
}

/// A port for a device with logical devices: `bind`, `release`, `train`, `unbind`.
pub(super) fn shared_port(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let mut port = HotPlugPort::of_logical_devices(true);
    let figures = |port: &HotPlugPort| {
        vec![
            said("link", port.is_up().into(), if port.is_up() { "up" } else { "down" }),
            said(
                "logical devices",
                port.advertises_mld().into(),
                if port.advertises_mld() { "advertised" } else { "not advertised" },
            ),
        ]
    };
    let mut answers = vec![figures(&port)];
    for word in words {
        match *word {
            "bind" => port.bind((0, 0)).ok()?,
            "release" => port.release_link().ok()?,
            "train" => port.train().ok()?,
            "unbind" => drop(port.unbind().ok()?),
            _ => return None,
        }
        answers.push(figures(&port));
    }
    Some(answers)
}

/// Unordered I/O through a switch: `FROM ADDRESS BYTES UIO`, `FROM` being `up`, `dsp:N` or `off:N` for a port that is not enabled, `UIO` `on` or
/// `off` at the decoder. From 4 GiB on 512 bytes each are of vPPBs 2 and 0 in turn, from 5 GiB on all is of vPPB 1.
pub(super) fn unordered(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [from, address, bytes, uio] = words else { return None };
    let from = match from.split_once(':') {
        None if *from == "up" => UioFrom::Up,
        Some(("dsp", vppb)) => UioFrom::Down { vppb: vppb.parse().ok()?, is_enabled: true },
        Some(("off", vppb)) => UioFrom::Down { vppb: vppb.parse().ok()?, is_enabled: false },
        _ => return None,
    };
    let mut decoders = BridgeDecoders::default();
    for (n, granularity, targets) in [(4, 512, vec![2, 0]), (5, 256, vec![1])] {
        let decoder = BridgeDecoder { base: n * GIB, size: GIB, granularity, targets, back_invalidate: false };
        decoders.commit(decoder).ok()?;
    }
    let routed = UioRoutes::new(&decoders, |_| *uio == "on").route(from, parse(address)?, parse(bytes)?);
    let (value, text) = match routed {
        UioRouted::Down(vppb) => (vppb as u64, format!("to vPPB {vppb}")),
        UioRouted::Up => (16, "up to the host".to_owned()),
        UioRouted::Abort => (17, "completed as Completer Abort".to_owned()),
        UioRouted::Unsupported => (18, "completed as Unsupported Request".to_owned()),
    };
    Some(vec![vec![said("request", value, text)]])
}

/// Unordered I/O at a device of two ways of 256 bytes from 4 GiB on, which has the second one: `ADDRESS BYTES`.
pub(super) fn unordered_device(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [address, bytes] = words else { return None };
    let (arithmetic, allows_uio) = (Arithmetic::Modulo, true);
    let range = UioRange { base: 4 * GIB, size: GIB, granularity: 256, ways: 2, position: 1, arithmetic, allows_uio };
    let takes = range.takes(parse(address)?, parse(bytes)?);
    Some(vec![vec![said("request", takes.into(), if takes { "performed" } else { "completed as Completer Abort" })]])
}

fn parse(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

/// Device and function number of a vPPB on a bus: `N DEVICES`.
pub(super) fn vppb_numbers(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [n, devices] = words else { return None };
    let (device, function) = vppb_function(n.parse().ok()?, devices.parse().ok()?)?;
    Some(vec![vec![number("device", device.into()), number("function", function.into())]])
}

/// Pairs of an iSLIP allocator of three inputs, each of which asks for all outputs, slot by slot: `use`, the pairs are used, or `drop`, none is.
pub(super) fn allocator(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const PORTS: usize = 3;
    let mut allocator = Islip::new(PORTS, PORTS, 1).ok()?;
    let (requests, mut matching) = (vec![Requests::all(PORTS); PORTS], Matching::new());
    let mut slot = |word: &&str| {
        allocator.arbitrate(&requests, &mut matching);
        let pairs: Vec<String> = matching.iter().map(|(input, output)| format!("{input} to {output}")).collect();
        match *word {
            "use" => (),
            "drop" => (0..PORTS).for_each(|input| matching.drop_pair(input)),
            _ => return None,
        }
        allocator.update(&requests, &matching);
        Some(vec![said("pairs", pairs.len() as u64, format!("{} ({})", pairs.len(), pairs.join(", ")))])
    };
    words.iter().map(&mut slot).collect()
}

/// A crossbar of two inputs, three outputs and two classes, with two places in each queue and one at each output and class: `FIGURE CYCLES
/// SPEEDUP STUCK ITEM ..`, where `FIGURE` is `left`, `room` or `moved`, `STUCK` an output that takes nothing, `OUTPUT:CLASS`, and an item
/// `INPUT:OUTPUT:CLASS`. All items are offered from the first cycle on; what finds no room waits in front of the switch.
pub(super) fn crossbar(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const BYTES: u64 = 16;
    const INPUTS: usize = 2;
    const OUTPUTS: usize = 3;
    const CLASSES: usize = 2;
    let [figure, cycles, speedup, stuck, items @ ..] = words else { return None };
    let config = VoqConfig {
        inputs: INPUTS,
        outputs: OUTPUTS,
        classes: CLASSES,
        pushed: None,
        queue: 2,
        output_queue: 1,
        bytes_per_cycle: BYTES * speedup.parse::<u64>().ok()?,
        behind_cycles: 1,
        allocator: &Islip::KIND,
        arbiter: &RoundRobin::KIND,
    };
    let mut crossbar: VoqCrossbar<()> = VoqCrossbar::new(config, &[1, 1]).ok()?;
    let numbers = |word: &str| word.split(':').map(|digit| digit.parse().ok()).collect::<Option<Vec<usize>>>();
    let stuck = numbers(stuck)?;
    let mut offered = Vec::new();
    for item in items {
        let [input, output, class] = numbers(item)?[..] else { return None };
        if input >= INPUTS || output >= OUTPUTS || class >= CLASSES {
            return None;
        }
        offered.push((input, output, class));
    }
    let (mut left, mut moved) = ([0_u64; CLASSES], 0);
    let mut answers = Vec::new();
    for cycle in 0..cycles.parse().ok()? {
        offered.retain(|way| {
            let has_room = crossbar.has_room(way.0, way.1, way.2);
            if has_room {
                crossbar.push(*way, cycle, BYTES, ());
            }
            !has_room
        });
        moved += crossbar.step(cycle) as u64;
        for (output, class) in (0..OUTPUTS).flat_map(|output| [(output, 0), (output, 1)]) {
            let is_stuck = stuck[..] == [output, class];
            if !is_stuck && crossbar.leaving(output, class, cycle).is_some() && crossbar.leave(output, class).is_some()
            {
                left[class] += 1;
            }
        }
        answers.push(match *figure {
            "left" => vec![number("class 0 left", left[0]), number("class 1 left", left[1])],
            "moved" => vec![number("messages through the crossbar", moved)],
            "room" => {
                let has_room = crossbar.has_room(0, 1, 0);
                vec![said("input 0 for output 1", has_room.into(), if has_room { "has room" } else { "is full" })]
            }
            _ => return None,
        });
    }
    Some(answers)
}

/// The latency from port to port of a preset: `PRESET STAGE`, the stage that is left out, or `none`.
pub(super) fn stages(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    const FS_PER_NS: u64 = 1_000_000;
    let [name, without] = words else { return None };
    let preset = SwitchPreset::by_name(name)?;
    let stages = SWITCH_STAGES.iter().zip(preset.stages_fs).filter(|(stage, _)| *stage != without);
    let sum: u64 = stages.map(|(_, fs)| fs).sum();
    Some(vec![vec![said("port to port", sum / FS_PER_NS, format!("{} ns", sum / FS_PER_NS))]])
}
