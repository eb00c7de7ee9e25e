//! What a description says of pages, frames and tiers of memory, and what of it does not go together; the accelerators that have them are
//! those of [`accelerator_tiers`](super::accelerator_tiers).
//!
//! Modelled: frames against pages, frames of tier 2 against the windows of the bridge and its registers, frames that leave against those that
//! the pages need, parts of a page against accelerators. Left out: links, which their kinds judge. A walk: four pages have frames for one, one
//! and three; they move, so one frame more than there are pages is needed, and there is; the six frames of tier 2 of two accelerators lie
//! below the end of the windows of the bridge.

use super::accelerator_tiers::TierLinkFacts;
use crate::field::{FieldRange, config};
use crate::kind::{BridgeCacheFacts, ConfigFinding, DomainMember};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::{Clock, Time};
use scalepool_nodes::tiers::copies::COPY_BLOCK_BYTES;
use scalepool_nodes::tiers::frames::TierLayout;
use scalepool_nodes::tiers::leaving::{FrameChange, FrameSchedule, TimedFrames};
use scalepool_nodes::tiers::policy::PlacementPolicy;
use scalepool_nodes::tiers::traffic::TieredTraffic;
use scalepool_protocols::bridge::CONTROL_BYTES;

config! {
    /// What happens to frames of tier 2.
    pub struct FrameCommandFields {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it is told to all accelerators";
        command: String = "remove" [Unit::Of("-")] in FieldRange::Words(&["remove", "insert"]), "remove: pages in the frames move to others, and none goes there any more (MEM-RMV-05, 06); insert: the frames can be used";
        first: u32 = "0" [Unit::Of("-")] in FieldRange::Int(0, (1 << 20) - 1), "first of them, of each accelerator, counted from 0";
        frames: u32 = "1" [Unit::Of("frames")] in FieldRange::Int(1, 1 << 20), "how many";
        option: String = "managed" [Unit::Of("-")] in FieldRange::Words(&["managed", "surprise"]), "how they are removed: managed = pages are moved away with their bytes, and what is behind the frames leaves later; surprise = it is gone, so requests end with an error, and pages move on with poison in the place of what cannot be read (MEM-RMV-07)";
    }
}

config! {
    /// Tier 2, behind a bridge of the fabric.
    pub struct Tier2Fields {
        pages: u32 = "0" [Unit::Of("pages")] in FieldRange::Int(0, 1 << 20), "frames that each accelerator has in tier 2";
        base: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 57) - 1), "address at the bridge of the first frame of the first accelerator; those of the others follow";
        bridge: u16 = "0" [Unit::Of("-")] in FieldRange::Int(0, 1023), "which of the bridges of the fabric leads to it, in the order of the description";
        control: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(0, (1 << 57) - 1), "address of the control window of the bridge, by which pages that move are flushed from its cache (bridge §9.9); left out, no page is flushed, which fits a bridge without a cache";
        commands: Vec<(FrameCommandFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(FrameCommandFields::fields), "frames that leave and come while the system runs, with the memory behind them; frames whose first command is insert are not there before";
    }
}

config! {
    /// What an accelerator with tiers does.
    pub struct TieredTrafficFields {
        operations: u64 = "500" [Unit::Of("operations")] in FieldRange::Int(1, 1 << 24), "number of operations: two thirds reads of 256 bytes, writes of 256 and of 64 bytes, and copies; the first access to a block writes it, and a copy writes its blocks that are new before it";
        blocks: u64 = "8" [Unit::Of("blocks")] in FieldRange::Int(1, 4096), "blocks of 256 bytes that it uses in its part of each page; a page has an equal part for each accelerator";
        foreign: u64 = "10" [Unit::Of("percent")] in FieldRange::Int(0, 100), "operations on pages that others manage";
        hot: u64 = "80" [Unit::Of("percent")] in FieldRange::Int(0, 100), "operations on hot pages";
        hot_pages: u32 = "1" [Unit::Of("pages")] in FieldRange::Int(1, 1 << 20), "pages of a manager that are hot at once";
        phase: u64 = "0" [Unit::Of("operations")] in FieldRange::Int(0, 1 << 24), "operations after which the next pages are hot; 0 = never";
        copy_every: u64 = "0" [Unit::Of("operations")] in FieldRange::Int(0, 1 << 24), "one in every N operations copies its blocks of one page to another page; 0 = none";
        poison_every: u64 = "0" [Unit::Of("writes")] in FieldRange::Int(0, 1 << 24), "poison a line in one of every N writes; 0 = none";
        start_cycles: u64 = "2500" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 30), "cycles before the first operation; links come up in about 1 us at x4";
        stop: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when the last operation may begin, as of an accelerator whose cluster is taken out of service; left out, all operations are done";
    }
}

