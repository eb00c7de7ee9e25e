//! `testbenches/dpi/scalepool_dpi_pkg.sv` and its shim `scalepool_dpi.c` are what this makes of `testbenches/c/scalepool.h`.
//! `SCALEPOOL_BLESS=1` writes them anew.
//!
//! A function of plain numbers is imported as it is. One with texts or arrays is imported through the shim, which takes
//! `string` for a text with its length, open arrays for buffers, and single numbers for the fields of a structure. One that
//! takes a function is left out: SystemVerilog has none to give.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    crate::root().join("testbenches")
}

/// An argument as the header has it.
#[derive(Clone, PartialEq)]
struct Parameter {
    constant: bool,
    pointer: bool,
    of: String,
    name: String,
}

struct Function {
    doc: String,
    result: String,
    name: String,
    parameters: Vec<Parameter>,
}

/// Names of the functions that take a function.
fn callers(header: &str) -> Vec<String> {
    let code: String = header.lines().filter(|line| !line.starts_with("//")).flat_map(|line| [line, "\n"]).collect();
    let types = code.lines().filter_map(|line| line.strip_prefix("typedef ")?.split_once("(*")?.1.split_once(')'));
    let types: Vec<_> = types.map(|(name, _)| format!(" {name} ")).collect();
    let declarations = code.split(';').filter(|text| !text.contains("typedef") || !text.contains("(*"));
    let takes = declarations.filter(|text| types.iter().any(|name| text.contains(name.as_str())));
    takes.filter_map(|text| text[..text.rfind('(')?].split_whitespace().last().map(str::to_owned)).collect()
}

/// A structure that a function fills: name, members as type and name.
struct Structure {
    name: String,
    members: Vec<(String, String)>,
}

/// What the package and the shim make of one argument, or of those that belong together.
enum Argument {
    Number(Parameter),
    TextIn(String),
    TextOut(String),
    /// Type of an element, name, number of elements it has to have in C, whether it may be empty for null.
    Array {
        of: String,
        name: String,
        needs: String,
        out: bool,
        may_be_empty: bool,
    },
    /// The same, with its size as capacity and its length written.
    Buffer {
        of: String,
        name: String,
    },
    Structure {
        of: String,
        name: String,
    },
}

/// Arrays whose length is not the argument behind them: function, argument, elements, null when empty.
const SIZES: [(&str, &str, &str, bool); 10] = [
    ("sp_crc", "data", "item_bytes * count", false),
    ("sp_crc", "crcs", "count", false),
    ("sp_fec_encode", "flits", "256 * count", false),
    ("sp_fec_correct", "flits", "256 * count", false),
    ("sp_fec_correct", "corrected", "count", false),
    ("sp_stream_decode", "flits", "flit_bytes * count", false),
    ("sp_link_expect", "unit", "unit_length", false),
    ("sp_link_expect", "mask", "unit_length", true),
    ("sp_sim_expect", "unit", "unit_length", false),
    ("sp_sim_expect", "mask", "unit_length", true),
];

fn parse_parameter(text: &str) -> Parameter {
    let constant = text.starts_with("const ");
    let words = text.trim_start_matches("const ").replace('*', " * ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let name = words.last().copied().unwrap_or_default();
    Parameter { constant, pointer: words.contains(&"*"), of: words[0].into(), name: name.into() }
}

/// The functions of a header: a comment, a result and a name in one line, arguments up to `);`.
fn functions(header: &str) -> Vec<Function> {
    let (mut found, callers) = (Vec::new(), callers(header));
    let mut doc = String::new();
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("//") {
            writeln!(doc, "{line}").expect("text");
            continue;
        }
        let declares = |head: &str| head.starts_with(char::is_alphabetic) && head.contains(" sp_");
        let Some((head, rest)) = line.split_once('(').filter(|(head, _)| declares(head)) else {
            doc.clear();
            continue;
        };
        let mut rest = rest.to_owned();
        while !rest.ends_with(");") {
            rest += lines.next().expect("a declaration ends").trim();
        }
        let (result, name) = head.split_once(' ').expect("a result and a name");
        let arguments = rest.trim_end_matches(");");
        let parameters = match arguments {
            "void" => Vec::new(),
            _ => arguments.split(',').map(|text| parse_parameter(text.trim())).collect(),
        };
        let doc = std::mem::take(&mut doc);
        if !callers.iter().any(|caller| caller == name) {
            found.push(Function { doc, result: result.into(), name: name.into(), parameters });
        }
    }
    found
}

