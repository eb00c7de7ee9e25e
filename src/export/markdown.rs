//! Markdown, the reference pages of the book: a page for each family of layouts (`<family>.md`) with the protocols that use it, their
//! rules by area, every field and every slot format; the index of all areas of rules, `rules.md`, with a page for the rules of each family,
//! `rules_<family>.md`; and the blocks of registers, `registers.md`.

use super::File;
use super::slots::{self, ExportSlotFormat};
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::registers::{self, RegisterDef, RegisterField, RegisterFile};
use scalepool_protocols::registry::PROTOCOLS;
use scalepool_protocols::rules::area::{self, RuleAdvice, RuleArea};
use scalepool_protocols::rules::{self, Rule};
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use std::fmt::Write;

/// First line of every file.
const HEAD: &str = "<!-- Made by `scalepool export md` from the tables of layouts and rules; do not edit. -->\n";

/// What a page shows of a broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakShown {
    /// A case that breaks it: what it is, and its steps, a line each.
    Case {
        /// What it is.
        what: String,
        /// Its steps, and what is found.
        timeline: String,
    },
    /// Why there is none.
    Reason(String),
}

/// All files. `shown` says what is shown of each broken rule.
///
/// # Errors
/// Those of `shown`.
pub fn files<E>(shown: impl Fn(&Rule) -> Result<BreakShown, E>) -> Result<Vec<File>, E> {
    let pages = super::families()
        .into_iter()
        .map(|(family, defs)| File { name: format!("{family}.md"), text: page(family, &defs) });
    let mut files: Vec<File> = pages.collect();
    files.push(File { name: "rules.md".into(), text: rule_index() });
    files.push(File { name: "registers.md".into(), text: register_page() });
    for family in rule_families() {
        files.push(File { name: rule_page_name(family), text: rule_page(family, &shown)? });
    }
    Ok(files)
}

/// The families of rules, in the order of their areas.
fn rule_families() -> Vec<&'static str> {
    let mut families: Vec<&str> = area::all().map(|area| family_of(&area)).collect();
    families.dedup();
    families
}

fn family_of(area: &RuleArea) -> &'static str {
    area.id.split_once('-').map_or(area.id, |(family, _)| family)
}

fn rule_page_name(family: &str) -> String {
    format!("rules_{}.md", family.to_lowercase())
}

/// The page of a family.
fn page(family: &str, defs: &[&LayoutDef]) -> String {
    let protocols: Vec<_> = PROTOCOLS.iter().filter(|protocol| protocol.family == family).collect();
    let names: Vec<_> = protocols.iter().map(|protocol| protocol.name).collect();
    let mut text = format!("{HEAD}\n# {}\n\n", names.join(", "));
    for protocol in protocols {
        let _ = writeln!(text, "* `{}` travels in units of {} bytes.", protocol.name, protocol.unit_bytes);
    }
    let prefix = rule_prefix(family);
    let of_family = area::all().filter(|area| area.id.split('-').next() == Some(prefix));
    let areas: Vec<_> = of_family
        .map(|area| format!("[{}]({}#{}) {}", area.id, rule_page_name(family_of(&area)), anchor(&area), area.about))
        .collect();
    let _ = writeln!(text, "\nRules: {}.\n", areas.join("; "));
    let _ = writeln!(text, "## Layouts\n");
    let rows = defs.iter().map(|def| {
        let link = format!("[`{}`](#{})", def.name, def.name.replace('.', ""));
        vec![link, def.bits.to_string(), def.source.to_owned(), def.basis.name().to_owned(), def.doc.to_owned()]
    });
    table(&mut text, &["Layout", "Bits", "Source", "Basis", "Meaning"], rows);
    let formats = slots::of_family(family);
    if !formats.is_empty() {
        slot_formats(&mut text, family, &formats);
    }
    defs.iter().for_each(|def| text += &layout(def));
    text
}

/// What the ids of the rules of a family begin with.
fn rule_prefix(family: &str) -> &'static str {
    match family {
        "cxl68" => "CXL68",
        "cxl256" | "cxlpbr" => "CXL256",
        "cxlio" => "CXLIO",
        "ualink" => "UAL",
        _ => "NVL",
    }
}

