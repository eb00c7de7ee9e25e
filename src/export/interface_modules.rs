//! SystemVerilog: `scalepool_interfaces.sv`, a source, a sink and a monitor for each interface that cores have, as modules with its signals.
//!
//! The modules join wires to the objects of `scalepool_pkg`, which know how the signals move (`classes/interfaces.sv`). Left out: units;
//! those are the objects' alone.
//!
//! A walk through one module: `scalepool_axi_stream_source` copies `tready` to `agent.bus.seen.ready` at an edge, calls `agent.on_edge`, and
//! drives `tvalid` with `agent.bus.driven.valid`.

use super::File;
use super::names::comment;
use scalepool_protocols::interfaces::{
    ACTIVE, CORE_INTERFACES, CoreInterface, InterfaceSignal, SLOTS68, STATE_BITS, SignalNeed, SignalRole, SignalWidth,
};
use std::fmt::Write;

const HEAD: &str = "\
// Made by `scalepool export sv` from the table of interfaces; do not edit.
//
// Interfaces that cores have, as modules of a bench. Each has an object `agent` of scalepool_pkg: a source sends the units that it is given,
// a sink accepts them, a monitor watches. What is like a public interface has its handshake and no more.
";

/// Bytes of the longest unit: a DL flit of UALink (`ualink` §3.1).
const MOST_BYTES: u32 = 640;
/// Bits of what may go beside a unit.
const USER_BITS: u32 = 64;

/// What a module does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleKind {
    Source,
    Sink,
    Monitor,
}

impl ModuleKind {
    const ALL: [ModuleKind; 3] = [ModuleKind::Source, ModuleKind::Sink, ModuleKind::Monitor];

    const fn word(self) -> &'static str {
        match self {
            ModuleKind::Source => "source",
            ModuleKind::Sink => "sink",
            ModuleKind::Monitor => "monitor",
        }
    }

    /// Whether it drives a signal of a role.
    fn drives(self, role: SignalRole) -> bool {
        match self {
            ModuleKind::Source => role.is_of_sender(),
            ModuleKind::Sink => !role.is_of_sender(),
            ModuleKind::Monitor => false,
        }
    }
}

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// The key as one word: `axi_stream`.
fn word(interface: &CoreInterface) -> String {
    interface.key.replace('-', "_")
}

/// The most bits that the signals of a role have, of any interface.
fn most_bits(role: SignalRole) -> u32 {
    let bits = |interface: &CoreInterface| match interface.width(role) {
        SignalWidth::Bits(bits) => bits,
        SignalWidth::Beat => 8 * MOST_BYTES,
        SignalWidth::BeatBytes => MOST_BYTES,
        SignalWidth::User => USER_BITS,
    };
    CORE_INTERFACES.iter().map(bits).max().unwrap_or(1)
}

/// The structs of all signals, for the package of classes.
pub(super) fn structs(text: &mut String) {
    line!(
        text,
        "\n  // The signals of interfaces that cores have, of all of them together; each uses those that it has."
    );
    line!(text, "  typedef struct {{");
    for role in SignalRole::ALL {
        match most_bits(role) {
            1 => line!(text, "    bit {};", role.key()),
            bits => line!(text, "    bit [{}:0] {};", bits - 1, role.key()),
        }
    }
    line!(text, "  }} sp_pins_t;\n");
    line!(text, "  // Which of them a design has.");
    line!(text, "  typedef struct packed {{");
    for role in SignalRole::ALL {
        line!(text, "    bit {};", role.key());
    }
    line!(text, "  }} sp_has_t;\n");
    line!(text, "  localparam bit [{}:0] SP_STATE_ACTIVE = {STATE_BITS}'d{ACTIVE};", STATE_BITS - 1);
}

/// The declaration of a signal's width.
fn range(interface: &CoreInterface, signal: &InterfaceSignal) -> String {
    match interface.width(signal.role) {
        SignalWidth::Bits(1) => String::new(),
        SignalWidth::Bits(bits) => format!("[{}:0] ", bits - 1),
        SignalWidth::Beat => "[8*BYTES-1:0] ".into(),
        SignalWidth::BeatBytes => "[BYTES-1:0] ".into(),
        SignalWidth::User => "[USER_BITS-1:0] ".into(),
    }
}

/// What is read of `driven` for a signal.
fn part(interface: &CoreInterface, signal: &InterfaceSignal) -> String {
    let name = format!("agent.bus.driven.{}", signal.role.key());
    match interface.width(signal.role) {
        SignalWidth::Bits(bits) if bits == most_bits(signal.role) => name,
        SignalWidth::Bits(bits) => format!("{name}[{}:0]", bits - 1),
        SignalWidth::Beat => format!("{name}[8*BYTES-1:0]"),
        SignalWidth::BeatBytes => format!("{name}[BYTES-1:0]"),
        SignalWidth::User => format!("{name}[USER_BITS-1:0]"),
    }
}