config! {
    /// An accelerator. Numbers without another source are our own choice (basis: model; BRG-MIG, choice c27).
    pub struct TieredFields {
        pages: u32 = "4" [Unit::Of("pages")] in FieldRange::Int(1, 1 << 16), "pages that each accelerator manages";
        page: u64 = "64 KiB" [Unit::Bytes] in FieldRange::OneOf(&[4096, 16_384, 65_536, 262_144, 1 << 20, 2 << 20]), "size of a page (BRG-MIG, choice c27)";
        hbm_pages: u32 = "2" [Unit::Of("pages")] in FieldRange::Int(0, 1 << 20), "frames in its HBM for pages that it manages";
        peer_pages: u32 = "0" [Unit::Of("pages")] in FieldRange::Int(0, 1 << 20), "frames in HBM of the next accelerator for pages that it manages";
        tier2: Tier2Fields = "" [Unit::Of("-")] in FieldRange::Table(Tier2Fields::fields), "memory behind a bridge";
        policy: String = "first-touch" [Unit::Of("-")] in FieldRange::Words(PlacementPolicy::NAMES), "where pages lie: static = by their numbers; first-touch = in the order of first accesses, the fastest free frame first; temperature = like first-touch, then by accesses in an interval (BRG-MIG-05); exclusive = HBM as an exclusive cache of tier 2, in which all pages begin: those accessed in an interval move up, those of the oldest interval leave; caller = by a function that is given to a run by sp_sim_placement or System.placement, without one as first-touch";
        prefetch: u32 = "0" [Unit::Of("pages")] in FieldRange::Int(0, 1024), "pages behind an accessed one that are brought up into HBM with it, by a policy that moves pages";
        warm_pages: u32 = "0" [Unit::Of("pages")] in FieldRange::Int(0, 1 << 16), "first pages that exclusive brings up into HBM before the first operation, as far as there is time";
        interval: u64 = "10 us" [Unit::Time] in FieldRange::Int(1, 1 << 50), "time in which accesses are counted for a temperature, which is decided about one interval later, when all have reported; hysteresis is 2, so only the ratio of temperatures counts and not the unit of time (BRG-MIG-05, choice c27)";
        outstanding: usize = "64" [Unit::Of("operations")] in FieldRange::Int(1, 1024), "reads and writes that can be outstanding";
        copy_outstanding: usize = "16" [Unit::Of("blocks")] in FieldRange::Int(1, 512), "blocks of 256 bytes that its copy engine can have under way";
        hbm_cycles: u64 = "100" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in its HBM";
        traffic: TieredTrafficFields = "" [Unit::Of("-")] in FieldRange::Table(TieredTrafficFields::fields), "what it does";
    }
}

/// Most pages of all accelerators of a fabric: every one has a table of all of them, of some 30 bytes a page.
const MOST_PAGES: u64 = 1 << 20;

impl TieredFields {
    fn frames(&self) -> [u32; 3] {
        [self.hbm_pages, self.peer_pages, self.tier2.pages]
    }

    /// What happens to frames of tier 2.
    pub(super) fn changes(&self, clock: Clock) -> FrameSchedule {
        let timed = |(given, _): &(FrameCommandFields, TextPlace)| TimedFrames {
            at_cycle: clock.first_at_or_after(Time::from_fs(given.at)),
            change: match (given.command.as_str(), given.option.as_str()) {
                ("insert", _) => FrameChange::Insert,
                (_, "surprise") => FrameChange::Lose,
                _ => FrameChange::Remove,
            },
            frames: given.first..given.first.saturating_add(given.frames),
        };
        FrameSchedule::new(self.tier2.commands.iter().map(timed).collect())
    }

    /// What is wrong with what happens to frames.
    fn check_changes(&self, clock: Clock) -> Option<ConfigFinding> {
        if self.tier2.commands.is_empty() {
            return None;
        }
        let is_optioned = |command: &FrameCommandFields| command.command != "remove" && command.option != "managed";
        if let Some((command, _)) = self.tier2.commands.iter().find(|(command, _)| is_optioned(command)) {
            let text = format!("found option `{}` of {}, expected it at remove alone", command.option, command.command);
            return Some(("tier2.commands", text));
        }
        // A page moves by a free frame. In an exclusive cache all pages have room in tier 2.
        let (spare, needed) = match self.policy() {
            PlacementPolicy::Exclusive => (0, self.pages),
            _ => (self.hbm_pages.saturating_add(self.peer_pages), self.pages + 1),
        };
        let wrong = self.changes(clock).check(self.tier2.pages, spare, needed).err()?;
        Some(("tier2.commands", wrong))
    }

