//! GTKWave itself, without a screen: the save files open the scopes, and values show as names.
//!
//! GTKWave runs a script that writes every shown signal with its value at a time. Where GTKWave or a virtual screen is not
//! installed, nothing is tested.

use crate::interchange::fst::has;
use crate::interchange::{read, run};
use scalepool::export;
use scalepool::scenario::observe::Outputs;
use std::path::Path;
use std::process::Command;

/// `name | value` of every line that GTKWave shows at a time, groups with an empty value.
fn shown(dir: &Path, wave: &str, save: Option<&str>, script: &str, time: u64) -> Option<Vec<String>> {
    if !has("gtkwave") || !has("xvfb-run") {
        return None;
    }
    let text = format!(
        "{script}\nset out [open shown.txt w]\ngtkwave::setMarker {time}\n\
         for {{set i 0}} {{$i < [gtkwave::getTotalNumTraces]}} {{incr i}} {{\n\
         puts $out \"[gtkwave::getTraceNameFromIndex $i] | [gtkwave::getTraceValueAtMarkerFromIndex $i]\"\n}}\n\
         close $out\nexit\n"
    );
    std::fs::write(dir.join("show.tcl"), text).expect("a script");
    let _ = std::fs::remove_file(dir.join("shown.txt"));
    let out = Command::new("timeout")
        .args(["60", "xvfb-run", "-a", "-s", "-screen 0 1280x720x24", "gtkwave", "-r", "/dev/null", wave])
        .args(save)
        .args(["-S", "show.tcl"])
        .current_dir(dir)
        .output()
        .expect("GTKWave starts");
    assert!(dir.join("shown.txt").exists(), "GTKWave: {}", String::from_utf8_lossy(&out.stderr));
    Some(read(&dir.join("shown.txt")).lines().map(|line| line.trim().to_owned()).collect())
}

/// A read is under way then.
const TIME_FS: u64 = 120_000_000;

#[test]
fn save_files_open_scopes_with_names() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| dir.path().join(name);
    let outputs = Outputs { vcd: Some(file("a.vcd")), fst: Some(file("b.fst")), ..Outputs::default() };
    run("cxl68-expander", &["host.accesses=24", "host.pattern=mix"], outputs);
    for (wave, save) in [("a.vcd", "a.gtkw"), ("b.fst", "b.gtkw")] {
        let Some(lines) = shown(dir.path(), wave, Some(save), "", TIME_FS) else { return };
        let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
        for line in ["opcode[3:0] | MemRd", "opcode[3:0] | MemWr", "kind[2:0] | ", "host.core.m2s_req"] {
            assert!(has(line), "{wave}: `{line}` is not among:\n{}", lines.join("\n"));
        }
        assert!(lines.len() > 100, "{wave}: {} lines", lines.len());
    }
    // An FST without its save file: the names are in it.
    let add = "gtkwave::addSignalsFromList [list \"host.core.m2s_req.opcode\\[3:0\\]\"]";
    let Some(lines) = shown(dir.path(), "b.fst", None, add, TIME_FS) else { return };
    assert!(lines.contains(&"opcode[3:0] | MemRd".to_owned()), "{lines:?}");
}

/// A vector of somebody's design, taken apart by the exported save file.
#[test]
fn exported_save_files_take_a_vector_apart() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    export::write(dir.path(), &export::gtkwave::files()).expect("the files");
    // cxl68.m2s_req: valid, MemInvNT (9), tag 7 at bit 12, address 0x1000 at bits 74:28 from bit 5 up.
    let bits = 1_u128 | 9 << 1 | 7 << 12 | (0x1000 >> 5) << 28;
    let wave = format!(
        "$timescale 1 ns $end\n$scope module top $end\n$var wire 87 ! m2s_req [86:0] $end\n$upscope $end\n\
         $enddefinitions $end\n#0\nbx !\n#10\nb{bits:b} !\n#20\nb0 !\n"
    );
    std::fs::write(dir.path().join("w.vcd"), wave).expect("a wave");
    // GTKWave has no values for what is in a closed group.
    let save = read(&dir.path().join("cxl68.gtkw")).replace("@c00200", "@800200").replace("@1401200", "@1000200");
    std::fs::write(dir.path().join("cxl68.gtkw"), save).expect("a save file");
    let Some(lines) = shown(dir.path(), "w.vcd", Some("cxl68.gtkw"), "", 15) else { return };
    for line in ["opcode[3:0] | MemInvNT", "tag[15:0] | 0007", "address[46:0] | 000000000080", "valid[0:0] | 1"] {
        assert!(lines.iter().any(|l| l == line), "`{line}` is not among:\n{}", lines.join("\n"));
    }
}
