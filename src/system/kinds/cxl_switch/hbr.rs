//! `cxl.switch.hbr`: a CXL switch with hierarchy based routing, see [`scalepool_fabric::cxl_switch`].
//!
//! Modelled: upstream ports `usp[n]`, each the top of one virtual hierarchy below a host or another switch, downstream ports `dsp[n]`, and the bindings that a
//! fabric manager has made before the hosts start (`fabric` VCS-4 b); bus numbers and BI decoders as configuration software
//! writes them, CacheIDs from 0 on in the order of the vPPBs. A walk: bindings are judged alone, then with the hosts and
//! devices at the ports; decoders of the hierarchies come from the memory map, or hold all addresses where a host numbers
//! the lines of a device from 0; latencies come from the preset where they are not given.

use super::{COHERENT, Hardware, SWITCHED, answered, coherent, cycles, form, hbr_links, misfit, node, switched};
use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, config};
use crate::hierarchies::HierarchyNumbers;
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, NodeError, Offer,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::metric::{MetricValue, metrics};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_coherence::cache::route::{Below, CACHE_IDS, CacheRoutes, Flits, Hdm, Hierarchy, HierarchyError};
use scalepool_fabric::cxl_switch::aer::{AerError, AerRecord, AerSettings, ErrorMessage, TlpHeader};
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_fabric::cxl_switch::commit::CommitLimit;
use scalepool_fabric::cxl_switch::hot_plug::PortStep;
use scalepool_fabric::cxl_switch::module::{SWITCH_CLASSES, SWITCH_SIGNALS, VIRAL_SIGNALS};
use scalepool_fabric::cxl_switch::{
    Bindings, CachingDevices, ContainmentCause, DspMode, DspModes, HBR_PRESETS, HbrRoutes, HbrSwitching,
    ManagerCommand, ManagerEvent, PlugAction, PlugDelays, PortError, ResetScope, SwitchResult, SwitchTraffic,
    TableCommit, TableKind, TimedCommand, UnbindOption, Undelivered, VppbBinding, VppbBridge,
};
use scalepool_kernel::{Clock, Time};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.switch.hbr",
    about: "CXL switch with hierarchy based routing for CXL.mem and CXL.cache: hosts share devices and logical devices by bindings; its ports are `usp[n]` towards hosts and `dsp[n]` towards devices or further such switches",
    fields: HbrCxlSwitch::fields,
    read: component::<HbrCxlSwitch>,
    external: &["flits", "messages"],
    metrics: &[SWITCHED, COHERENT, METRICS],
};

metrics! {
    /// What bindings and their manager count.
    static METRICS {
        CACHE_DISCARDED = "CacheIDs discarded" ["messages"] Sum, "messages of CXL.cache without an entry for their CacheID, or at the port of a device with another one (fabric CID-2, CID-3)";
        BI_DISCARDED = "back-invalidates discarded" ["messages"] Sum, "back-invalidate snoops that a bridge discards, and answers to a bus that no bridge has (fabric BIR-1, BIR-2)";
        NOT_BOUND = "not bound" ["messages"] Sum, "requests to a vPPB that is not bound, or whose link is down (fabric CMR-5)";
        CONTAINED = "vPPBs contained" ["vPPBs"] Sum, "times that the logical device of a vPPB was contained (fabric MLD-7)";
        DISCARDED = "contained messages" ["messages"] Sum, "messages of contained vPPBs that were discarded as they came, those flushed not included (fabric MLD-7)";
        VIRAL = "hierarchies viral" ["hierarchies"] Sum, "times that a virtual hierarchy went viral (fabric VIR-1)";
        VIRAL_TOLD = "viral told" ["statuses"] Sum, "statuses of viral that ports sent ahead of later messages (fabric VIR-1, VIR-3)";
        VIRAL_MESSAGES = "viral messages" ["messages"] Sum, "messages of CXL.mem and CXL.cache that left while their hierarchy was viral, and count as viral (fabric VIR-2)";
        BOUND = "vPPBs bound" ["commands"] Sum, "commands that bound a vPPB while the system ran";
        UNBOUND = "vPPBs unbound" ["commands"] Sum, "commands that unbound a vPPB";
        RESETS = "vPPBs reset" ["vPPBs"] Sum, "resets of a vPPB, whatever command covered it (fabric §1.4)";
        LINKS_DOWN = "links lost" ["links"] Sum, "times that the link of a downstream port went down by itself (fabric BND-8)";
        REMOVED = "devices removed" ["devices"] Sum, "devices that were taken out of a downstream port (fabric BND-8)";
        LINKS_UP = "links trained" ["links"] Sum, "times that the link of a downstream port was trained while the system ran (fabric BND-1)";
        PLUG_EVENTS = "hot-plug events" ["events"] Sum, "hot-plug events of hosts: a device that comes or goes, or a link that goes down (fabric BND-2, BND-8)";
        ABSENCES = "absences seen" ["devices"] Sum, "times that a host saw no presence any more (fabric BND-3, BND-8)";
        RECORDS = "physical records" ["records"] Sum, "records of the fabric manager of what happened at a port that is not bound as a whole (fabric BND-8)";
        ERRORS = "errors recorded" ["records"] Sum, "errors that bridges of downstream ports recorded, masked ones included (fabric MLD-8, ERR-5)";
        ERR_COR = "ERR_COR" ["messages"] Sum, "correctable errors that were reported to hosts";
        ERR_NONFATAL = "ERR_NONFATAL" ["messages"] Sum, "errors that are neither correctable nor fatal and were reported to hosts";
        ERR_FATAL = "ERR_FATAL" ["messages"] Sum, "fatal errors that were reported to hosts";
        MANAGER_ERRORS = "errors of the manager" ["records"] Sum, "errors that the fabric manager recorded, of ports that are not bound as a whole (fabric MLD-8)";
        COMMITTED = "tables committed" ["tables"] Sum, "commits of tables that ended as Committed (fabric CID-4)";
        COMMITS_FAILED = "commits failed" ["tables"] Sum, "commits of tables that ended as Error, as the switch took longer than their limit (fabric CID-4)";
        REFUSED = "commands refused" ["commands"] Sum, "commands of the fabric manager that could not be done and changed nothing (fabric BND-7)";
        FLUSHED = "messages flushed" ["messages"] Sum, "messages that the switch held of a vPPB when its binding was taken away, its link went down, or it was contained (fabric BND-5, BND-6, MLD-7)";
    }
}