fn structures(header: &str) -> Vec<Structure> {
    let mut found = Vec::new();
    for part in header.split("typedef struct {").skip(1) {
        let (body, rest) = part.split_once('}').expect("a structure ends");
        let name = rest.split(';').next().unwrap_or_default().trim();
        let members = body.lines().map(str::trim).filter(|line| line.ends_with(';'));
        let members = members.filter_map(|line| line.trim_end_matches(';').split_once(' '));
        found.push(Structure {
            name: name.into(),
            members: members.map(|(of, name)| (of.into(), name.into())).collect(),
        });
    }
    found
}

fn arguments(function: &Function, structures: &[Structure]) -> Vec<Argument> {
    let is = |p: Option<&Parameter>, of: &str, pointer: bool, name: &str| {
        p.is_some_and(|p| p.of == of && p.pointer == pointer && p.name == name)
    };
    let mut found = Vec::new();
    let mut rest = &function.parameters[..];
    while let Some((p, behind)) = rest.split_first() {
        rest = behind;
        let length = format!("{}_length", p.name);
        let length_behind = is(behind.first(), "size_t", false, &length);
        let capacity_behind = is(behind.first(), "size_t", false, &format!("{}_capacity", p.name))
            && is(behind.get(1), "size_t", true, &length);
        let size = SIZES.iter().find(|(of, name, ..)| *of == function.name && *name == p.name);
        let text = p.of == "char";
        found.push(match (p.pointer, size) {
            (true, _) if text && p.constant && length_behind => {
                rest = &behind[1..];
                Argument::TextIn(p.name.clone())
            }
            (true, _) if text && capacity_behind => {
                rest = &behind[2..];
                Argument::TextOut(p.name.clone())
            }
            (true, _) if capacity_behind => {
                rest = &behind[2..];
                Argument::Buffer { of: p.of.clone(), name: p.name.clone() }
            }
            (true, Some((_, _, needs, may_be_empty))) => Argument::Array {
                of: p.of.clone(),
                name: p.name.clone(),
                needs: (*needs).into(),
                out: !p.constant,
                may_be_empty: *may_be_empty,
            },
            // The length stays an argument of its own: an array may be longer than what is in it.
            (true, None) if p.constant && length_behind => Argument::Array {
                of: p.of.clone(),
                name: p.name.clone(),
                needs: length,
                out: false,
                may_be_empty: false,
            },
            (true, None) if structures.iter().any(|s| s.name == p.of) => {
                Argument::Structure { of: p.of.clone(), name: p.name.clone() }
            }
            _ => {
                assert!(!(text || p.constant && p.pointer), "{}: {}: no rule for it", function.name, p.name);
                Argument::Number(p.clone())
            }
        });
    }
    found
}

/// Type in SystemVerilog, and the one that the standard gives it in C.
fn types(of: &str) -> (&'static str, &'static str) {
    match of {
        "uint8_t" => ("byte unsigned", "unsigned char"),
        "uint32_t" => ("int unsigned", "unsigned int"),
        "int32_t" => ("int", "int"),
        "uint64_t" | "size_t" => ("longint unsigned", "unsigned long long"),
        "sp_number" => ("bit [127:0]", "svBitVecVal"),
        _ => panic!("{of}: no rule for this type"),
    }
}

/// Names that are words of SystemVerilog.
fn name_of(name: &str) -> String {
    if name == "config" { "config_json".into() } else { name.into() }
}

/// The arguments of the import.
fn declared(arguments: &[Argument], structures: &[Structure]) -> Vec<String> {
    let mut found = Vec::new();
    for argument in arguments {
        match argument {
            Argument::Number(p) => {
                let way = if p.pointer { "output" } else { "input" };
                found.push(format!("{way} {} {}", types(&p.of).0, name_of(&p.name)));
            }
            Argument::TextIn(name) => found.push(format!("input string {}", name_of(name))),
            Argument::TextOut(name) => found.push(format!("output string {name}")),
            Argument::Array { of, name, out, .. } => {
                let way = if *out { "inout" } else { "input" };
                found.push(format!("{way} {} {name}[]", types(of).0));
            }
            Argument::Buffer { of, name } => {
                found.push(format!("inout {} {name}[]", types(of).0));
                found.push(format!("output longint unsigned {name}_length"));
            }
            Argument::Structure { of, name: _ } => {
                let structure = structures.iter().find(|s| s.name == *of).expect("known");
                found.extend(structure.members.iter().map(|(of, name)| format!("output {} {name}", types(of).0)));
            }
        }
    }
    found
}

