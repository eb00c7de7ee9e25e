//! TLPs to their objects and back.

use crate::{FormError, Object, message, number, object, shown, text};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::flit_mode::{Base, Pth, TRAILER_DW, ohc_dw};
use scalepool_protocols::cxl::cxlio::length_field;
use scalepool_protocols::cxl::cxlio::stream::{FoundPiece, PieceKind};
use scalepool_protocols::cxl::cxlio::tlp::{TlpParts, ohc_def};
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::Value;

/// Names of the OHC places.
const OHC: [&str; 4] = ["A", "B", "C", "E"];
/// Keys of a TLP.
const KEYS: [&str; 12] =
    ["hex", "continues", "goes_on", "unknown", "whole", "type", "prefixes", "pth", "header", "ohc", "data", "trailer"];

/// The list `tlps` of a region: everything but the NOPs of zeros at its end.
pub fn tlps_to_json(found: &[FoundPiece], region: &[u8], pbr: bool) -> Value {
    let blank = |f: &FoundPiece| f.piece.kind == PieceKind::Nop && f.piece.of(region).iter().all(|&b| b == 0);
    let shown = found.iter().rposition(|f| !blank(f)).map_or(0, |last| last + 1);
    found[..shown].iter().map(|f| found_to_json(f, region, pbr)).collect()
}

fn found_to_json(found: &FoundPiece, region: &[u8], pbr: bool) -> Value {
    let piece = &found.piece;
    let mut form = Object::new();
    form.insert("hex".into(), number::hex(piece.of(region)).into());
    let marks = [
        ("continues", !piece.begins),
        ("goes_on", !piece.ends),
        ("unknown", matches!(piece.kind, PieceKind::Dropped(_))),
    ];
    for (mark, _) in marks.into_iter().filter(|&(_, set)| set) {
        form.insert(mark.into(), true.into());
    }
    match &found.whole {
        Some(tlp) => {
            if !piece.begins {
                form.insert("whole".into(), number::hex(tlp).into());
            }
            // The reader cuts where the parts end.
            if let Ok(parts) = TlpParts::split(tlp, pbr) {
                insert_parts(&mut form, &parts);
            }
        }
        None if piece.kind == PieceKind::Nop => {
            form.insert("type".into(), FmType::NOP.name().into());
        }
        None => (),
    }
    Value::Object(form)
}

fn insert_parts(form: &mut Object, parts: &TlpParts) {
    if let Some(name) = parts.size.code.name() {
        form.insert("type".into(), name.into());
    }
    let hex = |form: &mut Object, key: &str, bytes: &[u8]| {
        if !bytes.is_empty() {
            form.insert(key.into(), number::hex(bytes).into());
        }
    };
    hex(form, "prefixes", parts.prefixes);
    if let Ok(bits) = Pth::DEF.from_bytes(parts.pth) {
        form.insert("pth".into(), message::message_to_json(Pth::DEF, bits));
    }
    if let Some((def, bits)) = parts.header_bits() {
        form.insert("header".into(), message::message_to_json(def, bits));
    }
    let ohc = OHC.iter().enumerate().filter(|&(n, _)| !parts.ohc[n].is_empty()).map(|(n, &name)| {
        let content = match parts.ohc_bits(n) {
            Some((def, bits)) => message::message_to_json(def, bits),
            None => Value::Object(Object::from_iter([("hex".into(), number::hex(parts.ohc[n]).into())])),
        };
        (name.to_owned(), content)
    });
    let ohc: Object = ohc.collect();
    if !ohc.is_empty() {
        form.insert("ohc".into(), Value::Object(ohc));
    }
    hex(form, "data", parts.data);
    hex(form, "trailer", parts.trailer);
}

/// Writes the list `tlps` into a region; the rest of it is NOPs.
///
/// # Errors
/// More bytes than the region has, and what [`tlp_from_json`] refuses.
pub fn tlps_from_json(list: &Value, region: &mut [u8], pbr: bool) -> Result<(), FormError> {
    let list = list.as_array().ok_or_else(|| FormError::new("tlps", shown(list), "a list"))?;
    region.fill(0);
    let mut used = 0;
    for (n, form) in list.iter().enumerate() {
        let at = format!("tlps[{n}]");
        let tlp = tlp_from_json(form, &at, pbr)?;
        let Some(place) = region.get_mut(used..used + tlp.len()) else {
            let expected = format!("at most {} bytes: the flit has {}", region.len() - used, region.len());
            return Err(FormError::new(at, format!("{} bytes", tlp.len()), expected));
        };
        place.copy_from_slice(&tlp);
        used += tlp.len();
    }
    Ok(())
}