/// Names of commands, and of what happens at ports.
const COMMANDS: &[&str] = &[
    "bind",
    "unbind",
    "reset",
    "dpc",
    "dpc-clear",
    "viral",
    "remove",
    "insert",
    "link-down",
    "attention",
    "ready",
    "error",
];

/// Names of the options of an unbind, by their codes (`fabric` BND-4).
const UNBIND_OPTIONS: &[&str] = &["wait", "managed", "surprise"];

/// Names of the ways to start.
const STARTS: &[&str] = &["managed", "static"];

/// Names of the tables that are committed.
const TABLES: &[&str] = &["hdm", "cache-id"];

/// Names of what may trigger a containment (`fabric` MLD-7).
const CAUSES: &[&str] = &["software", "fatal", "non-fatal", "uncorrectable"];

/// Names of what a reset covers (`fabric` §1.4).
const RESET_SCOPES: &[&str] = &["vppb", "upstream", "port", "switch"];

/// Names of the presets.
const PRESET_NAMES: &[&str] = &[HBR_PRESETS[0].name, HBR_PRESETS[1].name, HBR_PRESETS[2].name];

config! {
    /// A vPPB and what it is bound to.
    pub struct HbrBinding {
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "virtual hierarchy, the number of its upstream port";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0 (fabric VCS-7 counts that of the upstream port too)";
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "downstream port";
        ld: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(0, LOGICAL_DEVICES as u64 - 1), "logical device behind the port; not given = the port as a whole (fabric BND-4)";
        masked: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("the name of an error, such as surprise-down"), "errors that the bridge of the vPPB records and does not report to its host (fabric MLD-8, ERR-5)";
        fatal: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("the name of an error that is not correctable, such as surprise-down"), "errors that the bridge of the vPPB reports with ERR_FATAL, others that are not correctable with ERR_NONFATAL; not given = the severities that PCI Express has by default: data-link-protocol, surprise-down, flow-control-protocol, receiver-overflow, malformed-tlp, uncorrectable-internal; \"none\" alone = no error";
        viral: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "Viral_Enable of the vPPB: whether its port may make the hierarchy viral and tells viral (fabric VIR-1)";
    }
}

config! {
    /// The mode in which the link of a downstream port has come up.
    pub struct HbrPortMode {
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "downstream port";
        mode: String = "cxl" [Unit::Of("-")] in FieldRange::Words(DspMode::NAMES), "cxl; rcd = with a device of CXL 1.1, of which a hierarchy has one at most; pcie = neither CXL.mem nor CXL.cache: such messages are dropped there (fabric VCS-6, ERR-4)";
    }
}

config! {
    /// A command of the fabric manager.
    pub struct HbrCommand {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it is given";
        command: String = "unbind" [Unit::Of("-")] in FieldRange::Words(COMMANDS), "bind, unbind, reset: commands for the vPPB (fabric BND-4, §1.4). dpc: the logical device of the vPPB is contained, all of its traffic is discarded both ways while it stays bound, until dpc-clear (fabric MLD-7), or until an unbind or a reset of the vPPB. The others are events, injected at the switch. viral: the port goes viral, and its hierarchy with it (fabric §1.10). remove: the device of a downstream port is taken out; insert: it is plugged in again; link-down: its link is lost and trained again (fabric BND-8). attention: every host of the port is asked to agree to a removal; ready: the host of the vPPB agrees, and after the last one all are unbound (fabric MLD-10). error: the link of a downstream port has an error, which bridges record (fabric MLD-8, ERR-5)";
        scope: String = "vppb" [Unit::Of("-")] in FieldRange::Words(RESET_SCOPES), "what a reset covers: what the vPPB is bound to (SBR), all of its hierarchy (upstream: PERST#, hot reset or SBR of the upstream port), all of a downstream port, or all of the switch; it ends what is open there, and then the same is used again (fabric RST-1 to RST-5). The place where viral begins: a vPPB, an upstream port, a downstream port with all hierarchies that it serves, or a fatal error inside the switch (fabric VIR-1, VIR-4)";
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "virtual hierarchy of the vPPB, or the one that scope = \"upstream\" covers";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0, that is bound, unbound, reset or goes viral, or whose host is ready";
        error: String = "corrected-internal" [Unit::Of("-")] in FieldRange::Words(AerError::NAMES), "what command = \"error\" injects at a downstream port (fabric MLD-8)";
        header: String = "" [Unit::Of("-")] in FieldRange::Text("four numbers of eight hexadecimal digits"), "header of the TLP with that error, which hosts see as all ones where it belongs to no single one (fabric MLD-8): in the records that the library returns, neither in the report nor in a trace; not given = no TLP";
        cause: String = "software" [Unit::Of("-")] in FieldRange::Words(CAUSES), "what triggers dpc: a write of software, or an error message of the logical device; uncorrectable is an error without such a message and triggers nothing (fabric MLD-7)";
        option: String = "managed" [Unit::Of("-")] in FieldRange::Words(UNBIND_OPTIONS), "how it is unbound: wait (option 0) when the link of its port goes down, managed (1) when its open requests are answered, surprise (2) at once (fabric BND-4, BND-6)";
        port: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "downstream port to bind it to, the one that scope = \"port\" covers, or the one where a device or an error comes";
        ld: Option<u8> = "" [Unit::Of("-")] in FieldRange::Int(0, LOGICAL_DEVICES as u64 - 1), "logical device behind the port to bind it to; not given = the port as a whole; of no use to a reset or to viral, which cover what the vPPB is bound to; of an error the one that generated or received it";
    }
}

config! {
    /// The commit of a table.
    pub struct HbrCommit {
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "virtual hierarchy of the table";
        table: String = "hdm" [Unit::Of("-")] in FieldRange::Words(TABLES), "HDM decoders of the upstream port, without which no request finds a device, or its table of CacheIDs with the decoders of the ports below, without which messages of CXL.cache are discarded";
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when software begins the commit";
        takes: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time that the switch takes for it";
        base: u64 = "1" [Unit::Of("-")] in FieldRange::Int(0, 15), "base of the limit, after which the commit has failed: base x 10^scale us (fabric CID-4)";
        scale: u64 = "0" [Unit::Of("-")] in FieldRange::Int(0, 7), "code of its scale";
    }
}