fn module(text: &mut String, interface: &CoreInterface, kind: ModuleKind) {
    let name = format!("scalepool_{}_{}", word(interface), kind.word());
    let has = |role| interface.signal(role).is_some();
    let is_slots = interface.key == SLOTS68;
    line!(text, "\n// {}.", comment(interface.doc));
    line!(text, "module {name} #(");
    if !is_slots {
        line!(text, "    parameter int BYTES = 64, // of a beat");
    }
    if has(SignalRole::User) {
        line!(text, "    parameter int USER_BITS = 1, // 1 to {USER_BITS}");
    }
    for signal in interface.signals.iter().filter(|signal| signal.need == SignalNeed::Optional) {
        line!(
            text,
            "    parameter bit HAS_{} = 1, // 0: the design has no {}",
            signal.name.to_uppercase(),
            signal.name
        );
    }
    line!(text, "    parameter bit RESET_ACTIVE = 0 // level at which reset is active");
    line!(text, ") (");
    line!(text, "    input wire clk,");
    let ports: Vec<String> = interface
        .signals
        .iter()
        .map(|signal| {
            let way = if kind.drives(signal.role) { "output logic" } else { "input wire" };
            format!("    {way} {}{}", range(interface, signal), signal.name)
        })
        .collect();
    line!(text, "    input wire reset,\n{}", ports.join(",\n"));
    line!(text, ");");
    line!(text, "  import scalepool_pkg::*;\n");
    line!(text, "  function automatic sp_has_t has();");
    line!(text, "    has = '0;");
    for signal in interface.signals {
        let value = match signal.need {
            SignalNeed::Optional => format!("HAS_{}", signal.name.to_uppercase()),
            _ => "1'b1".into(),
        };
        line!(text, "    has.{} = {value};", signal.role.key());
    }
    line!(text, "  endfunction\n");
    let bytes = if is_slots { "68" } else { "BYTES" };
    line!(text, "  sp_{}_bus bus = new({bytes}, has());", word(interface));
    line!(text, "  sp_flit_{} agent = new(bus);\n", kind.word());
    line!(text, "  function automatic void act();");
    // The bytes of a beat are wide, so they are copied where there is one. What a source drives it need not read.
    let read: Vec<_> =
        interface.signals.iter().filter(|s| kind != ModuleKind::Source || !s.role.is_of_sender()).collect();
    for signal in read {
        let (role, bits) = (signal.role.key(), most_bits(signal.role));
        let value = match interface.width(signal.role) {
            SignalWidth::Bits(width) if width == bits => signal.name.to_owned(),
            _ => format!("{bits}'({})", signal.name),
        };
        let valid = interface.signal(SignalRole::Valid).filter(|_| signal.role == SignalRole::Data);
        let when = valid.map_or(String::new(), |valid| format!("if ({}) ", valid.name));
        line!(text, "    {when}agent.bus.seen.{role} = {value};");
    }
    line!(text, "    agent.on_edge(reset === RESET_ACTIVE);");
    line!(text, "  endfunction\n");
    line!(text, "  always @(posedge clk) begin");
    line!(text, "    act();");
    for signal in interface.signals.iter().filter(|signal| kind.drives(signal.role)) {
        line!(text, "    {} <= {};", signal.name, part(interface, signal));
    }
    line!(text, "  end");
    let driven: Vec<_> = interface.signals.iter().filter(|signal| kind.drives(signal.role)).collect();
    if !driven.is_empty() {
        line!(text, "\n  initial begin");
        for signal in driven {
            line!(text, "    {} = '0;", signal.name);
        }
        line!(text, "  end");
    }
    line!(text, "endmodule");
}

/// The file.
pub(super) fn file() -> File {
    let mut text = HEAD.to_owned();
    for interface in &CORE_INTERFACES {
        for kind in ModuleKind::ALL {
            module(&mut text, interface, kind);
        }
    }
    File { name: "scalepool_interfaces.sv".into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_drives_what_the_sender_drives_and_a_monitor_nothing() {
        let text = file().text;
        let module = |name: &str| {
            let from = text.find(&format!("module {name} #(")).expect("a module of the table");
            text[from..].split("endmodule").next().unwrap_or_default().to_owned()
        };
        let source = module("scalepool_credited_source");
        assert!(source.contains("output logic valid") && source.contains("input wire crdgnt"), "{source}");
        assert!(module("scalepool_credited_sink").contains("output logic crdgnt"));
        assert!(!module("scalepool_state_monitor").contains("output"));
        assert!(module("scalepool_slots68_sink").contains("input wire [511:0] data"));
        assert!(text.is_ascii());
    }
}
