//! Windows of a bridge as a description gives them, see [`scalepool_bridge::window`].
//!
//! Modelled: the fields of a window in each direction, rights of groups, groups of sources, and what replaces all of them in a running system. A walk through one window: its ports or its
//! accelerators are read by number, its rights group by group; all windows of a direction are judged together.

use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_bridge::window::{AccessRights, BridgeWindow, GROUPS, InboundClass, LEAST_BYTES, WindowClass};
use scalepool_ordered::OrderedMap;

/// Groups of sources.
pub const SOURCES: &str = "ACCELERATOR:GROUP with accelerators 0 to 1023, or GPUs 0 to 511, and groups 0 to 15";
/// Rights of groups.
const RIGHTS: &str = "GROUP:RIGHTS with groups 0 to 15 and rights of the letters r, w and a, or -";
/// Rights of groups to the registers of a bridge.
pub(super) const CONTROL_RIGHTS: &str = "GROUP:RIGHTS with groups 0 to 15 and rights of the letters r and w, or -";
/// Rights of groups of CXL, whose messages are no atomics; those of CXL.io are.
const INBOUND_RIGHTS: &str =
    "GROUP:RIGHTS with groups 0 to 15 and rights of the letters r and w, of class BR also a, or -";
/// Accelerators of a window from CXL.
const TARGETS: &str = "accelerators by number, 1, 2, 4, 8 or 16 of them";

config! {
    /// A window from accelerators to CXL.
    pub struct BridgeWindowFields {
        base: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 57) - 256), "first address of accelerators, a multiple of 256 bytes (bridge §2)";
        size: u64 = "2 MiB" [Unit::Bytes] in FieldRange::Int(LEAST_BYTES, 1 << 52), "bytes, a multiple of 256, at least 2 MiB (bridge §2)";
        to: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 52) - 256), "CXL address of its first byte, a multiple of 256 bytes; of class HP, one of a window of class DB in `inbound` (bridge §2)";
        class: String = "MN" [Unit::Of("-")] in FieldRange::Words(&["MN", "MC", "CC", "IO", "HP"]), "MN = CXL.mem to memory that nobody keeps coherent, HDM-H, at `cxl` ports; MC = CXL.mem to memory that its device keeps coherent, HDM-DB, at `coherent` ports; CC = CXL.cache to memory of a host, at `host` ports; IO = CXL.io to registers and memory of a device, at `io` ports; HP = memory of the own cluster that the bridge keeps coherent, by the addresses of its windows of class DB, at no port (bridge §2)";
        ports: Option<Vec<(String, TextPlace)>> = "" [Unit::Of("-")] in FieldRange::Texts("CXL ports by number, 1, 2, 4, 8 or 16 of them"), "ports of its class among which the window is dealt, each once; left out, port 0 (bridge §2)";
        fallback: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["io"]), "of class MN or MC, what the window becomes if the bridge has none of its ports, since its links have no port based routing or 68B flits: io = a window of class IO at `io` ports of these numbers, which the run says; left out, it is refused (bridge §1.2)";
        granule: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&scalepool_bridge::window::WINDOW_GRANULES), "bytes in a row at one of them (bridge §2)";
        rights: Option<Vec<(String, TextPlace)>> = "" [Unit::Of("-")] in FieldRange::Texts(RIGHTS), "what groups may do: r = read, w = write, a = atomics, which take all three, - = nothing; left out, all may do all, else those that are not named nothing (bridge §2)";
    }
}

config! {
    /// A window from CXL to accelerators.
    pub struct InboundWindowFields {
        base: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 52) - 256), "first CXL address, a multiple of 256 bytes; behind a window of the memory map, address in the memory of the bridge; of class BR, byte of the BAR (bridge §2)";
        size: u64 = "2 MiB" [Unit::Bytes] in FieldRange::Int(LEAST_BYTES, 1 << 52), "bytes, a multiple of 256, at least 2 MiB (bridge §2)";
        to: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 57) - 256), "address of its first byte in the memory of an accelerator, a multiple of 256 bytes (bridge §2)";
        class: String = "NH" [Unit::Of("-")] in FieldRange::Words(&["NH", "DB", "BR"]), "NH = memory of accelerators that nobody keeps coherent, HDM-H, at ports `target`; DB = memory that the bridge keeps coherent, HDM-DB, at ports `home`; BR = memory behind a BAR, reached over CXL.io, at ports `bar` (bridge §2)";
        accelerators: Option<Vec<(String, TextPlace)>> = "" [Unit::Of("-")] in FieldRange::Texts(TARGETS), "accelerators among which the window is dealt, each at the address that the window gives; left out, accelerator 0 (bridge §2)";
        granule: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&scalepool_bridge::window::WINDOW_GRANULES), "bytes in a row at one of them (bridge §2)";
        rights: Option<Vec<(String, TextPlace)>> = "" [Unit::Of("-")] in FieldRange::Texts(INBOUND_RIGHTS), "what groups may do: r = read, w = write, a = atomics, of class BR, which take all three, - = nothing; of class DB, who may not write may share lines and not own them; left out, all may do all, else those that are not named nothing (bridge §2)";
    }
}