config! {
    /// A switch. Numbers without another source are of the model (basis: model).
    pub struct HbrCxlSwitch with { hardware: Hardware } {
        preset: String = "cxl_switch" [Unit::Of("-")] in FieldRange::Words(PRESET_NAMES), "latencies of the stages, in all 90, 60 or 140 ns from port to port (fabric §5, none is measured); what stands in `pipeline` overrides it";
        hosts: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 64), "upstream ports, each with a virtual hierarchy of its own (fabric VCS-1)";
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 256), "downstream ports";
        vppbs: usize = "32" [Unit::Of("vPPBs")] in FieldRange::Int(1, 255), "vPPBs of downstream ports in each virtual hierarchy";
        bindings: Vec<(HbrBinding, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(HbrBinding::fields), "what is bound before the hosts start; every hierarchy needs one (fabric VCS-1). Without any, and without commands that bind, the ports go whole to the hierarchies in turn";
        start: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(STARTS), "static = there is no fabric manager: bindings are those of reset and stay, and there are no logical devices; not given = managed (fabric VCS-4, VCS-5)";
        modes: Vec<(HbrPortMode, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(HbrPortMode::fields), "modes of downstream ports that are not in CXL mode (fabric VCS-6)";
        commands: Vec<(HbrCommand, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(HbrCommand::fields), "what the fabric manager does to bindings while the system runs; a command that cannot be done changes nothing, and is a finding of the run (fabric BND-7)";
        commits: Vec<(HbrCommit, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(HbrCommit::fields), "tables that software commits while the system runs, and that are not in use before (fabric CID-4); others are in use from the start";
        table: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("CACHEID:DEVICE, CACHEID:none"), "entries of every hierarchy that differ from CacheID n to its n-th caching device; messages without an entry are discarded (fabric CID-3)";
        link_errors: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "record each flit that arrives damaged on a downstream link, and is repaired by its FEC or a replay, as a corrected internal error of the bridges there; errors of other kinds are recorded in any case";
        link_release: u64 = "500 ns" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time from a hot-plug event of a port that is bound as a whole until its host has released Link Disable (fabric BND-1); software takes milliseconds, which a simulation rarely has";
        link_training: u64 = "500 ns" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time from then, or from the loss of a link, until it is trained; a link is not trained before the last answer to an earlier request has come, or drain_limit has passed";
        drain_limit: u64 = "100 us" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time that an unbind waits for open requests before what is left of them is flushed, and for which a port is not bound again while answers to the host before are due (fabric BND-6); longer than any device takes, because answers that come later reach the next host. A reset has no limit";
    }
}

impl HbrCxlSwitch {
    /// What is to be bound before the hosts start: what is given, or else the whole ports to the hierarchies in turn.
    fn given(&self) -> Vec<VppbBinding> {
        if self.bindings.is_empty() && !self.commands.iter().any(|(one, _)| one.command == "bind") {
            let in_turn = |port| VppbBinding { vcs: port % self.hosts, vppb: port / self.hosts, port, ld: None };
            return (0..self.ports).map(in_turn).collect();
        }
        let given = |(one, _): &(HbrBinding, TextPlace)| VppbBinding {
            vcs: one.vcs,
            vppb: one.vppb,
            port: one.port,
            ld: one.ld,
        };
        self.bindings.iter().map(given).collect()
    }

    /// Modes of the downstream ports.
    fn port_modes(&self) -> DspModes {
        let mut modes = DspModes::default();
        for (HbrPortMode { port, mode }, _) in &self.modes {
            modes.set(*port, DspMode::by_name(mode).unwrap_or_default());
        }
        modes
    }

    /// What is wrong with the modes of its ports.
    fn check_modes(&self) -> Option<String> {
        let absent = self.modes.iter().find(|(one, _)| one.port >= self.ports);
        if let Some((HbrPortMode { port, .. }, _)) = absent {
            return Some(format!("found port {port}, expected 0 to {}", self.ports - 1));
        }
        self.port_modes().check(&self.bound_ever()).err().map(|error| error.to_string())
    }

    /// Whether it has no fabric manager.
    fn is_static(&self) -> bool {
        self.start.as_deref() == Some(STARTS[1])
    }

    /// What is bound, as far as it can be, and what cannot.
    fn bound(&self) -> (Bindings, Vec<String>) {
        let (mut bindings, mut wrong) = (Bindings::new(self.hosts, self.vppbs, self.ports), Vec::new());
        for binding in self.given() {
            wrong.extend(bindings.bind(binding).err().map(|error| error.to_string()));
        }
        (bindings, wrong)
    }

    /// What this switch cannot do with switches below it, or above it. A switch below decodes for one host.
    fn check_cascade(&self, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let is_above = |binding: &VppbBinding| ports[self.hosts + binding.port].peer_role == PortRole::SwitchUpstream;
        let before = self.bound().0;
        let above: Vec<VppbBinding> = before.list().chain(self.binds()).filter(is_above).collect();
        let mut found = Vec::new();
        for (n, binding) in above.iter().enumerate() {
            if let Some(first) = above[..n].iter().find(|one| one.port == binding.port && one.vcs != binding.vcs) {
                let (path, vcs, before) = (&ports[self.hosts + binding.port].path, binding.vcs, first.vcs);
                let text = format!(
                    "found {path} bound to VCS {vcs} after VCS {before}, expected one VCS for as long as the system runs: the switch below decodes for one host alone"
                );
                found.push(("commands", text));
            }
        }
        // The identifiers of what passes several switches are those of 256B flits.
        let cascaded = ports[..self.hosts].iter().filter(|port| port.peer_role == PortRole::SwitchDownstream);
        for port in cascaded.filter(|port| form(port) == MessageForm::Cxl68) {
            let (what, rule) = match port.coherence {
                Some(CoherenceProtocol::Cache) => ("CacheIDs", "CID-5"),
                Some(CoherenceProtocol::HdmDb) => ("back-invalidates", "BIR-1"),
                Some(CoherenceProtocol::HdmD) | None => continue,
            };
            let text = format!(
                "found a link of kind `cxl-68b` between switches at {}, over which {what} pass, expected 256B flits (fabric {rule})",
                port.path
            );
            found.push(("kind", text));
        }
        found
    }

    /// What commands bind, as far as the switch has it.
    fn binds(&self) -> impl Iterator<Item = VppbBinding> {
        let binds = self.commands.iter().map(|(one, _)| one).filter(|one| one.command == "bind");
        let there = |one: &&HbrCommand| one.vcs < self.hosts && one.vppb < self.vppbs && one.port < self.ports;
        let binding = |one: &HbrCommand| VppbBinding { vcs: one.vcs, vppb: one.vppb, port: one.port, ld: one.ld };
        binds.filter(there).map(binding)
    }

    /// What is bound, and for vPPBs that are not what the first command binds them to.
    fn bound_ever(&self) -> Vec<VppbBinding> {
        let mut all: Vec<VppbBinding> = self.bound().0.list().collect();
        for binding in self.binds() {
            if !all.iter().any(|one| (one.vcs, one.vppb) == (binding.vcs, binding.vppb)) {
                all.push(binding);
            }
        }
        scalepool_ordered::sort_by_key(&mut all, |one| (one.vcs, one.vppb));
        all
    }

    /// Commands with their cycles.
    fn timed(&self, clock: Clock) -> Vec<TimedCommand> {
        let timed = |(given, _): &(HbrCommand, TextPlace)| {
            let HbrCommand { at, command, vcs, vppb, option, port, ld, .. } = given;
            let command = match command.as_str() {
                _ if given.plug_action().is_some() => {
                    ManagerCommand::Plug(*port, given.plug_action().unwrap_or(PlugAction::Remove))
                }
                "bind" => ManagerCommand::Bind(VppbBinding { vcs: *vcs, vppb: *vppb, port: *port, ld: *ld }),
                "reset" => ManagerCommand::Reset(given.scope()),
                "dpc" => ManagerCommand::Contain { vppb: (*vcs, *vppb), cause: given.containment_cause() },
                "dpc-clear" => ManagerCommand::Uncontain((*vcs, *vppb)),
                "viral" => ManagerCommand::Viral(given.scope()),
                "error" => ManagerCommand::Error(PortError {
                    port: *port,
                    error: AerError::by_name(&given.error).unwrap_or(AerError::CorrectedInternal),
                    ld: *ld,
                    header: header(&given.header),
                }),
                "ready" => ManagerCommand::Ready((*vcs, *vppb)),
                _ => {
                    let code = UNBIND_OPTIONS.iter().position(|word| word == option).unwrap_or(0) as u8;
                    let option =
                        UnbindOption::of_code(code).unwrap_or_else(|e| unreachable!("a word of the range: {e}"));
                    ManagerCommand::Unbind { vppb: (*vcs, *vppb), option }
                }
            };
            TimedCommand { at_cycle: clock.first_at_or_after(Time::from_fs(*at)), command }
        };
        self.commands.iter().map(timed).collect()
    }
}

impl HbrCommit {
    fn kind(&self) -> TableKind {
        if self.table == TABLES[0] { TableKind::Hdm } else { TableKind::CacheId }
    }

    fn timed(&self, clock: Clock) -> TableCommit {
        const FS_PER_US: u64 = 1_000_000_000;
        let limit = CommitLimit { base: self.base as u8, scale: self.scale as u8 };
        let limit_us = limit.micros().unwrap_or_else(|e| unreachable!("numbers of the ranges: {e}"));
        TableCommit {
            vcs: self.vcs,
            kind: self.kind(),
            at_cycle: clock.first_at_or_after(Time::from_fs(self.at)),
            takes_cycles: cycles(clock, self.takes),
            limit_cycles: cycles(clock, limit_us.saturating_mul(FS_PER_US)),
        }
    }
}

/// A header of four numbers of eight hexadecimal digits; `None`: the text is none.
fn header(text: &str) -> Option<TlpHeader> {
    // A sign is no digit.
    let is_number = |word: &str| word.len() == 8 && word.chars().all(|digit| digit.is_ascii_hexdigit());
    let number = |word: &str| u32::from_str_radix(word, 16).ok().filter(|_| is_number(word));
    let words: Vec<u32> = text.split_whitespace().map(number).collect::<Option<_>>()?;
    words.try_into().ok()
}

impl HbrBinding {
    /// A name of an error that is none, or of a correctable one that cannot be fatal.
    fn unknown_error(&self) -> Option<String> {
        let unknown = |(name, _): &&(String, TextPlace)| AerError::by_name(name).is_none();
        let fatal = if self.nothing_is_fatal() { &[][..] } else { &self.fatal };
        if let Some((name, _)) = self.masked.iter().chain(fatal).find(unknown) {
            return Some(format!("found an error `{name}`, expected one of {}", AerError::NAMES.join(", ")));
        }
        let correctable =
            self.fatal.iter().find(|(name, _)| AerError::by_name(name).is_some_and(AerError::is_correctable));
        correctable.map(|(name, _)| format!("found `{name}` as fatal, expected an error that is not correctable"))
    }

    fn nothing_is_fatal(&self) -> bool {
        matches!(&self.fatal[..], [(name, _)] if name == "none")
    }

    /// What its bridge does about errors.
    fn errors(&self) -> AerSettings {
        let set = |names: &[(String, TextPlace)]| -> OrderedSet<AerError> {
            names.iter().filter_map(|(name, _)| AerError::by_name(name)).collect()
        };
        let fatal = if self.fatal.is_empty() { AerSettings::default().fatal } else { set(&self.fatal) };
        AerSettings { masked: set(&self.masked), fatal }
    }
}

impl HbrCommand {
    /// What happens to a port; `None`: nothing, it is a command to the manager.
    fn plug_action(&self) -> Option<PlugAction> {
        Some(match self.command.as_str() {
            "remove" => PlugAction::Remove,
            "insert" => PlugAction::Insert,
            "link-down" => PlugAction::LinkDown,
            "attention" => PlugAction::Attention,
            _ => return None,
        })
    }

    fn containment_cause(&self) -> ContainmentCause {
        match self.cause.as_str() {
            "fatal" => ContainmentCause::FatalMessage,
            "non-fatal" => ContainmentCause::NonFatalMessage,
            "uncorrectable" => ContainmentCause::UncorrectableError,
            _ => ContainmentCause::Software,
        }
    }

    /// What a reset covers, or where viral begins.
    fn scope(&self) -> ResetScope {
        match self.scope.as_str() {
            "upstream" => ResetScope::Upstream(self.vcs),
            "port" => ResetScope::Port(self.port),
            "switch" => ResetScope::Switch,
            _ => ResetScope::Vppb((self.vcs, self.vppb)),
        }
    }

    /// Whether it may change what a vPPB is bound to, or empties its queues.
    fn touches(&self, binding: VppbBinding) -> bool {
        match self.command.as_str() {
            "reset" => self.scope().covers(binding),
            // Nothing is taken away from a viral hierarchy.
            "viral" => false,
            "error" => false,
            _ if self.plug_action().is_some() => self.port == binding.port,
            _ => self.vcs == binding.vcs,
        }
    }

    /// Says which field a reset, or viral, has no use for.
    fn unused_by_scope(&self) -> Option<String> {
        let (needs_vcs, needs_vppb, needs_port, whole) = match self.scope() {
            ResetScope::Vppb(_) => (true, true, false, "what the vPPB is bound to"),
            ResetScope::Upstream(_) => (true, false, false, "the whole hierarchy"),
            ResetScope::Port(_) => (false, false, true, "the whole port"),
            ResetScope::Switch => (false, false, false, "the whole switch"),
        };
        let number = |name, needed: bool, value: usize| (!needed && value != 0).then(|| (name, value.to_string()));
        let given = [
            number("vcs", needs_vcs, self.vcs),
            number("vppb", needs_vppb, self.vppb),
            number("port", needs_port, self.port),
            self.ld.map(|ld| ("ld", ld.to_string())),
            (self.option != "managed").then(|| ("option", format!("\"{}\"", self.option))),
        ];
        let (name, value) = given.into_iter().flatten().next()?;
        let (scope, what) = (&self.scope, if self.command == "reset" { "is reset" } else { "goes viral" });
        Some(format!("found {name} = {value} with scope = \"{scope}\", expected no {name}: {whole} {what}"))
    }

    /// Says which number its command uses and the switch does not have.
    fn out_of_range(&self, switch: &HbrCxlSwitch) -> Option<String> {
        let (uses_vcs, uses_vppb, uses_port) = match (self.command.as_str(), self.scope()) {
            ("bind", _) => (true, true, true),
            ("reset" | "viral", ResetScope::Upstream(_)) => (true, false, false),
            ("reset" | "viral", ResetScope::Port(_)) => (false, false, true),
            ("reset" | "viral", ResetScope::Switch) => (false, false, false),
            ("error", _) => (false, false, true),
            _ if self.plug_action().is_some() => (false, false, true),
            _ => (true, true, false),
        };
        let numbers = [
            (uses_vcs, "vcs", self.vcs, switch.hosts),
            (uses_vppb, "vppb", self.vppb, switch.vppbs),
            (uses_port, "port", self.port, switch.ports),
        ];
        let (_, name, found, count) = numbers.into_iter().find(|(is_used, _, n, count)| *is_used && n >= count)?;
        let command = &self.command;
        Some(format!("found {name} = {found} of a command `{command}`, expected 0 to {}", count - 1))
    }

    /// Says which field its command has no use for.
    fn unused(&self) -> Option<String> {
        if self.command != "dpc" && self.cause != CAUSES[0] {
            return Some(format!("found cause = \"{}\" of a command that contains nothing, expected none", self.cause));
        }
        if self.command != "error" && (self.error != "corrected-internal" || !self.header.is_empty()) {
            let (error, header, command) = (&self.error, &self.header, &self.command);
            return Some(format!(
                "found error = \"{error}\" and header = \"{header}\" of a command `{command}`, expected none: only `error` is an error"
            ));
        }
        if !self.header.is_empty() && header(&self.header).is_none() {
            let text =
                "expected four numbers of eight hexadecimal digits, such as `4a000001 0000000f 00000000 10000000`";
            return Some(format!("found header = \"{}\", {text}", self.header));
        }
        if matches!(self.command.as_str(), "reset" | "viral") {
            return self.unused_by_scope();
        }
        if self.scope != RESET_SCOPES[0] {
            let (scope, command) = (&self.scope, &self.command);
            return Some(format!(
                "found scope = \"{scope}\" of a command `{command}`, expected none: only `reset` and `viral` have a scope"
            ));
        }
        if self.plug_action().is_some() || self.command == "error" {
            let number = |name, value: usize| (value != 0).then(|| (name, value.to_string()));
            let ld = self.ld.filter(|_| self.command != "error").map(|ld| ("ld", ld.to_string()));
            let option = (self.option != "managed").then(|| ("option", format!("\"{}\"", self.option)));
            let given = [number("vcs", self.vcs), number("vppb", self.vppb), ld, option].into_iter().flatten().next();
            let command = &self.command;
            return given.map(|(name, value)| {
                format!("found {name} = {value} of `{command}`, expected no {name}: it happens at a downstream port")
            });
        }
        match (self.command.as_str(), self.ld) {
            ("ready", Some(ld)) => {
                Some(format!("found ld = {ld} of `ready`, expected vcs and vppb alone, whose host agrees to a removal"))
            }
            ("ready", None) if self.port != 0 || self.option != "managed" => Some(format!(
                "found port = {} and option = \"{}\" of `ready`, expected vcs and vppb alone, whose host agrees to a removal",
                self.port, self.option
            )),
            ("dpc" | "dpc-clear", Some(ld)) => Some(format!(
                "found ld = {ld} of a command of containment, expected vcs and vppb alone, which say what is contained"
            )),
            ("dpc" | "dpc-clear", None) if self.port != 0 => Some(format!(
                "found port = {} of a command of containment, expected vcs and vppb alone, which say what is contained",
                self.port
            )),
            ("dpc" | "dpc-clear", None) if self.option != "managed" => Some(format!(
                "found option = \"{}\" of a command of containment, expected none: only `unbind` has an option",
                self.option
            )),
            ("bind", _) if self.option != "managed" => {
                Some(format!("found option = \"{}\" of a command that binds, expected one that unbinds", self.option))
            }
            ("unbind", Some(ld)) => Some(format!(
                "found ld = {ld} of a command that unbinds, expected vcs and vppb alone, which say what is unbound"
            )),
            ("unbind", None) if self.port != 0 => Some(format!(
                "found port = {} of a command that unbinds, expected vcs and vppb alone, which say what is unbound",
                self.port
            )),
            _ => None,
        }
    }
}

impl Component for HbrCxlSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, role| PortDecl { name, len: Some(len), links: hbr_links(), role };
        vec![port("usp", self.hosts, PortRole::SwitchUpstream), port("dsp", self.ports, PortRole::SwitchDownstream)]
    }

    fn offer(&self) -> Offer {
        Offer {
            declares_viral: self.commands.iter().any(|(one, _)| one.command == "viral"),
            hears_damage: self.link_errors,
            ..Offer::default()
        }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let (_, mut wrong) = self.bound();
        let ever = self.bound_ever();
        let has = |vcs: usize| ever.iter().any(|binding| binding.vcs == vcs);
        if let Some(vcs) = (0..self.hosts).find(|vcs| wrong.is_empty() && !has(*vcs)) {
            wrong.push(format!(
                "found no binding of VCS {vcs}, expected at least one for every upstream port (fabric VCS-1)"
            ));
        }
        wrong.extend(self.bindings.iter().filter_map(|(one, _)| one.unknown_error()));
        let wrong = wrong.into_iter().map(|text| ("bindings", text));
        let wrong = wrong.chain(self.check_modes().map(|text| ("modes", text)));
        let of_command = |(one, _): &(HbrCommand, TextPlace)| one.unused().or_else(|| one.out_of_range(self));
        let wrong = wrong.chain(self.commands.iter().filter_map(of_command).map(|text| ("commands", text)));
        // The last host that is ready has all unbound, and an attention asks all of them; a bridge contains by itself.
        let needs_manager = |command: &str| matches!(command, "bind" | "unbind" | "attention" | "ready");
        let unmanaged = self.commands.iter().find(|(one, _)| self.is_static() && needs_manager(&one.command));
        let wrong = wrong.chain(unmanaged.map(|(HbrCommand { command, .. }, _)| {
            let text = format!(
                "found a command `{command}` of a switch without a fabric manager, expected none: its bindings stay as they were at reset (fabric VCS-4)"
            );
            ("commands", text)
        }));
        let list = &self.commits;
        let twice =
            |n: usize| list[..n].iter().any(|(one, _)| (one.vcs, one.kind()) == (list[n].0.vcs, list[n].0.kind()));
        let commits = (0..list.len()).filter_map(|n| {
            let HbrCommit { vcs, table, .. } = &list[n].0;
            let text = if *vcs >= self.hosts {
                format!("found vcs = {vcs} of a commit, expected 0 to {}", self.hosts - 1)
            } else if twice(n) {
                format!("found a second commit of the table `{table}` of VCS {vcs}, expected one (fabric CID-4)")
            } else {
                return None;
            };
            Some(("commits", text))
        });
        let wrong = wrong.chain(commits);
        let expected = "CACHEID:DEVICE or CACHEID:none, both 0 to 15";
        let entries = self.table.iter().filter(|(text, _)| entry(text).is_none());
        let entries = entries.map(|(text, _)| ("table", format!("found `{text}`, expected {expected}")));
        wrong.chain(entries).chain(self.hardware.weights().1).collect()
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let mut found = Vec::new();
        let before = self.bound().0;
        let before = before.list().map(|binding| ("bindings", binding));
        for (key, VppbBinding { vcs, vppb, port, ld }) in before.chain(self.binds().map(|one| ("commands", one))) {
            let (above, below) = (&ports[vcs], &ports[self.hosts + port]);
            let text = misfit(&below.path, ld, below.peer.logical_devices).or_else(|| not_negotiated(above, below));
            found.extend(text.map(|text| (key, format!("vPPB {vppb} of VCS {vcs}: {text}"))));
        }
        let shared = ports[self.hosts..].iter().find(|port| self.is_static() && port.peer.logical_devices.is_some());
        found.extend(shared.map(|port| {
            let text = format!(
                "found a device with logical devices at {}, expected none without a fabric manager (fabric VCS-5)",
                port.path
            );
            ("start", text)
        }));
        found.extend(self.check_cascade(ports));
        let goes_viral = ports.iter().any(|port| port.goes_viral);
        let off = self.bindings.iter().find(|(one, _)| !one.viral && !goes_viral);
        found.extend(off.map(|(HbrBinding { vcs, vppb, .. }, _)| {
            let text = format!(
                "found viral = false of vPPB {vppb} of VCS {vcs}, expected none: no command makes anything viral"
            );
            ("bindings", text)
        }));
        // An agent without a host or a home belongs to no lines.
        let ever = self.bound_ever();
        for (n, port) in ports[self.hosts..].iter().enumerate() {
            if port.coherence.is_some() && !ever.iter().any(|one| one.port == n) {
                let (path, role) = (&port.path, port.peer_role.name());
                found.push(("bindings", format!("found none of {path}, where a {role} is, expected one")));
            }
        }
        let is_cache = |port: &SitePort| port.coherence == Some(CoherenceProtocol::Cache);
        let caches = ports.iter().any(is_cache);
        if let (Some((text, _)), false) = (self.table.first(), caches) {
            found.push(("table", format!("found `{text}`, expected none: nothing caches the lines of a host here")));
        }
        let devices_of = |vcs: usize| {
            let own = ever.iter().filter(|one| one.vcs == vcs && is_cache(&ports[vcs]));
            own.filter(|one| is_cache(&ports[self.hosts + one.port])).count()
        };
        let devices = (0..self.hosts).map(devices_of).max().unwrap_or(0);
        let unknown = self.table.iter().find(|(text, _)| {
            devices > 0 && entry(text).is_some_and(|(_, device)| device.is_some_and(|device| device >= devices))
        });
        if let Some((text, _)) = unknown {
            let last = devices - 1;
            found.push((
                "table",
                format!("found `{text}`, expected none or a caching device of 0 to {last} (fabric CID-3)"),
            ));
        }
        for (HbrCommit { vcs, table, .. }, _) in self.commits.iter().filter(|(one, _)| one.vcs < self.hosts) {
            let is_fit = if table == TABLES[0] { ports[*vcs].coherence.is_none() } else { is_cache(&ports[*vcs]) };
            if !is_fit {
                let text = format!(
                    "found a commit of `{table}` of VCS {vcs}, expected `hdm` where the host caches no lines, `cache-id` where devices cache those of the host"
                );
                found.push(("commits", text));
            }
        }
        let caches = |binding: &&VppbBinding| ports[binding.vcs].coherence.is_some();
        let coherent: Vec<&VppbBinding> = ever.iter().filter(caches).collect();
        let mut moved = self.commands.iter().map(|(command, _)| command);
        let moved = moved.find_map(|command| coherent.iter().find(|binding| command.touches(***binding)));
        if let Some(VppbBinding { vcs, vppb, .. }) = moved {
            let text = format!(
                "found vPPB {vppb} of VCS {vcs}, whose host caches lines, expected a vPPB of a host that caches none"
            );
            found.push(("commands", text));
        }
        found
    }

    fn why_no_window(&self) -> &'static str {
        "which passes requests on to memories"
    }

    fn hierarchies(&self) -> Option<(usize, Vec<VppbBinding>)> {
        Some((self.hosts, self.bound_ever()))
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // A message stays in its hierarchy, so ports meet that a binding joins, whenever it is made.
        let before = self.bound().0;
        let ways: OrderedSet<(usize, usize)> = before
            .list()
            .chain(self.binds())
            .flat_map(|VppbBinding { vcs, port, .. }| [(vcs, self.hosts + port), (self.hosts + port, vcs)])
            .collect();
        let routed = SWITCH_CLASSES.map(|class| ChannelWait::routed(class.name(), Reach::Ways(ways.clone())));
        // What reaches nothing the switch answers by itself.
        Some(routed.into_iter().chain(answered(Reach::SamePort)).collect())
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        self.hardware.latency_fs(&self.preset, clock).max(self.drain_limit)
    }

    fn cache_routes(
        &self,
        vcs: usize,
        numbers: &HierarchyNumbers,
        forms: &[MessageForm],
    ) -> Result<CacheRoutes, String> {
        let refused = |error: HierarchyError| error.to_string();
        let found = numbers.cache_ids.values().flatten().map(|id| usize::from(*id) + 1).max().unwrap_or(0);
        if found > CACHE_IDS {
            return Err(refused(HierarchyError::TooMany { found }));
        }
        let flits = |form| if form == MessageForm::Cxl68 { Flits::B68 } else { Flits::B256 };
        let own = self.bound().0.list().filter(|one| one.vcs == vcs).collect::<Vec<_>>();
        // A port above a device assigns its CacheID, one above a switch forwards those of that switch (`fabric` CID-2).
        let below = |one: &VppbBinding| {
            let ids = numbers.cache_ids.get(&one.vppb).map_or(&[][..], Vec::as_slice);
            let forward = numbers.is_switch.contains(&one.vppb);
            let cache_id = ids.first().copied().filter(|_| !forward);
            (Below { hdm: Hdm::None, link: flits(forms[self.hosts + one.port]), cache_id, forward }, ids)
        };
        let below: Vec<(Below, &[u8])> = own.iter().map(below).collect();
        let devices = below.iter().map(|(below, _)| *below).collect();
        let hierarchy = Hierarchy { devices, upper: flits(forms[vcs]), cache_ids: true };
        let mut routes = CacheRoutes::new(&hierarchy).map_err(refused)?;
        for (port, (_, ids)) in below.iter().enumerate() {
            ids.iter().for_each(|id| routes.set_entry(*id, Some(port)));
        }
        self.table.iter().filter_map(|(text, _)| entry(text)).for_each(|(id, device)| routes.set_entry(id, device));
        Ok(routes)
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let coherence = site.ports.iter().filter_map(|port| port.coherence);
        let traffic = coherence.map(traffic).max().unwrap_or(SwitchTraffic::Mem);
        let bindings = self.bound().0;
        let snoops =
            |binding: &VppbBinding| site.ports[self.hosts + binding.port].coherence == Some(CoherenceProtocol::HdmDb);
        let bridge = |VppbBinding { vcs, vppb, .. }: VppbBinding| {
            let numbers = &site.hierarchies[vcs];
            let buses = numbers.buses.get(&vppb).copied().flatten();
            let buses = buses.unwrap_or_else(|| unreachable!("its holder would have been refused"));
            let is_above_switch = numbers.is_switch.contains(&vppb);
            let bridge =
                if is_above_switch { VppbBridge::above_switch(buses) } else { VppbBridge::above_device(buses[0]) };
            ((vcs, vppb), bridge)
        };
        let bridges = bindings.list().filter(snoops).map(bridge).collect();
        let forms: Vec<MessageForm> = site.ports.iter().map(form).collect();
        let (mut caches, mut watched) = (OrderedMap::new(), Vec::new());
        for vcs in 0..self.hosts {
            if site.ports[vcs].coherence != Some(CoherenceProtocol::Cache) {
                continue;
            }
            let refused = |text| NodeError::Joined { path: site.path.to_owned(), text };
            let numbers = &site.hierarchies[vcs];
            let routes = self.cache_routes(vcs, numbers, &forms).map_err(refused)?;
            let domain = site.ports[vcs].seat().domain.clone();
            let vppbs: Vec<usize> = bindings.list().filter(|one| one.vcs == vcs).map(|one| one.vppb).collect();
            let behind = |(port, vppb): (usize, &usize)| -> Vec<(usize, u8)> {
                numbers.cache_ids.get(vppb).into_iter().flatten().map(|id| (port, *id)).collect()
            };
            let behind: Vec<(usize, u8)> = vppbs.iter().enumerate().flat_map(behind).collect();
            watched.push((domain.clone(), routes.clone(), behind));
            caches.insert(vcs, CachingDevices { routes, vppbs, config: domain.config().clone() });
        }
        let routes = HbrRoutes {
            bindings,
            bridges,
            caches,
            stopped: OrderedSet::new(),
            decoders: site.map.bridges.clone(),
            forms,
            uncommitted: OrderedSet::new(),
            poison_on_decode_error: self.hardware.poison_on_decode_error,
        };
        let shown = routes.shown_form();
        let drain_cycles = cycles(site.clock, self.drain_limit);
        let off = self.bindings.iter().filter(|(one, _)| !one.viral).map(|(one, _)| (one.vcs, one.vppb)).collect();
        let logical_devices = |n: usize| site.ports[self.hosts + n].peer.logical_devices.map(|count| (n, count));
        let shared = (0..self.ports).filter_map(logical_devices).collect();
        let switches_below = (0..self.ports).filter(|n| site.ports[self.hosts + n].is_cascade).collect();
        let errors = self.bindings.iter().map(|(one, _)| ((one.vcs, one.vppb), one.errors())).collect();
        let delays = PlugDelays {
            release_cycles: cycles(site.clock, self.link_release),
            training_cycles: cycles(site.clock, self.link_training),
        };
        let switching = HbrSwitching::new(routes, self.timed(site.clock), drain_cycles)
            .with_modes(self.port_modes())
            .with_viral_off(off)
            .with_switches_below(switches_below)
            .with_plugs(shared, delays)
            .with_errors(errors)
            .with_commits(self.commits.iter().map(|(one, _)| one.timed(site.clock)).collect());
        let config = self.hardware.config(&self.preset, site, traffic);
        let watchdog = move |result: &SwitchResult| {
            let lost = result.undelivered.get(&Undelivered::CacheId).copied().unwrap_or(0);
            watched
                .iter()
                .flat_map(|(domain, routes, behind)| {
                    // Holders of lines of a host have their CacheIDs as numbers.
                    let waiting = domain.waiting();
                    let own = behind.iter().copied().filter(|(_, id)| waiting.contains(&usize::from(*id)));
                    routes.watchdog(&own.collect::<Vec<_>>(), lost)
                })
                .map(|e| e.violation())
                .collect()
        };
        let signals = if site.ports.iter().any(|port| port.goes_viral) {
            &VIRAL_SIGNALS[..2 + traffic.count()]
        } else {
            &SWITCH_SIGNALS[..traffic.count()]
        };
        Ok(node(switching, (config, signals), (shown, counts, Box::new(watchdog)), site, hub))
    }
}

