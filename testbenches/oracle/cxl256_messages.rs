//! CXL 256-byte flit mode: the messages of both identifier spaces, spelled with `modular-bitfield`.
//!
//! Modelled: every bit of the twelve HBR messages (sheet cxl-256b §3.1) and of the twelve PBR messages (§3.2); the
//! flit header (§1.3), the credit field (§1.6), the control slots and the ALMPs (§6). Left out: meaning of codes.
//!
//! Both sides of a row are written down: the width is the field's type and fixes the position inside the struct, the
//! highest and lowest bit are the numbers after `@`, as the sheet prints them. The structs never see those numbers; a
//! test walks a one through every setter and demands that it appears there. Addr\[7:6\] of a BIRsp, a chunk code by
//! itself, is `low_addr`; every other address is the bits from Addr\[6\] upward.

use modular_bitfield::prelude::*;

use super::cxl68_messages::MessageOracle;

/// All messages: HBR, then PBR, each in the order of the sheet.
pub fn messages() -> &'static [MessageOracle] {
    &LAYOUTS[..24]
}

/// What is not a message: header, credits, control slots, ALMPs. The bytes of the header are those of a number, lowest
/// first; it is sent highest first.
pub fn frames() -> &'static [MessageOracle] {
    &LAYOUTS[24..]
}

/// The layout of that name. Panics on an unknown name.
pub fn message(name: &str) -> &'static MessageOracle {
    LAYOUTS.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no layout {name}"))
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:literal $type:ident $bits:tt {
        $($field:ident $kind:ident @ $high:literal $low:literal $set:ident)+
    })+) => {
        $(
            $(#[$doc])*
            #[bitfield(bits = $bits)]
            pub struct $type { $($field: $kind,)+ }

            impl $type {
                const ORACLE: MessageOracle = MessageOracle {
                    name: $name,
                    bits: $bits,
                    fields: &[$((stringify!($field), $low, $high - $low + 1)),+],
                    build: |values| {
                        let mut values = values.iter();
                        let mut word = $type::new();
                        $(word.$set(next(&mut values, concat!($name, ".", stringify!($field))));)+
                        assert!(values.next().is_none(), "{}: too many values", $name);
                        word.into_bytes().to_vec()
                    },
                    read: |bytes| {
                        let Ok(bytes) = <[u8; ($bits as usize).div_ceil(8)]>::try_from(bytes) else {
                            panic!("{}: {} bytes given, {} bits expected", $name, bytes.len(), $bits)
                        };
                        let word = $type::try_from(bytes);
                        let word = word.unwrap_or_else(|_| panic!("{}: more than {} bits set", $name, $bits));
                        vec![$(u128::from(word.$field())),+]
                    },
                };
            }
        )+
        static LAYOUTS: &[MessageOracle] = &[$($type::ORACLE),+];
    };
}
pub(super) use layouts;

/// The next raw value, in the integer type of its field.
pub(super) fn next<'a, T: TryFrom<u128>>(values: &mut impl Iterator<Item = &'a u128>, field: &str) -> T {
    let Some(&value) = values.next() else { panic!("{field}: no value given") };
    T::try_from(value).unwrap_or_else(|_| panic!("{field}: {value:#x} is too wide"))
}

