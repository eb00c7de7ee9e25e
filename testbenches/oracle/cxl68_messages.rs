//! CXL 68-byte flit mode: messages, flit header, control flits and ALMP, spelled with `modular-bitfield`.
//!
//! Modelled: every bit of the ten messages (sheet cxl-68b §2), the flit header (§1.5), the control flit slots (§6.1,
//! §6.3) and the ALMP double word (§8.1), CXL 2.0 widths. Left out: codes and their meaning, and the 28-bit NDR of 1.1.
//!
//! Both columns of the sheet are written down: the width is the field's type and fixes the position inside the struct,
//! the lowest bit is the number after `@`. The structs never see that number; a test walks a one through every setter
//! and demands that it appears there. Neighbouring reserved bits are one field.

use modular_bitfield::prelude::*;

/// One message, as the tests walk it.
#[derive(Debug, Clone, Copy)]
pub struct MessageOracle {
    /// Layout name, `cxl68.<message>`.
    pub name: &'static str,
    /// Length in bits.
    pub bits: u32,
    /// (name, lowest bit, width in bits) in order from bit 0 upward.
    pub fields: &'static [(&'static str, u32, u32)],
    /// Raw field values in the order of `fields` to bytes, byte 0 first, the bits above the message 0. Panics when a value
    /// is missing, left over, or wider than its field.
    pub build: fn(&[u128]) -> Vec<u8>,
    /// Bytes to raw field values in the order of `fields`. Panics when the length is wrong or a bit above the message is set.
    pub read: fn(&[u8]) -> Vec<u128>,
}

impl MessageOracle {
    /// The bytes that hold the message.
    pub fn bytes(&self) -> usize {
        (self.bits as usize).div_ceil(8)
    }

    /// The message with one field set and all others 0. Panics on an unknown field.
    pub fn one_field(&self, field: &str, value: u128) -> Vec<u8> {
        assert!(self.fields.iter().any(|f| f.0 == field), "{} has no field {field}", self.name);
        let values: Vec<u128> = self.fields.iter().map(|f| if f.0 == field { value } else { 0 }).collect();
        (self.build)(&values)
    }

    /// One field of a message given as a number (bit i of the message is bit i of `raw`). Panics on an unknown field and
    /// on bits above the message.
    pub fn field_of(&self, raw: u128, field: &str) -> u128 {
        let Some(index) = self.fields.iter().position(|f| f.0 == field) else {
            panic!("{} has no field {field}", self.name)
        };
        let bytes = raw.to_le_bytes();
        let (message, above) = bytes.split_at(self.bytes());
        assert!(above.iter().all(|byte| *byte == 0), "{}: {raw:#x} is longer than {} bits", self.name, self.bits);
        (self.read)(message)[index]
    }
}

/// All layouts of this file, in the order of the sheet.
pub fn messages() -> &'static [MessageOracle] {
    MESSAGES
}

/// The layout of that name. Panics on an unknown name.
pub fn message(name: &str) -> &'static MessageOracle {
    MESSAGES.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no layout {name}"))
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:literal $type:ident $bits:tt { $($field:ident $kind:ident @ $lsb:literal $set:ident)+ })+) => {
        $(
            $(#[$doc])*
            #[bitfield(bits = $bits)]
            pub struct $type { $($field: $kind,)+ }

            impl $type {
                /// Bytes that hold the message.
                pub const BYTES: usize = ($bits as usize).div_ceil(8);

                /// Raw field values in order from bit 0 upward to bytes. Panics when a value is wider than its field.
                #[inline]
                pub fn encode(fields: ($(<$kind as Specifier>::InOut,)+)) -> [u8; Self::BYTES] {
                    let ($($field,)+) = fields;
                    let mut word = $type::new();
                    $(word.$set($field);)+
                    word.into_bytes()
                }

                /// Bytes to raw field values; `None` when a bit above the message is set.
                #[inline]
                pub fn decode(bytes: [u8; Self::BYTES]) -> Option<($(<$kind as Specifier>::InOut,)+)> {
                    let word = $type::try_from(bytes).ok()?;
                    Some(($(word.$field(),)+))
                }

                const ORACLE: MessageOracle = MessageOracle {
                    name: $name,
                    bits: $bits,
                    fields: &[$((stringify!($field), $lsb, <$kind as Specifier>::BITS as u32)),+],
                    build: |values| {
                        let mut values = Values { layout: $name, rest: values };
                        let mut word = $type::new();
                        $(word.$set(values.next(stringify!($field)));)+
                        values.end();
                        word.into_bytes().to_vec()
                    },
                    read: |bytes| {
                        let Ok(bytes) = <[u8; ($bits as usize).div_ceil(8)]>::try_from(bytes) else {
                            panic!("{}: {} bytes given, {} bits expected", $name, bytes.len(), $bits)
                        };
                        let word = $type::try_from(bytes).unwrap_or_else(|_| panic!("{}: more than {} bits set", $name, $bits));
                        vec![$(u128::from(word.$field())),+]
                    },
                };
            }
        )+
        static MESSAGES: &[MessageOracle] = &[$($type::ORACLE),+];
    };
}

