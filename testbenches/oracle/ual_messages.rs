//! UALink: headers, DL messages and fields of the transaction layer, spelled with `modular-bitfield`.
//!
//! Modelled: every bit of both flit headers and the segment header (sheet ualink §3, §4), of the DL messages (§6) and of
//! the six fields (§10). Left out: meaning of codes; UPLI, whose signals have no order in the sheet.
//!
//! Both sides of a row are written down, as in [`cxl256_messages`](super::cxl256_messages): the width fixes the position
//! inside the struct, the numbers behind `@` are those that the sheet prints. Addresses are the bits from Addr\[2\] upward,
//! those of a compressed request from Addr\[6\] upward.

use modular_bitfield::prelude::*;

use super::cxl68_messages::MessageOracle;
use super::cxl256_messages::{layouts, next};

/// All layouts, in order of the sheet.
pub fn messages() -> &'static [MessageOracle] {
    LAYOUTS
}

layouts! {
    /// §3.1, mark A.
    "ualink.fh_explicit" UalExplicitHeader 24 {
        rsvd B8 @ 7 0 set_rsvd
        seq B9 @ 16 8 set_seq
        rsvd1 B3 @ 19 17 set_rsvd1
        payload B1 @ 20 20 set_payload
        op B3 @ 23 21 set_op
    }
    /// §3.2, mark A.
    "ualink.fh_command" UalCommandHeader 24 {
        rsvd B8 @ 7 0 set_rsvd
        seq_lo B3 @ 10 8 set_seq_lo
        ack_req_seq B9 @ 19 11 set_ack_req_seq
        payload B1 @ 20 20 set_payload
        op B3 @ 23 21 set_op
    }
    /// §4, mark A.
    "ualink.sh" UalSegmentHeader 8 {
        alt B1 @ 0 0 set_alt
        rsvd B1 @ 1 1 set_rsvd
        message0 B2 @ 3 2 set_message0
        start0 B1 @ 4 4 set_start0
        message1 B2 @ 6 5 set_message1
        start1 B1 @ 7 7 set_start1
    }
    /// §6, mark A.
    "ualink.dl_noop" UalNoOp 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        rsvd1 B23 @ 31 9 set_rsvd1
    }
    /// §6, mark A.
    "ualink.dl_tl_rate" UalTlRate 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        rsvd1 B3 @ 11 9 set_rsvd1
        ack B1 @ 12 12 set_ack
        rsvd2 B3 @ 15 13 set_rsvd2
        rate B16 @ 31 16 set_rate
    }
    /// §6, mark A.
    "ualink.dl_device_id" UalDeviceId 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        rsvd1 B3 @ 11 9 set_rsvd1
        ack B1 @ 12 12 set_ack
        rsvd2 B3 @ 15 13 set_rsvd2
        id B10 @ 25 16 set_id
        rsvd3 B3 @ 28 26 set_rsvd3
        device_type B2 @ 30 29 set_device_type
        valid B1 @ 31 31 set_valid
    }
    /// §6, mark A.
    "ualink.dl_port_number" UalPortNumber 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        rsvd1 B3 @ 11 9 set_rsvd1
        ack B1 @ 12 12 set_ack
        rsvd2 B3 @ 15 13 set_rsvd2
        port B12 @ 27 16 set_port
        rsvd3 B3 @ 30 28 set_rsvd3
        valid B1 @ 31 31 set_valid
    }
    /// §6, mark B.
    "ualink.dl_channel" UalChannel 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        rsvd1 B7 @ 15 9 set_rsvd1
        target B4 @ 19 16 set_target
        command B4 @ 23 20 set_command
        response B4 @ 27 24 set_response
        rsvd2 B4 @ 31 28 set_rsvd2
    }
    /// §6, mark A.
    "ualink.dl_uart_transport" UalUartTransport 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        stream B3 @ 11 9 set_stream
        rsvd1 B15 @ 26 12 set_rsvd1
        length B5 @ 31 27 set_length
    }
    /// §6, mark A.
    "ualink.dl_uart_credit" UalUartCredit 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        stream B3 @ 11 9 set_stream
        rsvd1 B8 @ 19 12 set_rsvd1
        data_fc_seq B12 @ 31 20 set_data_fc_seq
    }
    /// §6, mark A.
    "ualink.dl_uart_reset_req" UalUartResetReq 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        stream B3 @ 11 9 set_stream
        all B1 @ 12 12 set_all
        rsvd1 B19 @ 31 13 set_rsvd1
    }
    /// §6, mark A.
    "ualink.dl_uart_reset_rsp" UalUartResetRsp 32 {
        compressed B1 @ 0 0 set_compressed
        rsvd B1 @ 1 1 set_rsvd
        mclass B4 @ 5 2 set_mclass
        mtype B3 @ 8 6 set_mtype
        stream B3 @ 11 9 set_stream
        all B1 @ 12 12 set_all
        status B3 @ 15 13 set_status
        rsvd1 B16 @ 31 16 set_rsvd1
    }
    /// §6, mark A.
    "ualink.dl_uart_vendor" UalUartVendor 32 {
        length B8 @ 7 0 set_length
        packet_type B8 @ 15 8 set_packet_type
        vendor B16 @ 31 16 set_vendor
    }
    /// §10, mark A.
    "ualink.tl_req" UalTlReq 128 {
        numbeats B2 @ 1 0 set_numbeats
        cway B2 @ 3 2 set_cway
        cload B1 @ 4 4 set_cload
        dst B10 @ 14 5 set_dst
        src B10 @ 24 15 set_src
        address B55 @ 79 25 set_address
        metadata B8 @ 87 80 set_metadata
        len B6 @ 93 88 set_len
        attr B8 @ 101 94 set_attr
        pool B1 @ 102 102 set_pool
        tag B11 @ 113 103 set_tag
        asi B2 @ 115 114 set_asi
        vchan B2 @ 117 116 set_vchan
        cmd B6 @ 123 118 set_cmd
        ftype B4 @ 127 124 set_ftype
    }
    /// §10, mark A.
    "ualink.tl_rsp" UalTlRsp 64 {
        spare B16 @ 15 0 set_spare
        dst B10 @ 25 16 set_dst
        src B10 @ 35 26 set_src
        last B1 @ 36 36 set_last
        rdwr B1 @ 37 37 set_rdwr
        status B4 @ 41 38 set_status
        offset B2 @ 43 42 set_offset
        len B2 @ 45 44 set_len
        pool B1 @ 46 46 set_pool
        tag B11 @ 57 47 set_tag
        vchan B2 @ 59 58 set_vchan
        ftype B4 @ 63 60 set_ftype
    }
    /// §10, mark A.
    "ualink.tl_creq" UalTlCreq 64 {
        cway B2 @ 1 0 set_cway
        dst B10 @ 11 2 set_dst
        src B10 @ 21 12 set_src
        address B14 @ 35 22 set_address
        metadata B3 @ 38 36 set_metadata
        len B2 @ 40 39 set_len
        pool B1 @ 41 41 set_pool
        tag B11 @ 52 42 set_tag
        asi B2 @ 54 53 set_asi
        vchan B2 @ 56 55 set_vchan
        cmd B3 @ 59 57 set_cmd
        ftype B4 @ 63 60 set_ftype
    }
    /// §10, mark A.
    "ualink.tl_crsp_single" UalTlCrspSingle 32 {
        spare B1 @ 0 0 set_spare
        last B1 @ 1 1 set_last
        offset B2 @ 3 2 set_offset
        dst B10 @ 13 4 set_dst
        pool B1 @ 14 14 set_pool
        tag B11 @ 25 15 set_tag
        vchan B2 @ 27 26 set_vchan
        ftype B4 @ 31 28 set_ftype
    }
    /// §10, mark A.
    "ualink.tl_crsp_multi" UalTlCrspMulti 32 {
        spare B1 @ 0 0 set_spare
        rdwr B1 @ 1 1 set_rdwr
        len B2 @ 3 2 set_len
        dst B10 @ 13 4 set_dst
        pool B1 @ 14 14 set_pool
        tag B11 @ 25 15 set_tag
        vchan B2 @ 27 26 set_vchan
        ftype B4 @ 31 28 set_ftype
    }
    /// §10, mark A; each format is t, vv, count.
    "ualink.tl_fc" UalTlFc 32 {
        rsp_data_cnt B5 @ 4 0 set_rsp_data_cnt
        rsp_data_vc B2 @ 6 5 set_rsp_data_vc
        rsp_data_t B1 @ 7 7 set_rsp_data_t
        req_data_cnt B5 @ 12 8 set_req_data_cnt
        req_data_vc B2 @ 14 13 set_req_data_vc
        req_data_t B1 @ 15 15 set_req_data_t
        rsp_cmd_cnt B3 @ 18 16 set_rsp_cmd_cnt
        rsp_cmd_vc B2 @ 20 19 set_rsp_cmd_vc
        rsp_cmd_t B1 @ 21 21 set_rsp_cmd_t
        req_cmd_cnt B3 @ 24 22 set_req_cmd_cnt
        req_cmd_vc B2 @ 26 25 set_req_cmd_vc
        req_cmd_t B1 @ 27 27 set_req_cmd_t
        ftype B4 @ 31 28 set_ftype
    }
}