layouts! {
    /// §3.1, mark A.
    "cxl256.h2d_req" H2dReq 72 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        address B46 @ 49 4 set_address
        uqid B12 @ 61 50 set_uqid
        cache_id B4 @ 65 62 set_cache_id
        rsvd B6 @ 71 66 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.h2d_rsp" H2dRsp 40 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        rsp_data B12 @ 16 5 set_rsp_data
        rsp_pre B2 @ 18 17 set_rsp_pre
        cqid B12 @ 30 19 set_cqid
        cache_id B4 @ 34 31 set_cache_id
        rsvd B5 @ 39 35 set_rsvd
    }
    /// §3.1, mark B.
    "cxl256.h2d_data" H2dData 28 {
        valid B1 @ 0 0 set_valid
        cqid B12 @ 12 1 set_cqid
        poison B1 @ 13 13 set_poison
        go_err B1 @ 14 14 set_go_err
        cache_id B4 @ 18 15 set_cache_id
        rsvd B9 @ 27 19 set_rsvd
    }
    /// §3.1, mark B.
    "cxl256.d2h_req" D2hReq 76 {
        valid B1 @ 0 0 set_valid
        opcode B5 @ 5 1 set_opcode
        cqid B12 @ 17 6 set_cqid
        nt B1 @ 18 18 set_nt
        cache_id B4 @ 22 19 set_cache_id
        rsvd B3 @ 25 23 set_rsvd
        address B46 @ 71 26 set_address
        rsvd1 B4 @ 75 72 set_rsvd1
    }
    /// §3.1, mark A.
    "cxl256.d2h_rsp" D2hRsp 24 {
        valid B1 @ 0 0 set_valid
        opcode B5 @ 5 1 set_opcode
        uqid B12 @ 17 6 set_uqid
        rsvd B6 @ 23 18 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.d2h_data" D2hData 24 {
        valid B1 @ 0 0 set_valid
        uqid B12 @ 12 1 set_uqid
        bogus B1 @ 13 13 set_bogus
        poison B1 @ 14 14 set_poison
        bep B1 @ 15 15 set_bep
        rsvd B8 @ 23 16 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.m2s_req" M2sReq 100 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        snp_type B3 @ 7 5 set_snp_type
        meta_field B2 @ 9 8 set_meta_field
        meta_value B2 @ 11 10 set_meta_value
        tag B16 @ 27 12 set_tag
        address B46 @ 73 28 set_address
        ld_id B4 @ 77 74 set_ld_id
        ckid B13 @ 90 78 set_ckid
        rsvd B7 @ 97 91 set_rsvd
        tc B2 @ 99 98 set_tc
    }
    /// §3.1, mark A.
    "cxl256.m2s_rwd" M2sRwd 104 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        snp_type B3 @ 7 5 set_snp_type
        meta_field B2 @ 9 8 set_meta_field
        meta_value B2 @ 11 10 set_meta_value
        tag B16 @ 27 12 set_tag
        address B46 @ 73 28 set_address
        poison B1 @ 74 74 set_poison
        trp B1 @ 75 75 set_trp
        ld_id B4 @ 79 76 set_ld_id
        ckid B13 @ 92 80 set_ckid
        rsvd B9 @ 101 93 set_rsvd
        tc B2 @ 103 102 set_tc
    }
    /// §3.1, mark A.
    "cxl256.m2s_birsp" M2sBirsp 40 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        bi_id B12 @ 16 5 set_bi_id
        bi_tag B12 @ 28 17 set_bi_tag
        low_addr B2 @ 30 29 set_low_addr
        rsvd B9 @ 39 31 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.s2m_bisnp" S2mBisnp 84 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        bi_id B12 @ 16 5 set_bi_id
        bi_tag B12 @ 28 17 set_bi_tag
        address B46 @ 74 29 set_address
        rsvd B9 @ 83 75 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.s2m_ndr" S2mNdr 40 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        meta_field B2 @ 5 4 set_meta_field
        meta_value B2 @ 7 6 set_meta_value
        tag B16 @ 23 8 set_tag
        ld_id B4 @ 27 24 set_ld_id
        devload B2 @ 29 28 set_devload
        rsvd B10 @ 39 30 set_rsvd
    }
    /// §3.1, mark A.
    "cxl256.s2m_drs" S2mDrs 40 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        meta_field B2 @ 5 4 set_meta_field
        meta_value B2 @ 7 6 set_meta_value
        tag B16 @ 23 8 set_tag
        poison B1 @ 24 24 set_poison
        devload B2 @ 26 25 set_devload
        ld_id B4 @ 30 27 set_ld_id
        trp B1 @ 31 31 set_trp
        rsvd B8 @ 39 32 set_rsvd
    }
    /// §3.2, order of mark C.
    "cxlpbr.h2d_req" PbrH2dReq 92 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        address B46 @ 49 4 set_address
        uqid B12 @ 61 50 set_uqid
        spid B12 @ 73 62 set_spid
        dpid B12 @ 85 74 set_dpid
        rsvd B6 @ 91 86 set_rsvd
    }
    /// §3.2, order of mark C.
    "cxlpbr.h2d_rsp" PbrH2dRsp 48 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        rsp_data B12 @ 16 5 set_rsp_data
        rsp_pre B2 @ 18 17 set_rsp_pre
        cqid B12 @ 30 19 set_cqid
        dpid B12 @ 42 31 set_dpid
        rsvd B5 @ 47 43 set_rsvd
    }
    /// §3.2, order of mark B.
    "cxlpbr.h2d_data" PbrH2dData 36 {
        valid B1 @ 0 0 set_valid
        cqid B12 @ 12 1 set_cqid
        poison B1 @ 13 13 set_poison
        go_err B1 @ 14 14 set_go_err
        dpid B12 @ 26 15 set_dpid
        rsvd B9 @ 35 27 set_rsvd
    }
    /// §3.2, order of mark B.
    "cxlpbr.d2h_req" PbrD2hReq 96 {
        valid B1 @ 0 0 set_valid
        opcode B5 @ 5 1 set_opcode
        cqid B12 @ 17 6 set_cqid
        nt B1 @ 18 18 set_nt
        address B46 @ 64 19 set_address
        spid B12 @ 76 65 set_spid
        dpid B12 @ 88 77 set_dpid
        rsvd B7 @ 95 89 set_rsvd
    }
    /// §3.2, order of mark C.
    "cxlpbr.d2h_rsp" PbrD2hRsp 36 {
        valid B1 @ 0 0 set_valid
        opcode B5 @ 5 1 set_opcode
        uqid B12 @ 17 6 set_uqid
        dpid B12 @ 29 18 set_dpid
        rsvd B6 @ 35 30 set_rsvd
    }
    /// §3.2, order of mark C.
    "cxlpbr.d2h_data" PbrD2hData 36 {
        valid B1 @ 0 0 set_valid
        uqid B12 @ 12 1 set_uqid
        bogus B1 @ 13 13 set_bogus
        poison B1 @ 14 14 set_poison
        bep B1 @ 15 15 set_bep
        dpid B12 @ 27 16 set_dpid
        rsvd B8 @ 35 28 set_rsvd
    }
    /// §3.2, order of mark B/C.
    "cxlpbr.m2s_req" PbrM2sReq 120 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        snp_type B3 @ 7 5 set_snp_type
        meta_field B2 @ 9 8 set_meta_field
        meta_value B2 @ 11 10 set_meta_value
        tag B16 @ 27 12 set_tag
        address B46 @ 73 28 set_address
        spid B12 @ 85 74 set_spid
        dpid B12 @ 97 86 set_dpid
        ckid B13 @ 110 98 set_ckid
        rsvd B7 @ 117 111 set_rsvd
        tc B2 @ 119 118 set_tc
    }
    /// §3.2, order of mark B.
    "cxlpbr.m2s_rwd" PbrM2sRwd 124 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        snp_type B3 @ 7 5 set_snp_type
        meta_field B2 @ 9 8 set_meta_field
        meta_value B2 @ 11 10 set_meta_value
        tag B16 @ 27 12 set_tag
        address B46 @ 73 28 set_address
        poison B1 @ 74 74 set_poison
        trp B1 @ 75 75 set_trp
        spid B12 @ 87 76 set_spid
        dpid B12 @ 99 88 set_dpid
        ckid B13 @ 112 100 set_ckid
        rsvd B9 @ 121 113 set_rsvd
        tc B2 @ 123 122 set_tc
    }
    /// §3.2, order of mark C.
    "cxlpbr.m2s_birsp" PbrM2sBirsp 52 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        bi_tag B12 @ 16 5 set_bi_tag
        low_addr B2 @ 18 17 set_low_addr
        spid B12 @ 30 19 set_spid
        dpid B12 @ 42 31 set_dpid
        rsvd B9 @ 51 43 set_rsvd
    }
    /// §3.2, order of mark B.
    "cxlpbr.s2m_bisnp" PbrS2mBisnp 96 {
        valid B1 @ 0 0 set_valid
        opcode B4 @ 4 1 set_opcode
        bi_tag B12 @ 16 5 set_bi_tag
        address B46 @ 62 17 set_address
        spid B12 @ 74 63 set_spid
        dpid B12 @ 86 75 set_dpid
        rsvd B9 @ 95 87 set_rsvd
    }
    /// §3.2, order of mark C.
    "cxlpbr.s2m_ndr" PbrS2mNdr 48 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        meta_field B2 @ 5 4 set_meta_field
        meta_value B2 @ 7 6 set_meta_value
        tag B16 @ 23 8 set_tag
        dpid B12 @ 35 24 set_dpid
        devload B2 @ 37 36 set_devload
        rsvd B10 @ 47 38 set_rsvd
    }
    /// §3.2, order of mark A.
    "cxlpbr.s2m_drs" PbrS2mDrs 48 {
        valid B1 @ 0 0 set_valid
        opcode B3 @ 3 1 set_opcode
        meta_field B2 @ 5 4 set_meta_field
        meta_value B2 @ 7 6 set_meta_value
        tag B16 @ 23 8 set_tag
        poison B1 @ 24 24 set_poison
        devload B2 @ 26 25 set_devload
        dpid B12 @ 38 27 set_dpid
        trp B1 @ 39 39 set_trp
        rsvd B8 @ 47 40 set_rsvd
    }
    /// §1.3: bits 15:8 are byte 0, bits 7:0 byte 1; Sequence\[9:8\] and \[7:0\] are then neighbours.
    "cxl256.flit_header" FlitHeader 16 {
        seq B10 @ 9 0 set_seq
        command B2 @ 11 10 set_command
        dllp_type B1 @ 12 12 set_dllp_type
        prior B1 @ 13 13 set_prior
        flit_type B2 @ 15 14 set_flit_type
    }
    /// §1.6.
    "cxl256.crd" Crd 16 {
        request B5 @ 4 0 set_request
        data B5 @ 9 5 set_data
        response B5 @ 14 10 set_response
        rsvd B1 @ 15 15 set_rsvd
    }
    /// §6; payload MAC.
    "cxl256.ide" Ide 112 {
        slot_fmt B4 @ 3 0 set_slot_fmt
        llctrl B4 @ 7 4 set_llctrl
        sub_type B4 @ 11 8 set_sub_type
        rsvd B4 @ 15 12 set_rsvd
        mac B96 @ 111 16 set_mac
    }
    /// §6; payload 15:0.
    "cxl256.viral" Viral 112 {
        slot_fmt B4 @ 3 0 set_slot_fmt
        llctrl B4 @ 7 4 set_llctrl
        sub_type B4 @ 11 8 set_sub_type
        rsvd B4 @ 15 12 set_rsvd
        ld_ids B16 @ 31 16 set_ld_ids
        rsvd1 B80 @ 111 32 set_rsvd1
    }
    /// §6; payload 3:0.
    "cxl256.poison" Poison 112 {
        slot_fmt B4 @ 3 0 set_slot_fmt
        llctrl B4 @ 7 4 set_llctrl
        sub_type B4 @ 11 8 set_sub_type
        rsvd B4 @ 15 12 set_rsvd
        message B4 @ 19 16 set_message
        rsvd1 B92 @ 111 20 set_rsvd1
    }
    /// §6; payload bit 0.
    "cxl256.init_param" InitParam 112 {
        slot_fmt B4 @ 3 0 set_slot_fmt
        llctrl B4 @ 7 4 set_llctrl
        sub_type B4 @ 11 8 set_sub_type
        rsvd B4 @ 15 12 set_rsvd
        direct_p2p B1 @ 16 16 set_direct_p2p
        rsvd1 B95 @ 111 17 set_rsvd1
    }
    /// §6, vLSM: flit bytes 2 to 5.
    "cxl256.almp" Almp 32 {
        rsvd B8 @ 7 0 set_rsvd
        code B8 @ 15 8 set_code
        state B4 @ 19 16 set_state
        rsvd1 B3 @ 22 20 set_rsvd1
        request B1 @ 23 23 set_request
        instance_id B4 @ 27 24 set_instance_id
        rsvd2 B4 @ 31 28 set_rsvd2
    }
    /// §6, L0p: flit bytes 2 to 5.
    "cxl256.almp_l0p" AlmpL0p 32 {
        rsvd B8 @ 7 0 set_rsvd
        code B8 @ 15 8 set_code
        rsvd1 B6 @ 21 16 set_rsvd1
        prio B1 @ 22 22 set_prio
        request B1 @ 23 23 set_request
        instance_id B4 @ 27 24 set_instance_id
        width B4 @ 31 28 set_width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitvec::prelude::*;

    #[test]
    fn lengths_are_those_of_the_sheet() {
        let lengths: Vec<u32> = messages().iter().map(|m| m.bits).collect();
        let hbr = [72, 40, 28, 76, 24, 24, 100, 104, 40, 84, 40, 40];
        let pbr = [92, 48, 36, 96, 36, 36, 120, 124, 52, 96, 48, 48];
        assert_eq!(lengths, [hbr, pbr].concat());
    }

    /// A one in bit b of a field, through its setter, is bit low + b of the bytes, and the getters find it there.
    #[test]
    fn walking_ones_land_on_the_stated_bits() {
        for m in messages().iter().chain(frames()) {
            let mut next_bit = 0;
            for (index, &(field, low, width)) in m.fields.iter().enumerate() {
                assert_eq!(low, next_bit, "{}.{field}", m.name);
                next_bit = low + width;
                for bit in 0..width {
                    let mut values = vec![0; m.fields.len()];
                    values[index] = 1 << bit;
                    let bytes = (m.build)(&values);
                    let ones: Vec<usize> = bytes.view_bits::<Lsb0>().iter_ones().collect();
                    assert_eq!(ones, [(low + bit) as usize], "{}.{field} bit {bit}", m.name);
                    assert_eq!((m.read)(&bytes), values, "{}.{field} bit {bit}", m.name);
                }
            }
            assert_eq!(next_bit, m.bits, "{}", m.name);
        }
    }

    /// §3.2: identifiers of a hierarchy go, DPID comes everywhere, SPID where an answer must find back.
    #[test]
    fn pbr_messages_carry_ports_instead_of_identifiers() {
        for m in messages().iter().filter(|m| m.name.starts_with("cxlpbr.")) {
            let has = |field| m.fields.iter().any(|f| f.0 == field);
            assert!(!has("cache_id") && !has("ld_id") && !has("bi_id") && has("dpid"), "{}", m.name);
            let answered = ["h2d_req", "d2h_req", "m2s_req", "m2s_rwd", "m2s_birsp", "s2m_bisnp"];
            assert_eq!(has("spid"), answered.contains(&&m.name[7..]), "{}", m.name);
        }
    }

    #[test]
    #[should_panic(expected = "cxl256.s2m_ndr.tag: 0x10000 is too wide")]
    fn a_value_wider_than_the_integer_of_its_field_is_refused() {
        message("cxl256.s2m_ndr").one_field("tag", 0x1_0000);
    }
}