/// Reads one TLP, NOP or part of a TLP; a whole number of DW.
///
/// # Errors
/// Unknown keys and fields, values that do not fit, parts that are not as long as the header announces.
pub fn tlp_from_json(form: &Value, at: &str, pbr: bool) -> Result<Vec<u8>, FormError> {
    let form = object(form, at, &KEYS)?;
    let hex = bytes(form, "hex", at)?;
    let is_set = |key: &&str| form.get(*key).is_some_and(|v| v != &Value::Bool(false));
    if ["continues", "goes_on", "unknown"].iter().any(is_set) {
        return hex.ok_or_else(|| FormError::new(at, "no key `hex`", "the bytes of a part of a TLP"));
    }
    let given = ["prefixes", "pth", "header", "ohc", "data", "trailer"].iter().any(|key| form.contains_key(*key));
    match hex {
        Some(hex) if !given => Ok(hex),
        Some(hex) => {
            let parts = TlpParts::split(&hex, pbr)
                .map_err(|e| FormError::new(format!("{at}.hex"), e.to_string(), "the bytes of one whole TLP"))?;
            Draft::of(&parts).read(form, at)?.into_bytes(at, pbr)
        }
        None => {
            let header = form.get("header").ok_or_else(|| FormError::new(at, "no key `hex`", "`hex` or `header`"))?;
            let at_header = format!("{at}.header");
            let header = object(header, &at_header, &["layout", "fields"])?;
            let def = message::layout_of(header).map_err(|e| e.within(&at_header))?;
            let mut draft = Draft { def: Some(def), header: def.default_bits(), ..Draft::default() };
            draft = draft.read(form, at)?;
            draft.announce(header.get("fields"), at)?;
            draft.into_bytes(at, pbr)
        }
    }
}

/// The parts of a TLP that is put together.
#[derive(Default)]
struct Draft {
    prefixes: Vec<u8>,
    pth: Option<u128>,
    def: Option<&'static LayoutDef>,
    header: u128,
    ohc: [Vec<u8>; 4],
    data: Vec<u8>,
    trailer: Vec<u8>,
}

impl Draft {
    fn of(parts: &TlpParts) -> Draft {
        let header = parts.header_bits();
        Draft {
            prefixes: parts.prefixes.to_vec(),
            pth: Pth::DEF.from_bytes(parts.pth).ok(),
            def: header.map(|(def, _)| def),
            header: header.map_or(0, |(_, bits)| bits),
            ohc: parts.ohc.map(<[u8]>::to_vec),
            data: parts.data.to_vec(),
            trailer: parts.trailer.to_vec(),
        }
    }

    /// Takes the keys of an object over what is there.
    fn read(mut self, form: &Object, at: &str) -> Result<Draft, FormError> {
        for (key, part) in [("prefixes", &mut self.prefixes), ("data", &mut self.data), ("trailer", &mut self.trailer)]
        {
            if let Some(bytes) = bytes(form, key, at)? {
                *part = bytes;
            }
        }
        if let Some(given) = form.get("pth") {
            let base = self.pth.unwrap_or(Pth::DEF.default_bits());
            self.pth = Some(over(Some(Pth::DEF), base, given, &format!("{at}.pth"))?.1);
        }
        if let Some(given) = form.get("header") {
            (_, self.header) = over(self.def, self.header, given, &format!("{at}.header"))?;
        }
        if let Some(given) = form.get("ohc") {
            let at = format!("{at}.ohc");
            let given = object(given, &at, &OHC)?;
            for (n, name) in OHC.iter().enumerate() {
                let Some(given) = given.get(*name) else { continue };
                let at = format!("{at}.{name}");
                if given.get("hex").is_some() {
                    self.ohc[n] = bytes(object(given, &at, &["hex"])?, "hex", &at)?.unwrap_or_default();
                    continue;
                }
                let def = self.def.and_then(|d| {
                    let code = FmType((self.header >> (d.bits - 8)) as u8);
                    ohc_def(Base::of(code)?, code, n)
                });
                let def = def.ok_or_else(|| FormError::new(&at, shown(given), "`hex`: it has no settled fields"))?;
                let base = def.from_bytes(&self.ohc[n]).unwrap_or(def.default_bits());
                self.ohc[n] = def.to_bytes(over(Some(def), base, given, &at)?.1);
            }
        }
        Ok(self)
    }

