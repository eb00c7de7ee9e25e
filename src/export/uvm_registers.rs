//! UVM: `scalepool_registers_pkg.sv`, a `uvm_reg_block` for each block of registers.
//!
//! Modelled: registers, fields with access and reset, arrays of registers as `uvm_reg_file`, a map as wide as the widest of them in little-endian order. A field
//! whose value hardware sets is volatile. Codes, reserved bits and locks have no place in UVM; a field that a lock holds is RW, and one that starts something when 1 is written is W1T, so that
//! it starts when it is set and never by an update of the fields beside it. Left out:
//! coverage, back doors, where a block stands: whoever builds a block locks the model, or adds its map to that of a larger one.

use super::File;
use super::names::comment;
use scalepool_protocols::registers::{RegisterAccess, RegisterBlock, RegisterDef, RegisterField, RegisterFile, blocks};
use std::fmt::Write;

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// The file.
pub fn files() -> Vec<File> {
    let mut text = String::from(
        "// Made by `scalepool export uvm` from the tables of registers; do not edit.\n\
         //\n\
         // A register block for each DVSEC of CXL, for HDM decoders and for a bridge. Create one, call `build` and `lock_model`, or add its `default_map` to a\n\
         // map of yours at the offset where it stands.\n\
         package scalepool_registers_pkg;\n  import uvm_pkg::*;\n  `include \"uvm_macros.svh\"\n",
    );
    for block in blocks() {
        for file in block.files {
            let of = prefix(block, file);
            file.registers().iter().for_each(|r| register_class(&mut text, &of, r));
            if file.count > 1 {
                file_class(&mut text, &of, file);
            }
        }
        block_class(&mut text, block);
    }
    line!(text, "endpackage");
    vec![File { name: "scalepool_registers_pkg.sv".into(), text }]
}

/// What classes of a file begin with.
fn prefix(block: &RegisterBlock, file: &RegisterFile) -> String {
    if file.name.is_empty() { block.name.to_owned() } else { format!("{}_{}", block.name, file.name) }
}

/// The head of a class up to its constructor.
fn class(text: &mut String, doc: &str, name: &str, base: &str) {
    line!(text, "\n  // {}", comment(doc));
    line!(text, "  class {name} extends {base};");
    line!(text, "    `uvm_object_utils({name})");
}

fn register_class(text: &mut String, of: &str, register: &RegisterDef) {
    let name = format!("{of}_{}_reg", register.name);
    class(text, register.doc, &name, "uvm_reg");
    for field in &register.fields {
        line!(text, "    rand uvm_reg_field {}; // {}", field.name, comment(field.doc));
    }
    line!(text, "\n    function new(string name = \"{name}\");");
    line!(text, "      super.new(name, {}, int'(UVM_NO_COVERAGE));", register.bits);
    line!(text, "    endfunction\n\n    virtual function void build();");
    register.fields.iter().for_each(|f| field(text, f));
    line!(text, "    endfunction\n  endclass");
}

fn field(text: &mut String, field: &RegisterField) {
    let (access, is_volatile, is_random) = match field.access {
        RegisterAccess::Constant => ("RO", 0, 0),
        RegisterAccess::ReadOnly => ("RO", 1, 0),
        RegisterAccess::ReadWrite | RegisterAccess::Lockable => ("RW", 0, 1),
        RegisterAccess::WriteOneClears => ("W1C", 1, 0),
        // The model of such a field would hold a 1 that was written, and an update of another field would write it again. Of W1T it writes
        // what differs from the mirror, which is 0 unless the field was set since.
        RegisterAccess::Starts => ("W1T", 1, 0),
    };
    let (name, reset) = (field.name, field.reset.unwrap_or(0));
    line!(text, "      {name} = uvm_reg_field::type_id::create(\"{name}\");");
    line!(
        text,
        "      {name}.configure(this, {}, {}, \"{access}\", {is_volatile}, 'h{reset:x}, {}, {is_random}, 0);",
        field.width,
        field.lsb,
        u8::from(field.reset.is_some())
    );
}

/// Software can write a field of it.
fn is_writable(register: &RegisterDef) -> bool {
    register.fields.iter().any(|f| !matches!(f.access, RegisterAccess::Constant | RegisterAccess::ReadOnly))
}