/// The anchor of the heading of an area, as renderers of Markdown make it.
fn anchor(area: &RuleArea) -> String {
    let heading = format!("{}: {}", area.id, area.about).to_lowercase();
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// A table; a `|` inside a cell is escaped.
fn table(text: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(&head.iter().map(|h| h.to_string()).collect::<Vec<_>>());
    line(&vec!["---".to_owned(); head.len()]);
    rows.for_each(|row| line(&row));
}

fn layout(def: &LayoutDef) -> String {
    let mut text = format!(
        "\n## {}\n\n{}\n\n{} bits, {} bytes. Source: {}. Basis: {}.\n\n",
        def.name,
        def.doc,
        def.bits,
        def.len_bytes(),
        def.source,
        def.basis.name()
    );
    let meaning = |f: &FieldDef| {
        let address = match f.address_lsb {
            0 => String::new(),
            lsb => format!(" Byte address from bit {lsb} up."),
        };
        let codes = f.codes.map_or(String::new(), |codes| {
            let codes: Vec<_> = codes.codes.iter().map(|c| format!("{} `{}`", c.value, c.name)).collect();
            format!(" Codes: {}.", codes.join(", "))
        });
        let numbers = f.numbers.map_or(String::new(), |numbers| {
            let rows: Vec<_> = numbers.rows.iter().map(|(n, meaning)| format!("{n} {meaning}")).collect();
            format!(" Numbers: {}.", rows.join(", "))
        });
        format!("{}{address}{codes}{numbers}", f.doc)
    };
    let rows = def.fields.iter().map(|f| vec![f.span(), f.width.to_string(), format!("`{}`", f.name), meaning(f)]);
    table(&mut text, &["Bits", "Width", "Field", "Meaning"], rows);
    text
}

/// The slot formats of a family.
fn slot_formats(text: &mut String, family: &str, formats: &[ExportSlotFormat]) {
    let _ = writeln!(text, "\n## Slot formats\n");
    let _ = match family {
        "cxl68" => writeln!(
            text,
            "Bits of the 128-bit slot; bits 31:0 of slot 0 hold the flit header. Formats that may hold several data headers: {}.\n",
            slot::all_formats().filter(|format| format.mdh).map(|format| format.name).collect::<Vec<_>>().join(", ")
        ),
        _ => writeln!(text, "Bits of the slot, without the flit header in front of slot 0.\n"),
    };
    let rows = formats.iter().map(|format| {
        let piece = |piece: &slots::SlotPiece| match piece.width {
            0 | 1 => format!("`{}` {}", piece.name, piece.lsb),
            width => format!("`{}` {}:{}", piece.name, piece.lsb + width - 1, piece.lsb),
        };
        let content = format.places.iter().map(piece).collect::<Vec<_>>().join(", ");
        vec![format.dir.to_owned(), format.name.to_owned(), format.code.to_string(), content]
    });
    table(text, &["Direction", "Format", "Code", "Content"], rows);
}

/// The areas of all rules, and how their pages are read.
fn rule_index() -> String {
    let mut text = format!(
        "{HEAD}\n# Rules\n\nEach rule has an id that stands in findings, events and vectors. *Source* is the fact sheet with its section; \
         a rule marked as\nchoice is one that the sheet leaves open. An area has a usual cause, which is what breaks its rules most \
         often, and what to look at\nthen. Of a rule that can be shown, a short case breaks it: the last steps up to there, in the order of \
         time, and what is found. `scalepool\ndescribe RULE` prints the same, `scalepool describe RULE --wave FILE.vcd` writes it as a wave \
         with its marker there,\nunless nothing moves, as in a description that is refused. Of the other rules it is said why there is none. The \
         tests `<rule>_p` and `<rule>_n` in `testbenches/tests/` \
         obey and break each rule, such as\n`cxl68_crc_01_n`.\n"
    );
    for family in rule_families() {
        let _ = write!(text, "\n## [{family}]({})\n\n", rule_page_name(family));
        for area in area::all().filter(|area| family_of(area) == family) {
            let _ = writeln!(text, "* [{}]({}#{}): {}", area.id, rule_page_name(family), anchor(&area), area.about);
        }
    }
    text
}

/// The rules of a family by area, with what usually breaks them and a case of each that does.
fn rule_page<E>(family: &str, shown: impl Fn(&Rule) -> Result<BreakShown, E>) -> Result<String, E> {
    let mut text = format!("{HEAD}\n# Rules {family}\n\nHow this page is read stands in the [index](rules.md).\n");
    for area in area::all().filter(|area| family_of(area) == family) {
        let _ = write!(text, "\n## {}: {}\n\n", area.id, area.about);
        let of_area = || rules::all().filter(|rule| rule.id.rsplit_once('-').is_some_and(|(of, _)| of == area.id));
        let RuleAdvice { cause, remedy } = area.advice;
        let _ = write!(text, "* *Usual cause*: {cause}\n* *What to look at*: {remedy}\n\n");
        let row = |rule: &Rule| {
            let choice = if rule.choice { "yes" } else { "" };
            vec![rule.id.to_owned(), rule.text.to_owned(), rule.source.to_owned(), choice.to_owned()]
        };
        table(&mut text, &["Rule", "Meaning", "Source", "Choice"], of_area().map(row));
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for rule in of_area() {
            match shown(rule)? {
                BreakShown::Case { what, timeline } => {
                    let _ = write!(text, "\n{}, broken by {what}:\n\n```text\n{timeline}```\n", rule.id);
                }
                BreakShown::Reason(reason) => match reasons.iter_mut().find(|(of, _)| *of == reason) {
                    Some((_, ids)) => ids.push(rule.id),
                    None => reasons.push((reason, vec![rule.id])),
                },
            }
        }
        for (reason, ids) in reasons {
            let _ = write!(text, "\nNo wave of {}: {reason}\n", ids.join(", "));
        }
    }
    Ok(text)
}

/// The blocks of registers.
fn register_page() -> String {
    let mut text = format!(
        "{HEAD}\n# Registers\n\nDVSECs of configuration space (`cxl-io` section 7), HDM decoders of component registers (`fabric` section \
         2.1) and the control window of a bridge (`bridge` sections 2, 9.1 and 9.9), with offsets in their block.\nBits that no row names are reserved. A field without a reset value depends on \
         the design. A *lock* is bit 0 of the register\n`lock` in `dvsec_device`; a decoder is locked while it is committed with \
         `lock_on_commit`. `scalepool export systemrdl` and\n`scalepool export uvm` write the same for other tools.\n"
    );
    for block in registers::blocks() {
        let _ = write!(text, "\n## {}\n\n{} {} bytes.\n\n", block.name, block.doc, block.len_bytes());
        let rows =
            block.files.iter().flat_map(|file| file.registers().into_iter().flat_map(|r| register_rows(file, &r)));
        table(&mut text, &["Offset", "Register", "Bits", "Field", "Software", "Reset", "Meaning"], rows);
    }
    text
}

/// The rows of a register, one for each field.
fn register_rows(file: &RegisterFile, register: &RegisterDef) -> Vec<Vec<String>> {
    let (mut offset, mut name) = (format!("{:#x}", file.at_byte + register.at_byte), format!("`{}`", register.name));
    if file.count > 1 {
        let _ = write!(offset, " + {:#x} n", file.stride_bytes);
        name = format!("`{}[n].{}`, n = 0 to {}", file.name, register.name, file.count - 1);
    }
    let row = |field: &RegisterField| {
        let bits = match field.width {
            1 => field.lsb.to_string(),
            width => format!("{}:{}", field.lsb + width - 1, field.lsb),
        };
        let reset = field.reset.map_or(String::new(), |reset| format!("{reset:#x}"));
        let codes = field.codes.map_or(String::new(), |table| {
            let codes: Vec<_> = table.codes.iter().map(|c| format!("{} `{}`", c.value, c.name)).collect();
            format!(" Codes: {}.", codes.join(", "))
        });
        let access = field.access.name().to_owned();
        let meaning = format!("{}{codes}", field.doc);
        vec![offset.clone(), name.clone(), bits, format!("`{}`", field.name), access, reset, meaning]
    };
    register.fields.iter().map(row).collect()
}