/// Hands out the raw values of one message, each in the integer type of its field.
struct Values<'a> {
    layout: &'static str,
    rest: &'a [u128],
}

impl Values<'_> {
    fn next<T: TryFrom<u128>>(&mut self, field: &str) -> T {
        let Some((value, rest)) = self.rest.split_first() else { panic!("{}: no value for {field}", self.layout) };
        self.rest = rest;
        T::try_from(*value).unwrap_or_else(|_| panic!("{}.{field}: {value:#x} is too wide", self.layout))
    }

    fn end(&self) {
        assert!(self.rest.is_empty(), "{}: {} values too many", self.layout, self.rest.len());
    }
}

layouts! {
    /// §2.1; bit 28 is address bit 5.
    "cxl68.m2s_req" M2sReq 87 {
        valid B1 @ 0 set_valid
        opcode B4 @ 1 set_opcode
        snp_type B3 @ 5 set_snp_type
        meta_field B2 @ 8 set_meta_field
        meta_value B2 @ 10 set_meta_value
        tag B16 @ 12 set_tag
        address B47 @ 28 set_address
        tc B2 @ 75 set_tc
        ld_id B4 @ 77 set_ld_id
        rsvd B6 @ 81 set_rsvd
    }
    /// §2.2; bit 28 is address bit 6.
    "cxl68.m2s_rwd" M2sRwd 87 {
        valid B1 @ 0 set_valid
        opcode B4 @ 1 set_opcode
        snp_type B3 @ 5 set_snp_type
        meta_field B2 @ 8 set_meta_field
        meta_value B2 @ 10 set_meta_value
        tag B16 @ 12 set_tag
        address B46 @ 28 set_address
        poison B1 @ 74 set_poison
        tc B2 @ 75 set_tc
        ld_id B4 @ 77 set_ld_id
        rsvd B6 @ 81 set_rsvd
    }
    /// §2.3.
    "cxl68.s2m_ndr" S2mNdr 30 {
        valid B1 @ 0 set_valid
        opcode B3 @ 1 set_opcode
        meta_field B2 @ 4 set_meta_field
        meta_value B2 @ 6 set_meta_value
        tag B16 @ 8 set_tag
        ld_id B4 @ 24 set_ld_id
        devload B2 @ 28 set_devload
    }
    /// §2.4.
    "cxl68.s2m_drs" S2mDrs 40 {
        valid B1 @ 0 set_valid
        opcode B3 @ 1 set_opcode
        meta_field B2 @ 4 set_meta_field
        meta_value B2 @ 6 set_meta_value
        tag B16 @ 8 set_tag
        poison B1 @ 24 set_poison
        ld_id B4 @ 25 set_ld_id
        devload B2 @ 29 set_devload
        rsvd B9 @ 31 set_rsvd
    }
    /// §2.5.
    "cxl68.d2h_req" D2hReq 79 {
        valid B1 @ 0 set_valid
        opcode B5 @ 1 set_opcode
        cqid B12 @ 6 set_cqid
        nt B1 @ 18 set_nt
        rsvd B7 @ 19 set_rsvd
        address B46 @ 26 set_address
        rsvd1 B7 @ 72 set_rsvd1
    }
    /// §2.6.
    "cxl68.d2h_rsp" D2hRsp 20 {
        valid B1 @ 0 set_valid
        opcode B5 @ 1 set_opcode
        uqid B12 @ 6 set_uqid
        rsvd B2 @ 18 set_rsvd
    }
    /// §2.7.
    "cxl68.d2h_data" D2hData 17 {
        valid B1 @ 0 set_valid
        uqid B12 @ 1 set_uqid
        chunk_valid B1 @ 13 set_chunk_valid
        bogus B1 @ 14 set_bogus
        poison B1 @ 15 set_poison
        rsvd B1 @ 16 set_rsvd
    }
    /// §2.8.
    "cxl68.h2d_req" H2dReq 64 {
        valid B1 @ 0 set_valid
        opcode B3 @ 1 set_opcode
        address B46 @ 4 set_address
        uqid B12 @ 50 set_uqid
        rsvd B2 @ 62 set_rsvd
    }
    /// §2.9.
    "cxl68.h2d_rsp" H2dRsp 32 {
        valid B1 @ 0 set_valid
        opcode B4 @ 1 set_opcode
        rsp_data B12 @ 5 set_rsp_data
        rsp_pre B2 @ 17 set_rsp_pre
        cqid B12 @ 19 set_cqid
        rsvd B1 @ 31 set_rsvd
    }
    /// §2.10.
    "cxl68.h2d_data" H2dData 24 {
        valid B1 @ 0 set_valid
        cqid B12 @ 1 set_cqid
        chunk_valid B1 @ 13 set_chunk_valid
        poison B1 @ 14 set_poison
        go_err B1 @ 15 set_go_err
        rsvd B8 @ 16 set_rsvd
    }
    /// §1.5; credits in the bit order of the figures: response, request, data.
    "cxl68.flit_header" FlitHeader 32 {
        ftype B1 @ 0 set_ftype
        rsvd B1 @ 1 set_rsvd
        ak B1 @ 2 set_ak
        be B1 @ 3 set_be
        sz B1 @ 4 set_sz
        slot0 B3 @ 5 set_slot0
        slot1 B3 @ 8 set_slot1
        slot2 B3 @ 11 set_slot2
        slot3 B3 @ 14 set_slot3
        rsvd1 B3 @ 17 set_rsvd1
        rsp_crd B4 @ 20 set_rsp_crd
        req_crd B4 @ 24 set_req_crd
        data_crd B4 @ 28 set_data_crd
    }
    /// §6.1, payload §6.3: the acknowledge count without its bit 3, which is `ak`.
    "cxl68.llcrd" Llcrd 128 {
        ftype B1 @ 0 set_ftype
        rsvd B1 @ 1 set_rsvd
        ak B1 @ 2 set_ak
        rsvd1 B2 @ 3 set_rsvd1
        ctl_fmt B3 @ 5 set_ctl_fmt
        rsvd2 B12 @ 8 set_rsvd2
        rsp_crd B4 @ 20 set_rsp_crd
        req_crd B4 @ 24 set_req_crd
        data_crd B4 @ 28 set_data_crd
        llctrl B4 @ 32 set_llctrl
        sub_type B4 @ 36 set_sub_type
        static0 B24 @ 40 set_static0
        acknowledge_lo B3 @ 64 set_acknowledge_lo
        rsvd3 B1 @ 67 set_rsvd3
        acknowledge_hi B4 @ 68 set_acknowledge_hi
        rsvd4 B56 @ 72 set_rsvd4
    }
    /// §6.1, payload §6.3.
    "cxl68.retry_req" RetryReq 128 {
        ftype B1 @ 0 set_ftype
        rsvd B4 @ 1 set_rsvd
        ctl_fmt B3 @ 5 set_ctl_fmt
        rsvd1 B24 @ 8 set_rsvd1
        llctrl B4 @ 32 set_llctrl
        sub_type B4 @ 36 set_sub_type
        static0 B24 @ 40 set_static0
        eseq B8 @ 64 set_eseq
        rsvd2 B8 @ 72 set_rsvd2
        num_retry B5 @ 80 set_num_retry
        num_phy_reinit B5 @ 85 set_num_phy_reinit
        rsvd3 B38 @ 90 set_rsvd3
    }
    /// §6.1, payload §6.3.
    "cxl68.retry_ack" RetryAck 128 {
        ftype B1 @ 0 set_ftype
        rsvd B4 @ 1 set_rsvd
        ctl_fmt B3 @ 5 set_ctl_fmt
        rsvd1 B24 @ 8 set_rsvd1
        llctrl B4 @ 32 set_llctrl
        sub_type B4 @ 36 set_sub_type
        static0 B24 @ 40 set_static0
        empty B1 @ 64 set_empty
        viral B1 @ 65 set_viral
        rsvd2 B1 @ 66 set_rsvd2
        num_retry B5 @ 67 set_num_retry
        wr_ptr B8 @ 72 set_wr_ptr
        eseq B8 @ 80 set_eseq
        num_free_buf B8 @ 88 set_num_free_buf
        viral_ld_id B16 @ 96 set_viral_ld_id
        rsvd3 B16 @ 112 set_rsvd3
    }
    /// §6.1, payload §6.3.
    "cxl68.init_param" InitParam 128 {
        ftype B1 @ 0 set_ftype
        rsvd B4 @ 1 set_rsvd
        ctl_fmt B3 @ 5 set_ctl_fmt
        rsvd1 B24 @ 8 set_rsvd1
        llctrl B4 @ 32 set_llctrl
        sub_type B4 @ 36 set_sub_type
        static0 B24 @ 40 set_static0
        version B4 @ 64 set_version
        rsvd2 B20 @ 68 set_rsvd2
        llr_wrap B8 @ 88 set_llr_wrap
        rsvd3 B32 @ 96 set_rsvd3
    }
    /// §6.1: the 96-bit payload (a TMAC's MAC) lies around LLCTRL and SubType.
    "cxl68.ide" Ide 128 {
        ftype B1 @ 0 set_ftype
        rsvd B4 @ 1 set_rsvd
        ctl_fmt B3 @ 5 set_ctl_fmt
        rsvd1 B16 @ 8 set_rsvd1
        payload_lo B8 @ 24 set_payload_lo
        llctrl B4 @ 32 set_llctrl
        sub_type B4 @ 36 set_sub_type
        payload_hi B88 @ 40 set_payload_hi
    }
    /// §8.1: one of the four equal double words.
    "cxl68.almp" Almp 32 {
        rsvd B8 @ 0 set_rsvd
        message B8 @ 8 set_message
        state B4 @ 16 set_state
        rsvd1 B3 @ 20 set_rsvd1
        request B1 @ 23 set_request
        instance_id B4 @ 24 set_instance_id
        rsvd2 B4 @ 28 set_rsvd2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitvec::prelude::*;

    #[test]
    fn lengths_are_those_of_the_sheet() {
        let lengths: Vec<u32> = messages().iter().map(|m| m.bits).collect();
        assert_eq!(lengths, [87, 87, 30, 40, 79, 20, 17, 64, 32, 24, 32, 128, 128, 128, 128, 128, 32]);
    }

    /// A one in bit b of a field, through its setter, is bit lsb + b of the bytes, and the getters find it there.
    #[test]
    fn walking_ones_land_on_the_stated_bits() {
        for m in messages() {
            let mut next_bit = 0;
            for (index, &(field, lsb, width)) in m.fields.iter().enumerate() {
                assert_eq!(lsb, next_bit, "{}.{field}: gap or overlap", m.name);
                next_bit = lsb + width;
                for bit in 0..width {
                    let mut values = vec![0; m.fields.len()];
                    values[index] = 1 << bit;
                    let bytes = (m.build)(&values);
                    let ones: Vec<usize> = bytes.view_bits::<Lsb0>().iter_ones().collect();
                    assert_eq!(ones, [(lsb + bit) as usize], "{}.{field} bit {bit}", m.name);
                    assert_eq!((m.read)(&bytes), values, "{}.{field} bit {bit}", m.name);
                }
            }
            assert_eq!(next_bit, m.bits, "{}", m.name);
        }
    }

    #[test]
    fn field_names_are_unique_within_a_message() {
        for m in messages() {
            for (index, field) in m.fields.iter().enumerate() {
                assert!(m.fields[..index].iter().all(|f| f.0 != field.0), "{}.{}", m.name, field.0);
            }
        }
    }

    #[test]
    fn one_field_and_its_reading_agree() {
        let bytes = message("cxl68.d2h_req").one_field("cqid", 0xABC);
        let raw = bytes.view_bits::<Lsb0>().load_le::<u128>();
        assert_eq!(raw, 0xABC << 6);
        assert_eq!(message("cxl68.d2h_req").field_of(raw, "cqid"), 0xABC);
    }

    #[test]
    #[should_panic(expected = "cxl68.s2m_ndr.tag: 0x10000 is too wide")]
    fn a_value_wider_than_the_integer_of_its_field_is_refused() {
        message("cxl68.s2m_ndr").one_field("tag", 0x1_0000);
    }
}