/// The registers of one element of an array.
fn file_class(text: &mut String, of: &str, file: &RegisterFile) {
    let (name, registers) = (format!("{of}_file"), file.registers());
    class(text, &format!("One {} of an array.", file.name), &name, "uvm_reg_file");
    for register in &registers {
        line!(text, "    rand {of}_{0}_reg {0};", register.name);
    }
    line!(text, "\n    function new(string name = \"{name}\");\n      super.new(name);\n    endfunction");
    line!(text, "\n    virtual function void build();");
    for register in &registers {
        let path = format!("{{get_name(), \".{}\"}}", register.name);
        line!(text, "      {0} = {of}_{0}_reg::type_id::create({path});", register.name);
        line!(text, "      {0}.configure(get_block(), this);\n      {0}.build();", register.name);
    }
    line!(text, "    endfunction\n\n    virtual function void add_to(uvm_reg_map to, uvm_reg_addr_t offset);");
    registers.iter().for_each(|r| add(text, "      ", "to", r, &format!("offset + 'h{:x}", r.at_byte)));
    line!(text, "    endfunction\n  endclass");
}

fn add(text: &mut String, indent: &str, map: &str, register: &RegisterDef, offset: &str) {
    let rights = if is_writable(register) { "RW" } else { "RO" };
    line!(text, "{indent}{map}.add_reg({}, {offset}, \"{rights}\");", register.name);
}

fn block_class(text: &mut String, block: &RegisterBlock) {
    let name = format!("{}_block", block.name);
    class(text, block.doc, &name, "uvm_reg_block");
    for file in block.files {
        let of = prefix(block, file);
        if file.count > 1 {
            line!(text, "    rand {of}_file {}[{}];", file.name, file.count);
        } else {
            file.registers().iter().for_each(|r| line!(text, "    rand {of}_{0}_reg {0};", r.name));
        }
    }
    line!(text, "\n    function new(string name = \"{}\");", block.name);
    line!(text, "      super.new(name, int'(UVM_NO_COVERAGE));\n    endfunction");
    line!(text, "\n    virtual function void build();");
    line!(
        text,
        "      default_map = create_map(\"default_map\", 0, {}, UVM_LITTLE_ENDIAN, 1);",
        block.register_bytes()
    );
    for file in block.files {
        let of = prefix(block, file);
        if file.count > 1 {
            let array = file.name;
            line!(text, "      foreach ({array}[n]) begin");
            line!(text, "        {array}[n] = {of}_file::type_id::create($sformatf(\"{array}[%0d]\", n));");
            line!(text, "        {array}[n].configure(this, null);\n        {array}[n].build();");
            let (at, stride) = (file.at_byte, file.stride_bytes);
            line!(text, "        {array}[n].add_to(default_map, 'h{at:x} + 'h{stride:x} * uvm_reg_addr_t'(n));");
            line!(text, "      end");
            continue;
        }
        for register in file.registers() {
            line!(text, "      {0} = {of}_{0}_reg::type_id::create(\"{0}\");", register.name);
            line!(text, "      {0}.configure(this);\n      {0}.build();", register.name);
            add(text, "      ", "default_map", &register, &format!("'h{:x}", file.at_byte + register.at_byte));
        }
    }
    line!(text, "    endfunction\n  endclass");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_arrays_stand_at_their_offsets() {
        let text = &files()[0].text;
        for expected in [
            "      default_map.add_reg(control, 'hc, \"RW\");\n",
            "      default_map.add_reg(capability, 'ha, \"RO\");\n",
            "      decoder[n].add_to(default_map, 'h10 + 'h20 * uvm_reg_addr_t'(n));\n",
            "      to.add_reg(control, offset + 'h10, \"RW\");\n",
            "      committed.configure(this, 1, 10, \"RO\", 1, 'h0, 1, 0, 0);\n",
            "      start.configure(this, 1, 0, \"W1T\", 1, 'h0, 1, 0, 0);\n",
            "      commit.configure(this, 1, 0, \"W1T\", 1, 'h0, 1, 0, 0);\n",
            "      flip.configure(this, 1, 16, \"W1T\", 1, 'h0, 1, 0, 0);\n",
        ] {
            assert!(text.contains(&expected.replace("      decoder", "        decoder")), "{expected}");
        }
    }
}