/// The function of the shim.
fn shim(function: &Function, arguments: &[Argument], structures: &[Structure]) -> String {
    let mut takes = Vec::new(); // its arguments
    let (mut before, mut after) = (String::new(), String::new());
    let mut passes = Vec::new(); // what it calls with
    let mut texts = Vec::new();
    // Those that are copied come last, so that an early return has nothing to free.
    let (mut items, mut numbers) = (String::new(), String::new());
    let mut array = |of: &str, name: &str, needs: &str, may_be_empty: bool| {
        let (kind, text) = if of == "sp_number" { ("numbers", &mut numbers) } else { ("items", &mut items) };
        let empty = u8::from(may_be_empty);
        *text += &format!("    sp_dpi_array {name}_array = sp_dpi_{kind}({name}, {needs}, {empty});\n");
        *text += &format!("    if ({name}_array.status) return sp_dpi_refused(\"{name}\", &{name}_array);\n");
    };
    for argument in arguments {
        match argument {
            Argument::Number(p) if p.pointer => {
                takes.push(format!("{} *{}", types(&p.of).1, p.name));
                before += &format!("    {} {}_out = 0;\n", p.of, p.name);
                passes.push(format!("&{}_out", p.name));
                after += &format!("    *{0} = {0}_out;\n", p.name);
            }
            Argument::Number(p) => {
                takes.push(format!("{} {}", types(&p.of).1, p.name));
                passes.push(p.name.clone());
            }
            Argument::TextIn(name) => {
                takes.push(format!("const char *{name}"));
                passes.push(name.clone());
                passes.push(format!("strlen({name})"));
            }
            Argument::TextOut(name) => {
                takes.push(format!("const char **{name}"));
                before += &format!("    static sp_dpi_text {name}_text;\n");
                passes.push(format!("{name}_text.text, {name}_text.capacity, &{name}_text.length"));
                texts.push(format!("sp_dpi_grow(&{name}_text)"));
                after += &format!("    *{name} = sp_dpi_end(&{name}_text, status);\n");
            }
            Argument::Array { of, name, needs, out, may_be_empty } => {
                takes.push(format!("const svOpenArrayHandle {name}"));
                let needs = needs.replace(" * ", ", ") + if needs.contains('*') { "" } else { ", 1" };
                array(of, name, &needs, *may_be_empty);
                passes.push(format!("({}{of} *){name}_array.items", if *out { "" } else { "const " }));
                if of == "sp_number" {
                    after += &format!("    free({name}_array.items);\n");
                }
            }
            Argument::Buffer { of, name } => {
                takes.push(format!("const svOpenArrayHandle {name}"));
                takes.push(format!("unsigned long long *{name}_length"));
                array(of, name, "0, 1", true);
                before += &format!("    size_t {name}_out = 0;\n");
                passes.push(format!("({of} *){name}_array.items, {name}_array.count, &{name}_out"));
                if of == "sp_number" {
                    after += &format!("    sp_dpi_put({name}, &{name}_array, status, {name}_out);\n");
                }
                after += &format!("    *{name}_length = {name}_out;\n");
            }
            Argument::Structure { of, name } => {
                let structure = structures.iter().find(|s| s.name == *of).expect("known");
                for (of, member) in &structure.members {
                    takes.push(format!("{} *{member}", types(of).1));
                    after += &match of.as_str() {
                        "sp_number" => format!("    sp_dpi_words({member}, &{name}_out.{member});\n"),
                        _ => format!("    *{member} = {name}_out.{member};\n"),
                    };
                }
                before += &format!("    {of} {name}_out;\n    memset(&{name}_out, 0, sizeof {name}_out);\n");
                passes.push(format!("&{name}_out"));
            }
        }
    }
    let call = format!("status = {}({});", function.name, passes.join(", "));
    let body = match texts.as_slice() {
        [] => format!("    {call}\n"),
        // A text that is too long has changed nothing; with more room it is asked for again.
        texts => {
            format!("    do {{\n        {call}\n    }} while (status == SP_ERR_SHORT && {});\n", texts.join(" | "))
        }
    };
    let takes = if takes.is_empty() { "void".into() } else { takes.join(", ") };
    let name = function.name.trim_start_matches("sp_");
    format!(
        "\nint sp_dpi_{name}({takes})\n{{\n    int status;\n{items}{numbers}{before}{body}{after}    return status;\n}}\n"
    )
}

