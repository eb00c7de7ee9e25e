//! NVL-OPC: operation codes, their channels, and that everything says it is a model.

use super::common::*;
use scalepool_protocols::nvlink::LAYOUTS;
use scalepool_protocols::rules as table;
use scalepool_protocols::wire::{Basis, LayoutDef};

#[test]
fn nvl_opc_01_p() {
    assert_eq!(Op::TABLE.codes.len(), OPERATIONS.len());
    for (code, name, has_data, _) in OPERATIONS {
        assert_eq!((Op(code).name(), Op::TABLE.value_of(name)), (Some(name), Some(code.into())));
        assert_eq!(Op(code).has_data(), Some(has_data), "{name}");
        assert_eq!(Op(code).is_numbered(), !["IDLE", "REPLAY_INIT", "CREDIT_INIT"].contains(&name), "{name}");
        assert!(rules(&first(&packet(Op(code), usize::from(has_data)))).is_empty(), "{name}");
    }
    let channels = ["CREQ0", "DNGRD", "ATR", "ATSD", "PROBE", "RSP0", "CREQ1", "RSP1"];
    for (code, name) in channels.into_iter().enumerate() {
        assert_eq!(Vc(code as u8).name(), Some(name));
    }
}

#[test]
fn nvl_opc_01_n() {
    for code in (0..64).filter(|code| OPERATIONS.iter().all(|row| row.0 != *code)) {
        let op = Op(code);
        assert_eq!((op.name(), op.class(), op.has_data()), (None, None, None));
        let bad = changed(&packet(Op::READ, 0), |h| *h = NvlHeader { op, ..NvlHeader::default() });
        assert_eq!(bad.header().op, op, "the code is kept");
        assert_eq!(rules(&bad), ["NVL-OPC-01"], "{code:#x}");
    }
}

#[test]
fn nvl_opc_02_p() {
    for (code, name, has_data, vc) in OPERATIONS {
        assert_eq!(NvlConfig::default().vc_of(Op(code)), vc, "{name}");
        let packet = packet(Op(code), usize::from(has_data));
        assert!(rules(&first(&packet)).is_empty(), "{name}");
    }
    // Another map is a choice of both ends.
    let config = NvlConfig { response_vc: Vc::RSP1, ..NvlConfig::default() };
    let rsp = changed(&packet(Op::RSP_DONE, 0), |h| h.vc = Vc::RSP1);
    assert!(rules_with(&rsp, config).is_empty());
}

#[test]
fn nvl_opc_02_n() {
    for (code, name, has_data, expected) in OPERATIONS {
        for vc in (0..8).map(Vc).filter(|vc| Some(*vc) != expected) {
            let bad = changed(&packet(Op(code), usize::from(has_data)), |h| h.vc = vc);
            let broken = if expected.is_some() { vec!["NVL-OPC-02"] } else { vec![] };
            assert_eq!(rules(&bad), broken, "{name} on {vc:?}");
        }
    }
}

/// Why a layout does not say clearly that it is a model.
fn unclear(def: &LayoutDef) -> Option<String> {
    let says_so = def.basis == Basis::Model && def.source.contains("(D)") && def.doc.contains("Model, no product");
    let claims = format!("{} {}", def.source, def.doc).to_lowercase().contains("compliant");
    (claims || !says_so).then(|| format!("{}: {} {}", def.name, def.source, def.doc))
}

#[test]
fn nvl_opc_03_p() {
    assert_eq!(LAYOUTS.iter().filter_map(|def| unclear(def)).collect::<Vec<_>>(), [""; 0]);
    let mut facts = table::all().filter(|r| r.id.starts_with("NVL-") && !r.choice);
    assert!(facts.all(|r| r.source.starts_with("nvlink §") && !r.source.contains("§6")), "§6 is choices alone");
}

#[test]
fn nvl_opc_03_n() {
    let own = LAYOUTS[0];
    let with = |basis, source, doc| {
        let LayoutDef { name, bits, rule, order, fields, cross_check, screen, .. } = *own;
        unclear(&LayoutDef { name, bits, basis, source, rule, order, doc, fields, cross_check, screen })
    };
    assert_eq!(with(own.basis, own.source, own.doc), None);
    assert!(with(Basis::Spec, own.source, own.doc).is_some());
    assert!(with(own.basis, "nvlink §6.1", own.doc).is_some());
    assert!(with(own.basis, own.source, "Header flit.").is_some());
    assert!(with(own.basis, own.source, "NVLink compliant. Model, no product.").is_some());
}