/// Why a device cannot be bound to a host: they have not the same protocols.
fn not_negotiated(above: &SitePort, below: &SitePort) -> Option<String> {
    (above.coherence != below.coherence).then(|| {
        let [host, device] = [above, below].map(|port| port.peer_role.name());
        format!(
            "found a {device} at {} for a {host} at {}, expected two of one protocol (fabric ERR-4)",
            below.path, above.path
        )
    })
}

/// What a switch has to carry for a protocol.
const fn traffic(protocol: CoherenceProtocol) -> SwitchTraffic {
    match protocol {
        CoherenceProtocol::HdmDb => SwitchTraffic::BackInvalidate,
        CoherenceProtocol::Cache | CoherenceProtocol::HdmD => SwitchTraffic::CacheMem,
    }
}

/// An entry of the table: CacheID and device; `None`: the text is no such entry.
fn entry(text: &str) -> Option<(u8, Option<usize>)> {
    let (id, device) = text.split_once(':')?;
    let id = id.parse::<u8>().ok().filter(|id| usize::from(*id) < CACHE_IDS)?;
    let device = match device {
        "none" => None,
        n => Some(n.parse::<usize>().ok().filter(|n| *n < CACHE_IDS)?),
    };
    Some((id, device))
}

fn counts(result: &SwitchResult) -> Vec<MetricValue> {
    let undelivered = |why| result.undelivered.get(&why).copied().unwrap_or(0);
    let ended =
        |is_it: fn(&ManagerEvent) -> bool| result.events.iter().filter(|(_, event)| is_it(event)).count() as u64;
    let errors = |is_it: fn(&AerRecord) -> bool| result.errors.iter().filter(|(_, one)| is_it(one)).count() as u64;
    let steps = |is_it: fn(PortStep) -> bool| result.steps.iter().filter(|(_, one)| is_it(one.step)).count() as u64;
    let flushed = result
        .events
        .iter()
        .map(|(_, event)| match event {
            ManagerEvent::Unbound(_, n)
            | ManagerEvent::Reset(_, n)
            | ManagerEvent::Lost(_, n)
            | ManagerEvent::Contained(_, n) => *n,
            _ => 0,
        })
        .sum();
    let [reqs, rwds, ndrs, drss, answers, not_decoded, unknown_ld, other_class, full] = switched(result);
    let all = [
        reqs,
        rwds,
        ndrs,
        drss,
        answers,
        not_decoded,
        (&NOT_BOUND, undelivered(Undelivered::NotBound)),
        unknown_ld,
        other_class,
        (&CONTAINED, ended(|event| matches!(event, ManagerEvent::Contained(..)))),
        (&DISCARDED, undelivered(Undelivered::Contained)),
        (&VIRAL, ended(|event| matches!(event, ManagerEvent::Viral(_)))),
        (&VIRAL_TOLD, result.viral_told),
        (&VIRAL_MESSAGES, result.viral_messages),
        (&BOUND, ended(|event| matches!(event, ManagerEvent::Bound(_)))),
        (&UNBOUND, ended(|event| matches!(event, ManagerEvent::Unbound(..)))),
        (&RESETS, ended(|event| matches!(event, ManagerEvent::Reset(..)))),
        (&LINKS_DOWN, steps(|step| step == PortStep::LinkLost)),
        (&REMOVED, steps(|step| step == PortStep::DeviceRemoved)),
        (&LINKS_UP, steps(|step| step == PortStep::LinkUp)),
        (&PLUG_EVENTS, steps(|step| step == PortStep::HotPlugEvent)),
        (&ABSENCES, steps(|step| step == PortStep::AbsenceSeen)),
        (&RECORDS, steps(|step| step == PortStep::PhysicalRecord)),
        (&ERRORS, errors(|one| one.vppb.is_some())),
        (&ERR_COR, errors(|one| one.message == Some(ErrorMessage::Correctable))),
        (&ERR_NONFATAL, errors(|one| one.message == Some(ErrorMessage::NonFatal))),
        (&ERR_FATAL, errors(|one| one.message == Some(ErrorMessage::Fatal))),
        (&MANAGER_ERRORS, errors(|one| one.vppb.is_none())),
        (&COMMITTED, ended(|event| matches!(event, ManagerEvent::Committed(..)))),
        (&COMMITS_FAILED, ended(|event| matches!(event, ManagerEvent::CommitFailed(..)))),
        (&REFUSED, ended(|event| matches!(event, ManagerEvent::Refused(..)))),
        (&FLUSHED, flushed),
        full,
    ];
    all.into_iter()
        .chain(coherent(result))
        .chain([
            (&CACHE_DISCARDED, undelivered(Undelivered::CacheId)),
            (&BI_DISCARDED, undelivered(Undelivered::BackInvalidate)),
        ])
        .collect()
}
