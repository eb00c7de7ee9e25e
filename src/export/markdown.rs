//! Markdown: `layouts_<family>.md`, `slots_cxl68.md`, `rules.md`.

use super::File;
use scalepool_protocols::cxl::cxl68::slot::{self, Cxl68SlotPlace, SlotContent, SlotFormat};
use scalepool_protocols::rules;
use scalepool_protocols::rules::area::{self, RuleAdvice};
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use std::fmt::Write;

/// First line of every file.
const HEAD: &str = "<!-- Made by `scalepool export md` from the layout tables; do not edit. -->\n";

/// All files.
pub fn files() -> Vec<File> {
    let layouts = super::families().into_iter().map(|(family, defs)| {
        let tables: String = defs.into_iter().map(layout).collect();
        File { name: format!("layouts_{family}.md"), text: format!("{HEAD}\n# Layouts of {family}\n{tables}") }
    });
    layouts
        .chain([
            File { name: "slots_cxl68.md".into(), text: slots() },
            File { name: "rules.md".into(), text: rule_table() },
        ])
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

fn place(place: &Cxl68SlotPlace) -> String {
    let name = place.class.def().name;
    let name = name.split_once('.').map_or(name, |(_, short)| short);
    let head = format!("`{name}` {}:{}", place.lsb + place.width - 1, place.lsb);
    match place.devload_lsb {
        None => head,
        Some(lsb) => format!("{head} and DevLoad {}:{lsb}", lsb + 1),
    }
}

fn slots() -> String {
    let mut text = format!(
        "{HEAD}\n# Slot formats of cxl-68b\n\nBits of the 128-bit slot; bits 31:0 of slot 0 hold the flit header. A format \
         marked MDH may hold several data headers.\n\n"
    );
    let content = |f: &SlotFormat| match f.content {
        SlotContent::Messages(places) => places.iter().map(place).collect::<Vec<_>>().join(", "),
        SlotContent::Data => "data chunk or byte enables 127:0".to_owned(),
        SlotContent::Mac => "MAC 127:32".to_owned(),
    };
    let rows = slot::all_formats().map(|f| {
        let mdh = if f.mdh { "yes" } else { "" };
        vec![f.dir.name().to_owned(), f.name.to_owned(), f.code.to_string(), mdh.to_owned(), content(f)]
    });
    table(&mut text, &["Direction", "Format", "Code", "MDH", "Content"], rows);
    text
}

/// The rules by area, with what usually breaks them.
fn rule_table() -> String {
    let mut text = format!(
        "{HEAD}\n# Rules\n\nA rule marked as choice is one that the sheet leaves open. Where an area has a usual cause, it is what \
         breaks its rules\nin RTL most often, and what to look at then; `scalepool describe RULE` prints the same.\n"
    );
    for area in area::all() {
        let _ = write!(text, "\n## {}: {}\n\n", area.id, area.about);
        if let Some(RuleAdvice { cause, remedy }) = area.advice {
            let _ = write!(text, "* *Usual cause*: {cause}\n* *What to look at*: {remedy}\n\n");
        }
        let of_area = rules::all().filter(|rule| rule.id.rsplit_once('-').is_some_and(|(of, _)| of == area.id));
        let rows = of_area.map(|r| {
            let choice = if r.choice { "yes" } else { "" };
            vec![r.id.to_owned(), r.source.to_owned(), choice.to_owned(), r.text.to_owned()]
        });
        table(&mut text, &["Rule", "Source", "Choice", "Text"], rows);
    }
    text
}