config! {
    /// New windows from accelerators to CXL while the system runs.
    pub struct BridgeCommitFields {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when they are committed; they are valid when all requests that have an entry by then have ended, and those that come meanwhile wait in front of the table of transactions (bridge §2)";
        windows: Vec<(BridgeWindowFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(BridgeWindowFields::fields), "all windows from then on, in place of those before";
        groups: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(SOURCES), "all groups of accelerators from then on, in place of those before; those that are not named are in group 0";
    }
}

/// Reads `GROUP:RIGHTS` with these letters.
fn rights(text: &str, letters_known: &str) -> Option<(usize, AccessRights)> {
    let (group, letters) = text.split_once(':')?;
    let group = group.parse().ok().filter(|group| *group < GROUPS)?;
    let known = letters == "-" || !letters.is_empty() && letters.chars().all(|letter| letters_known.contains(letter));
    let has = |letter| letters.contains(letter);
    known.then(|| (group, AccessRights { read: has('r'), write: has('w'), atomic: has('a') }))
}

/// Rights of all groups by a list of texts with these letters, of which `expected` says what they may be; without a list all may do all.
fn rights_of_groups(
    texts: Option<&Vec<(String, TextPlace)>>,
    letters: &str,
    expected: &str,
) -> Result<[AccessRights; GROUPS], String> {
    let Some(texts) = texts else { return Ok([AccessRights::ALL; GROUPS]) };
    if texts.is_empty() {
        return Err(empty("rights", &format!("{expected}, or no list, by which all groups may do all")));
    }
    let mut of_groups = [AccessRights::default(); GROUPS];
    for (text, _) in texts {
        let (group, rights) =
            rights(text, letters).ok_or_else(|| format!("found rights `{text}`, expected {expected}"))?;
        of_groups[group] = rights;
    }
    Ok(of_groups)
}

/// Rights of all groups to the registers of a bridge.
///
/// # Errors
/// A text that names none.
pub(super) fn control_rights(texts: Option<&Vec<(String, TextPlace)>>) -> Result<[AccessRights; GROUPS], String> {
    rights_of_groups(texts, "rw", CONTROL_RIGHTS)
}

/// What is wrong with an empty list, which could mean all as well as nothing.
fn empty(what: &str, expected: &str) -> String {
    format!("found a window with an empty list of {what}, expected {expected}")
}

/// Reads `SOURCE:GROUP`.
fn source(text: &str) -> Option<(u16, usize)> {
    let (source, group) = text.split_once(':')?;
    Some((source.parse().ok()?, group.parse().ok()?))
}

/// Groups by source, of a list of texts; `field` is its name, `expected` what may stand in it.
///
/// # Errors
/// The first text that is none.
pub fn groups_of_sources(
    field: &'static str,
    texts: &[(String, TextPlace)],
    expected: &str,
) -> Result<OrderedMap<u16, usize>, ConfigFinding> {
    let read = |(text, _): &(String, TextPlace)| {
        source(text).ok_or_else(|| (field, format!("found `{text}`, expected {expected}")))
    };
    texts.iter().map(read).collect()
}

/// A window with what its fields say, and what they come to.
pub struct ReadWindow {
    /// The window.
    pub window: BridgeWindow,
    /// Of one that became another class than its fields say: what that means, as a warning.
    pub fallback: Option<String>,
}

/// The ports of a class of windows: those of one name, which are a part of all CXL ports of a bridge.
struct ClassPorts {
    class: WindowClass,
    name: &'static str,
    first: usize,
    count: usize,
    /// They ask memory of devices directly, so their links need port based routing and 256B flits (`bridge` §1.2, role P).
    is_direct: bool,
}

impl ClassPorts {
    /// Those of the class of this name; of all CXL ports of the bridge the first ones are the `plain` ones, then come the `coherent` ones,
    /// those to hosts, the one to the own home, if a window leads there, and those of CXL.io.
    fn of(class: &str, [plain, coherent, hosts, hairpin, io]: [usize; 5]) -> ClassPorts {
        let (class, name, first, count, is_direct) = match class {
            "MC" => (WindowClass::Mc, "coherent", plain, coherent, true),
            "CC" => (WindowClass::Cc, "host", plain + coherent, hosts, false),
            "HP" => (WindowClass::Hp, "home", plain + coherent + hosts, hairpin, false),
            "IO" => (WindowClass::Io, "io", plain + coherent + hosts + hairpin, io, false),
            _ => (WindowClass::Mn, "cxl", 0, plain, true),
        };
        ClassPorts { class, name, first, count, is_direct }
    }
}

impl BridgeWindowFields {
    /// Whether it leads to memory of the own cluster.
    pub fn is_hairpin(&self) -> bool {
        self.class == "HP"
    }

    /// The window, of a bridge with so many plain ports, coherent ones, ports to hosts, ports to its own home and ports of CXL.io.
    ///
    /// # Errors
    /// What is wrong with its fields.
    pub fn window(&self, counts: [usize; 5]) -> Result<ReadWindow, String> {
        let own = ClassPorts::of(&self.class, counts);
        if let (true, Some(ports)) = (self.is_hairpin(), &self.ports) {
            let count = ports.len();
            return Err(format!(
                "found a window of class HP with {count} ports, expected none: it stays in the bridge"
            ));
        }
        if self.fallback.is_some() && !own.is_direct {
            return Err(format!(
                "found a window of class {} with a fallback, expected none: only MN and MC need ports with port based routing (bridge §1.2)",
                self.class
            ));
        }
        let numbers = self.numbers()?;
        let falls_back = self.fallback.is_some() && numbers.iter().all(|port| *port >= own.count);
        let reached = if falls_back { ClassPorts::of("IO", counts) } else { own };
        if let Some(port) = numbers.iter().find(|port| **port >= reached.count) {
            let (class, count, name) = (&self.class, reached.count, reached.name);
            let hint = match (reached.is_direct, falls_back) {
                (true, _) if self.fallback.is_none() => {
                    ", whose links have port based routing and 256B flits, or fallback = \"io\" (bridge §1.2)"
                }
                (_, true) => ", by which it is reached as class IO (bridge §1.2)",
                _ => "",
            };
            return Err(format!(
                "found a window of class {class} at port {port}, expected one of the {count} ports `{name}`{hint}"
            ));
        }
        let fallback = falls_back.then(|| {
            let ports: Vec<_> = numbers.iter().map(|port| format!("io[{port}]")).collect();
            let (class, name) = (&self.class, ClassPorts::of(&self.class, counts).name);
            let lost = if class == "MC" { ", without coherence" } else { "" };
            format!(
                "class {class} falls back to class IO at {}{lost}: the bridge has no port `{name}` of that number, so no direct request of CXL.mem can be made (bridge §1.2)",
                ports.join(" and ")
            )
        });
        let window = BridgeWindow {
            base: self.base,
            size: self.size,
            out_base: self.to,
            class: reached.class,
            ports: numbers.into_iter().map(|port| port + reached.first).collect(),
            granule: self.granule,
            rights: rights_of_groups(self.rights.as_ref(), "rwa", RIGHTS)?,
        };
        Ok(ReadWindow { window, fallback })
    }

    /// Its ports, counted among those of its class.
    fn numbers(&self) -> Result<Vec<usize>, String> {
        let number = |(text, _): &(String, TextPlace)| {
            text.parse().map_err(|_| format!("found port `{text}`, expected the number of a CXL port"))
        };
        let given = self.ports.as_ref().map(|ports| ports.iter().map(number).collect::<Result<Vec<usize>, String>>());
        let ports = given.transpose()?.unwrap_or_else(|| vec![0]);
        if ports.is_empty() {
            return Err(empty("ports", "1, 2, 4, 8 or 16 of them, or no list for port 0"));
        }
        if let Some(port) = (1..ports.len()).find(|n| ports[..*n].contains(&ports[*n])).map(|n| ports[n]) {
            return Err(format!("found a window with port {port} twice, expected each of its ports once (bridge §2)"));
        }
        Ok(ports)
    }
}

impl InboundWindowFields {
    /// The window.
    ///
    /// # Errors
    /// What is wrong with its texts.
    pub fn window(&self) -> Result<BridgeWindow<InboundClass>, String> {
        let number = |(text, _): &(String, TextPlace)| {
            text.parse().map_err(|_| format!("found accelerator `{text}`, expected the number of an accelerator"))
        };
        let given = self.accelerators.as_ref();
        let given = given.map(|list| list.iter().map(number).collect::<Result<Vec<usize>, String>>()).transpose()?;
        let ports = given.unwrap_or_else(|| vec![0]);
        if ports.is_empty() {
            return Err(empty("accelerators", "1, 2, 4, 8 or 16 of them, or no list for accelerator 0"));
        }
        let (class, letters) = match self.class.as_str() {
            "DB" => (InboundClass::Db, "rw"),
            "BR" => (InboundClass::Br, "rwa"),
            _ => (InboundClass::Nh, "rw"),
        };
        Ok(BridgeWindow {
            base: self.base,
            size: self.size,
            out_base: self.to,
            class,
            ports,
            granule: self.granule,
            rights: rights_of_groups(self.rights.as_ref(), letters, INBOUND_RIGHTS)?,
        })
    }
}
