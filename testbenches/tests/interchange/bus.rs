//! A bus as a simulator would dump it: units in beats, with a clock, a reset, valid and ready.

use std::fmt::Write;

/// One beat: bytes, and whether it is the first of a unit.
pub type Beat = (Vec<u8>, bool);

/// Period of the clock \[ns\].
pub const PERIOD_NS: u64 = 10;

/// Units cut into beats of some bytes; the last one is filled with ones, which nobody may look at.
pub fn beats(units: &[Vec<u8>], bytes: usize) -> Vec<Beat> {
    let cut = |unit: &Vec<u8>| {
        let mut beats: Vec<Beat> = unit.chunks(bytes).map(|c| (c.to_vec(), false)).collect();
        beats[0].1 = true;
        let last = beats.len() - 1;
        beats[last].0.resize(bytes, 0xff);
        beats
    };
    units.iter().flat_map(cut).collect()
}

/// The dump: reset for three cycles, then the beats; `stalls` says of cycle n whether (valid, ready) are 1.
pub fn dump(beats: &[Beat], stalls: impl Fn(u64) -> (bool, bool)) -> String {
    let width = 8 * beats[0].0.len();
    let mut text = format!(
        "$date today $end\n$version some simulator $end\n$timescale 1ns $end\n$scope module tb $end\n\
         $scope module dut $end\n$var wire 1 c clk $end\n$var wire 1 r rst_n $end\n$var wire 1 v valid $end\n\
         $var wire 1 y ready $end\n$var wire 1 f first $end\n$var wire {width} d data [{}:0] $end\n$upscope $end\n\
         $upscope $end\n$enddefinitions $end\n#0\n$dumpvars\nxc\nxr\nxv\nxy\nxf\nbx d\n$end\n",
        width - 1
    );
    let mut next = beats.iter();
    let mut open = next.next();
    let mut cycle = 0;
    while open.is_some() {
        let t = cycle * PERIOD_NS;
        // New values stand from the falling edge on, the rising edge takes them.
        let _ = writeln!(text, "#{t}\n0c");
        if cycle < 3 {
            let _ = writeln!(text, "0r\n1v\n1y");
        } else {
            let (valid, ready) = stalls(cycle);
            let (bytes, first) = open.expect("the loop ends without one");
            let bits: String = bytes.iter().rev().map(|b| format!("{b:08b}")).collect();
            let _ = writeln!(text, "1r\n{}v\n{}y", u8::from(valid), u8::from(ready));
            // Without valid the bus says nothing.
            let _ = if valid { writeln!(text, "{}f\nb{bits} d", u8::from(*first)) } else { writeln!(text, "xf\nbx d") };
            if valid && ready {
                open = next.next();
            }
        }
        let _ = writeln!(text, "#{}\n1c", t + PERIOD_NS / 2);
        cycle += 1;
    }
    text
}