    /// Where frames are, of all accelerators.
    pub(super) fn layout(&self, member: DomainMember, control_base: u64) -> TierLayout {
        TierLayout {
            accelerators: member.peers,
            pages: self.pages,
            page_bytes: self.page,
            frames: self.frames(),
            bridge: member.peers + self.tier2.bridge,
            tier2_base: self.tier2.base,
            control_base,
        }
    }

    /// What is wrong with its tier 2 beside this many accelerators and this bridge.
    fn check_tier2(&self, member: DomainMember, facts: &TierLinkFacts) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        if self.tier2.pages == 0 {
            return wrong;
        }
        let frames = u128::from(self.tier2.pages) * u128::from(member.peers);
        let (base, end) = (self.tier2.base, u128::from(self.tier2.base) + frames * u128::from(self.page));
        let TierLinkFacts { addresses, address_words, .. } = facts;
        if end > *addresses {
            let text =
                format!("found {frames} frames up to {end:#x}, expected at most {addresses:#x}, {address_words}");
            wrong.push(("tier2.base", text));
        }
        let BridgeCacheFacts { keeps_lines, control, windows_end } = member.tier2_cache;
        if let Some(last) = windows_end.filter(|last| end > u128::from(*last)) {
            let text = format!(
                "found {frames} frames from {base:#x} to {end:#x}, expected them below {last:#x}, the end of the windows of the bridge"
            );
            wrong.push(("tier2.base", text));
        }
        // Writes to a frame there would write the registers.
        for window in self.tier2.control.into_iter().chain(control) {
            if u128::from(window) < end && base < window.saturating_add(CONTROL_BYTES) {
                let text = format!(
                    "found {frames} frames from {base:#x} to {end:#x}, expected none at the control window {window:#x}"
                );
                wrong.push(("tier2.base", text));
                break;
            }
        }
        let moves_pages = self.policy().moves_pages() || !self.tier2.commands.is_empty();
        let is_missing = self.tier2.control.is_none() && keeps_lines && moves_pages;
        if is_missing || self.tier2.control.is_some_and(|own| Some(own) != control) {
            let show = |at: Option<u64>| at.map_or("none".to_owned(), |at| format!("{at:#x}"));
            let (found, of_bridge) = (show(self.tier2.control), show(control));
            let text = match control {
                None if keeps_lines => format!(
                    "found {found}, expected control at the bridge too, by which pages are flushed (BRG-MIG-03)"
                ),
                _ => format!("found {found}, expected {of_bridge}, as control of the bridge says (BRG-MIG-03)"),
            };
            wrong.push(("tier2.control", text));
        }
        wrong
    }

    /// Where pages lie.
    pub(super) fn policy(&self) -> PlacementPolicy {
        PlacementPolicy::by_name(&self.policy).unwrap_or_else(|| unreachable!("a word of the range"))
    }
}