    /// Lets the header announce its parts, where `fields` do not say it.
    fn announce(&mut self, fields: Option<&Value>, at: &str) -> Result<(), FormError> {
        let Some(def) = self.def else { return Ok(()) };
        let dw = |part: &[u8]| part.len() / DW_BYTES;
        let [a, b, c, e] = [0, 1, 2, 3].map(|n| dw(&self.ohc[n]));
        let presence = (0..32u8).find(|&presence| ohc_dw(presence) == [a, b, c, e]);
        let trailer = TRAILER_DW.iter().position(|&t| t == dw(&self.trailer));
        let length = length_field(dw(&self.data)).filter(|_| !self.data.is_empty());
        let own = [
            ("ohc", presence.map(u64::from)),
            ("ts", trailer.map(|code| code as u64)),
            ("length", length.map(u64::from)),
        ];
        for (name, value) in own {
            let said = fields.and_then(|f| f.get(name)).is_some();
            if let Some(value) = value.filter(|_| !said) {
                let at = format!("{at}.header");
                self.header = message::set_field(def, self.header, name, &value.into()).map_err(|e| e.within(at))?;
            }
        }
        Ok(())
    }

    fn into_bytes(self, at: &str, pbr: bool) -> Result<Vec<u8>, FormError> {
        let pth = self.pth.map_or_else(Vec::new, |bits| Pth::DEF.to_bytes(bits));
        let header = self.def.map_or_else(Vec::new, |def| def.to_bytes(self.header));
        let parts = [&[self.prefixes, pth, header][..], &self.ohc, &[self.data, self.trailer]].concat();
        let bytes = parts.concat();
        // The announced parts have to be the given ones, each of them, not only their sum.
        let expected = "parts as long as the header announces";
        let seen = TlpParts::split(&bytes, pbr).map_err(|e| FormError::new(at, e.to_string(), expected))?;
        let [oa, ob, oc, oe] = seen.ohc;
        let seen = [seen.prefixes, seen.pth, seen.header, oa, ob, oc, oe, seen.data, seen.trailer];
        let names = ["prefixes", "pth", "header", "ohc.A", "ohc.B", "ohc.C", "ohc.E", "data", "trailer"];
        match seen.iter().zip(&parts).zip(names).find(|((seen, given), _)| seen.len() != given.len()) {
            Some(((seen, given), name)) => {
                let expected = format!("{} bytes as the header announces", seen.len());
                Err(FormError::new(format!("{at}.{name}"), format!("{} bytes", given.len()), expected))
            }
            None => Ok(bytes),
        }
    }
}

/// The hex of a key, a whole number of DW.
fn bytes(form: &Object, key: &str, at: &str) -> Result<Option<Vec<u8>>, FormError> {
    let Some(hex) = form.get(key) else { return Ok(None) };
    let at = format!("{at}.{key}");
    let bytes = number::bytes_of(text(hex, &at, "a string of hexadecimal digits")?, &at)?;
    if !bytes.len().is_multiple_of(DW_BYTES) {
        return Err(FormError::new(at, format!("{} bytes", bytes.len()), "a whole number of DW, 4 bytes each"));
    }
    Ok(Some(bytes))
}

/// A message object over the bits that are there; it has to be of the layout `def`.
fn over(
    def: Option<&'static LayoutDef>,
    base: u128,
    given: &Value,
    at: &str,
) -> Result<(&'static LayoutDef, u128), FormError> {
    let given = object(given, at, &["layout", "fields"])?;
    let own = message::layout_of(given).map_err(|e| e.within(at))?;
    if def.is_none_or(|def| def.name != own.name) {
        let expected = def.map_or("no header", |def| def.name);
        return Err(FormError::new(format!("{at}.layout"), own.name, expected));
    }
    match given.get("fields") {
        Some(fields) => Ok((own, message::fields_from_json(own, base, fields).map_err(|e| e.within(at))?)),
        None => Ok((own, base)),
    }
}
