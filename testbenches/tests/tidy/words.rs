//! Names that travel into other languages are no reserved words there: a layout becomes a SystemVerilog package, a C
//! header and Python attributes.

use crate::tidy::assert_none;
use scalepool::trace::signals::Signals;
use scalepool::trace::{Hub, PlaceKind, TraceFilter};
use scalepool_protocols::registry;

/// IEEE 1800-2017, annex B.
const SYSTEM_VERILOG: &str = "
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
    endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event eventually expect
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global highz0
    highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside
    instance int integer interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1
    s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small
    soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on
    sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand
    trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void
    wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// C23, which keeps those of C99 and C11.
const C: &str = "
    alignas alignof auto bool break case char const constexpr continue default do double else enum extern false float for
    goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct switch
    thread_local true typedef typeof typeof_unqual union unsigned void volatile while _Alignas _Alignof _Atomic _BitInt
    _Bool _Complex _Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert _Thread_local";

/// Python 3.13, soft keywords included.
const PYTHON: &str = "
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield match case type _";

/// The languages in which a word is reserved.
fn reserved_in(word: &str) -> Vec<&'static str> {
    [("SystemVerilog", SYSTEM_VERILOG), ("C", C), ("Python", PYTHON)]
        .into_iter()
        .filter(|(_, words)| words.split_whitespace().any(|w| w == word))
        .map(|(language, _)| language)
        .collect()
}

/// What is wrong about a name that becomes an identifier elsewhere.
fn judge(place: &str, name: &str) -> Option<String> {
    let reserved = reserved_in(name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !reserved.is_empty() {
        Some(format!("{place}: `{name}` is reserved in {}", reserved.join(", ")))
    } else if !is_name {
        Some(format!("{place}: found `{name}`, expected a letter, then letters, digits and underscores"))
    } else {
        None
    }
}

#[test]
fn the_layouts_use_no_reserved_word() {
    let mut findings = Vec::new();
    for layout in registry::layouts() {
        let fields = layout.fields.iter().map(|f| f.name);
        let codes = layout.fields.iter().filter_map(|f| f.codes).flat_map(|c| c.codes).map(|c| c.name);
        for name in layout.name.split('.').chain(fields).chain(codes) {
            findings.extend(judge(layout.name, name));
        }
    }
    assert_none(&findings);
}

#[test]
fn the_waves_use_no_reserved_word() {
    let mut hub = Hub::new(false);
    // The protocols that have waves.
    for protocol in registry::PROTOCOLS.iter().filter(|p| p.name == "cxl-68b") {
        for dir in ["down", "up"] {
            hub.tap(&format!("{dir}_side"), PlaceKind::Flits { protocol: protocol.name, dir });
        }
    }
    let signals = Signals::new(hub.places(), &TraceFilter::default()).expect("the protocol has waves");
    let scopes = signals.scopes()[1..].iter().map(|s| s.name.as_str());
    let names = scopes.chain(signals.vars().iter().map(|v| v.name.as_str()));
    assert_none(&names.filter_map(|name| judge("wave", name)).collect::<Vec<_>>());
    assert!(signals.vars().len() > 100, "found {} variables", signals.vars().len());
}

#[test]
fn reserved_words_are_found() {
    for (word, languages) in [
        ("interface", vec!["SystemVerilog"]),
        ("type", vec!["SystemVerilog", "Python"]),
        ("short", vec!["C"]),
        ("lambda", vec!["Python"]),
        ("break", vec!["SystemVerilog", "C", "Python"]),
        ("tag", vec![]),
    ] {
        assert_eq!(reserved_in(word), languages, "{word}");
    }
    assert!(judge("x.y", "end").is_some());
    assert!(judge("x.y", "2nd").is_some());
    assert!(judge("x.y", "a-b").is_some());
    assert_eq!(judge("x.y", "address"), None);
}

#[test]
fn the_list_of_system_verilog_is_whole() {
    // Table B.1 of IEEE 1800-2017 has 248 words.
    assert_eq!(SYSTEM_VERILOG.split_whitespace().count(), 248);
}