impl TieredFields {
    /// Fields that do not go together.
    pub(super) fn check(&self, control_base: u64) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        let frames: u64 = self.frames().into_iter().map(u64::from).sum();
        let (spare, why) = match self.policy().moves_pages() {
            true => (1, " and one to move into"),
            false => (0, ""),
        };
        if frames < u64::from(self.pages) + spare {
            let text = format!(
                "found {frames} frames in HBM, peer HBM and tier 2, expected one for each of {} pages{why}",
                self.pages
            );
            wrong.push(("pages", text));
        }
        let is_exclusive = self.policy() == PlacementPolicy::Exclusive;
        if is_exclusive && (self.tier2.pages < self.pages || self.hbm_pages == 0 || self.peer_pages > 0) {
            let [hbm, peer, tier2] = self.frames();
            let text = format!(
                "found {hbm}, {peer} and {tier2} frames in HBM, peer HBM and tier 2, expected frames in HBM, none in peer HBM and one in tier 2 for each of {} pages: HBM is a cache of tier 2",
                self.pages
            );
            wrong.push(("policy", text));
        }
        if self.prefetch > 0 && !self.policy().moves_pages() {
            let text = format!("found {}, expected 0 by a policy that moves no pages: {}", self.prefetch, self.policy);
            wrong.push(("prefetch", text));
        }
        let most_warm = self.hbm_pages.min(self.pages);
        if self.warm_pages > 0 && !is_exclusive {
            let text = format!("found {}, expected 0 by policy {}", self.warm_pages, self.policy);
            wrong.push(("warm_pages", text));
        } else if self.warm_pages > most_warm {
            let text = format!("found {}, expected at most {most_warm}, pages and frames in HBM", self.warm_pages);
            wrong.push(("warm_pages", text));
        }
        let hbm = (u64::from(self.hbm_pages) + u64::from(self.peer_pages)) * self.page;
        if hbm > control_base {
            let text = format!("found {hbm} bytes of frames in HBM, expected at most {control_base}");
            wrong.push(("hbm_pages", text));
        }
        if self.traffic.hot_pages > self.pages {
            let text = format!("found {}, expected at most pages = {}", self.traffic.hot_pages, self.pages);
            wrong.push(("traffic.hot_pages", text));
        }
        if let Some(control) = self.tier2.control.filter(|control| !control.is_multiple_of(CONTROL_BYTES)) {
            let text = format!("found {control:#x}, expected a multiple of {CONTROL_BYTES} bytes (bridge §9.9)");
            wrong.push(("tier2.control", text));
        }
        if !self.tier2.base.is_multiple_of(256) {
            let text = format!("found {:#x}, expected a multiple of 256 bytes", self.tier2.base);
            wrong.push(("tier2.base", text));
        }
        wrong
    }

    /// Fields that do not go with who is in the fabric.
    pub(super) fn check_joined(&self, clock: Clock, member: DomainMember, facts: &TierLinkFacts) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        if member.is_apart {
            let own = self.joint_traffic();
            let text = format!(
                "found {own}, expected what the first accelerator of the fabric has: they share pages, so all are of one kind and alike"
            );
            wrong.push(("pages", text));
        }
        if self.peer_pages > 0 && member.peers < 2 {
            let text = format!("found {} without another accelerator, expected 0", self.peer_pages);
            wrong.push(("peer_pages", text));
        }
        let bridges = member.asked - member.peers;
        if self.tier2.pages > 0 && self.tier2.bridge >= bridges {
            let text = format!("found bridge {} among {bridges} bridges of the fabric", self.tier2.bridge);
            wrong.push(("tier2.bridge", format!("{text}, expected one that there is")));
        }
        wrong.extend(self.check_tier2(member, facts));
        let all = u64::from(self.pages) * u64::from(member.peers);
        if all > MOST_PAGES {
            let text = format!(
                "found {} pages of each of {} accelerators, {all} in all, expected at most {MOST_PAGES}: every accelerator has a table of all",
                self.pages, member.peers
            );
            wrong.push(("pages", text));
        }
        let part = TieredTraffic::part_blocks(self.page, member.peers);
        if part == 0 {
            let text = format!(
                "found {} bytes, expected at least {}: each of {} accelerators uses a block of 256 bytes of its own in every page",
                self.page,
                COPY_BLOCK_BYTES * u64::from(member.peers),
                member.peers
            );
            wrong.push(("page", text));
        } else if self.traffic.blocks > part {
            let text = format!(
                "found {}, expected at most {part}: {} accelerators share a page of {} bytes",
                self.traffic.blocks, member.peers, self.page
            );
            wrong.push(("traffic.blocks", text));
        }
        wrong.extend(self.check_changes(clock));
        if clock.periods_fs(1) > self.interval {
            let (found, cycle) = (time_text(self.interval), time_text(clock.periods_fs(1)));
            let text = format!("found {found}, expected at least a cycle of its clock, {cycle}");
            wrong.push(("interval", text));
        }
        wrong
    }

    /// What all accelerators of a fabric have alike, in words.
    pub(super) fn joint_traffic(&self) -> String {
        let [hbm, peer, tier2] = self.frames();
        let control = self.tier2.control.map_or("no control window".to_owned(), |at| format!("control window {at:#x}"));
        let command = |(one, _): &(FrameCommandFields, TextPlace)| {
            let FrameCommandFields { at, command, first, frames, option } = one;
            format!(", {command} {frames} frames from {first} on at {} ({option})", time_text(*at))
        };
        let commands: String = self.tier2.commands.iter().map(command).collect();
        format!(
            "{} pages of {} bytes with {hbm}, {peer} and {tier2} frames, tier 2 at {:#x} of bridge {} with {control}, policy {} with an interval of {}, prefetch of {}, warm pages {}{commands}",
            self.pages,
            self.page,
            self.tier2.base,
            self.tier2.bridge,
            self.policy,
            time_text(self.interval),
            self.prefetch,
            self.warm_pages
        )
    }
}

/// A time as descriptions write it, in the largest unit of which it is a whole number.
fn time_text(fs: u64) -> String {
    let units = [(1_000_000_000_000, "ms"), (1_000_000_000, "us"), (1_000_000, "ns"), (1000, "ps")];
    let (unit_fs, unit) = units.into_iter().find(|(unit_fs, _)| fs.is_multiple_of(*unit_fs)).unwrap_or((1, "fs"));
    format!("{} {unit}", fs / unit_fs)
}