fn package_and_shim(header: &str) -> (String, String) {
    let (functions, structures) = (functions(header), structures(header));
    let mut package = String::from(include_str!("dpi_head.sv"));
    let mut c = String::from(include_str!("dpi_head.c"));
    for line in header.lines().filter_map(|line| line.strip_prefix("#define ")) {
        // Numbers and what is made of them; what has a C type is no number.
        let Some((name, value)) = line.split_once(' ').filter(|(name, _)| !name.contains('(')) else { continue };
        // A plain number is one of 32 bits with a sign, so that a larger one would be cut.
        let (type_, value) = match value.parse() {
            Ok(number @ 0x8000_0000..=u32::MAX) => ("int unsigned", format!("32'd{number}")),
            _ => ("int", value.to_owned()),
        };
        writeln!(package, "    localparam {type_} {name} = {value};").expect("text");
    }
    for function in &functions {
        let arguments = arguments(function, &structures);
        let plain = arguments.iter().all(|a| matches!(a, Argument::Number(_)));
        for line in function.doc.lines() {
            package += &format!("\n    {line}");
        }
        let through = format!("sp_dpi_{} = ", function.name.trim_start_matches("sp_"));
        let declared = declared(&arguments, &structures).join(",\n        ");
        let declared = if declared.is_empty() { String::new() } else { format!("\n        {declared}\n    ") };
        package += &format!(
            "\n    import \"DPI-C\" {}function {} {}({declared});\n",
            if plain { "" } else { &through },
            types(&function.result).0,
            function.name,
        );
        if !plain {
            c += &shim(function, &arguments, &structures);
        }
    }
    package += "endpackage\n";
    // Comments stand behind an empty line each.
    (package.replace("\n\n\n", "\n\n"), c)
}

#[test]
fn the_committed_package_and_shim_are_fresh() {
    let header = fs::read_to_string(folder().join("c/scalepool.h")).expect("the header");
    let (package, c) = package_and_shim(&header);
    for (name, fresh) in [("scalepool_dpi_pkg.sv", package), ("scalepool_dpi.c", c)] {
        let path = folder().join("dpi").join(name);
        if std::env::var_os("SCALEPOOL_BLESS").is_some() {
            fs::write(&path, &fresh).expect("it can be written");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let first = fresh.lines().zip(committed.lines()).position(|(a, b)| a != b);
        let line = first.map(|n| n + 1);
        assert!(fresh == committed, "{name}: line {line:?} differs; SCALEPOOL_BLESS=1 writes it anew");
    }
}

/// Counted in the text that is committed: a function that the reader above does not see would be missed by it.
#[test]
fn every_function_of_the_header_is_imported() {
    let header = fs::read_to_string(folder().join("c/scalepool.h")).expect("the header");
    let package = fs::read_to_string(folder().join("dpi/scalepool_dpi_pkg.sv")).expect("the package");
    let code = header.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    let names = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '('));
    let names = names.filter_map(|word| word.strip_prefix("sp_").and_then(|word| word.split_once('(')));
    let callers = callers(&header);
    assert_eq!(callers, ["sp_sim_log", "sp_sim_hook_attach", "sp_sim_placement", "sp_hook_attach"]);
    let names = names.filter(|(name, _)| !callers.contains(&format!("sp_{name}")));
    let mut count = 0;
    for (name, _) in names {
        assert!(package.contains(&format!(" sp_{name}(")), "sp_{name} is not imported");
        count += 1;
    }
    assert_eq!(count, package.matches("import \"DPI-C\"").count());
    assert!(count > 40, "found {count} functions");
}
