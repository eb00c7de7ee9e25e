// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_ualink_rules_pkg;
  function automatic logic ok_fh_explicit_ual_flh_03(input logic [23:0] m);
    return (m[23:21] inside {3'h0, 3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_fh_explicit_ual_flh_04(input logic [23:0] m);
    return (m[7:0] == '0)
        && (m[19:17] == '0);
  endfunction

  function automatic logic ok_fh_command_ual_flh_03(input logic [23:0] m);
    return (m[23:21] inside {3'h0, 3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_fh_command_ual_flh_04(input logic [23:0] m);
    return (m[7:0] == '0);
  endfunction

  function automatic logic ok_sh_ual_seg_01(input logic [7:0] m);
    return (m[1] == '0);
  endfunction

  function automatic logic ok_dl_noop_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_noop_ual_msg_03(input logic [31:0] m);
    return (m[1] == '0)
        && (m[31:9] == '0);
  endfunction

  function automatic logic ok_dl_tl_rate_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_tl_rate_ual_msg_04(input logic [31:0] m);
    return (m[1] == '0)
        && (m[11:9] == '0)
        && (m[15:13] == '0);
  endfunction

  function automatic logic ok_dl_device_id_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_device_id_ual_msg_05(input logic [31:0] m);
    return (m[1] == '0)
        && (m[11:9] == '0)
        && (m[15:13] == '0)
        && (m[28:26] == '0)
        && (m[30:29] inside {2'h0, 2'h1});
  endfunction

  function automatic logic ok_dl_port_number_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_port_number_ual_msg_06(input logic [31:0] m);
    return (m[1] == '0)
        && (m[11:9] == '0)
        && (m[15:13] == '0)
        && (m[30:28] == '0);
  endfunction

  function automatic logic ok_dl_channel_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_channel_ual_msg_07(input logic [31:0] m);
    return (m[1] == '0)
        && (m[15:9] == '0)
        && (m[23:20] inside {4'h4, 4'h6, 4'h7, 4'h8})
        && (m[31:28] == '0);
  endfunction

  function automatic logic ok_dl_uart_transport_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_uart_transport_ual_msg_08(input logic [31:0] m);
    return (m[1] == '0)
        && (m[26:12] == '0);
  endfunction

  function automatic logic ok_dl_uart_credit_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_uart_credit_ual_msg_09(input logic [31:0] m);
    return (m[1] == '0)
        && (m[19:12] == '0);
  endfunction

  function automatic logic ok_dl_uart_reset_req_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_uart_reset_req_ual_msg_10(input logic [31:0] m);
    return (m[1] == '0)
        && (m[31:13] == '0);
  endfunction

  function automatic logic ok_dl_uart_reset_rsp_ual_msg_02(input logic [31:0] m);
    return (m[5:2] inside {4'h0, 4'h1, 4'h8});
  endfunction

  function automatic logic ok_dl_uart_reset_rsp_ual_msg_11(input logic [31:0] m);
    return (m[1] == '0)
        && (m[31:16] == '0);
  endfunction

  function automatic logic ok_tl_req_ual_tlf_03(input logic [127:0] m);
    return (m[127:124] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_tl_req_ual_upl_02(input logic [127:0] m);
    return (m[123:118] inside {6'h3, 6'h8, 6'h9, 6'ha, 6'hb, 6'hc, 6'hd, 6'he, 6'hf, 6'h28, 6'h29, 6'h2a, 6'h2c, 6'h2d, 6'h2e, 6'h2f, 6'h30, 6'h32, 6'h3c, 6'h3d, 6'h3e, 6'h3f});
  endfunction

  function automatic logic ok_tl_rsp_ual_fld_02(input logic [63:0] m);
    return (m[15:0] == '0);
  endfunction

  function automatic logic ok_tl_rsp_ual_tlf_03(input logic [63:0] m);
    return (m[63:60] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_tl_rsp_ual_upl_03(input logic [63:0] m);
    return (m[41:38] inside {4'h0, 4'h2, 4'h3, 4'h6, 4'h8, 4'hf});
  endfunction

  function automatic logic ok_tl_creq_ual_fld_03(input logic [63:0] m);
    return (m[59:57] inside {3'h0, 3'h4, 3'h6});
  endfunction

  function automatic logic ok_tl_creq_ual_tlf_03(input logic [63:0] m);
    return (m[63:60] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_tl_crsp_single_ual_fld_04(input logic [31:0] m);
    return (m[0] == '0);
  endfunction

  function automatic logic ok_tl_crsp_single_ual_tlf_03(input logic [31:0] m);
    return (m[31:28] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_tl_crsp_multi_ual_fld_05(input logic [31:0] m);
    return (m[0] == '0);
  endfunction

  function automatic logic ok_tl_crsp_multi_ual_tlf_03(input logic [31:0] m);
    return (m[31:28] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_tl_fc_ual_tlf_03(input logic [31:0] m);
    return (m[31:28] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5});
  endfunction

  function automatic logic ok_upli_req_ual_upl_02(input logic [126:0] m);
    return (!m[0] || m[99:94] inside {6'h3, 6'h8, 6'h9, 6'ha, 6'hb, 6'hc, 6'hd, 6'he, 6'hf, 6'h28, 6'h29, 6'h2a, 6'h2c, 6'h2d, 6'h2e, 6'h2f, 6'h30, 6'h32, 6'h3c, 6'h3d, 6'h3e, 6'h3f});
  endfunction

  function automatic logic ok_upli_rd_rsp_ual_upl_03(input logic [54:0] m);
    return (!m[0] || m[40:37] inside {4'h0, 4'h2, 4'h3, 4'h6, 4'h8, 4'hf});
  endfunction

  function automatic logic ok_upli_wr_rsp_ual_upl_03(input logic [41:0] m);
    return (!m[0] || m[40:37] inside {4'h0, 4'h2, 4'h3, 4'h6, 4'h8, 4'hf});
  endfunction

  function automatic logic ok_attr_atomic_ual_upl_04(input logic [7:0] m);
    return (m[1] == '0);
  endfunction

  function automatic logic ok_iv_ual_sec_01(input logic [95:0] m);
    return (m[95:32] == '0);
  endfunction

  function automatic logic [31:0] crc32(input logic [5087:0] d);
    crc32 = '1;
    for (int i = 0; i < 5120; i++)
      crc32 = {crc32[30:0], 1'b0} ^ (((i < 5088 && d[i]) ^ crc32[31]) ? 32'h04c11db7 : 32'h0);
    crc32 = ~crc32;
  endfunction

  function automatic logic ok_flit_ual_crc_01(input logic [5119:0] u, input logic crc_ok);
    return (crc_ok);
  endfunction

  function automatic logic ok_flit_ual_flh_03(input logic [5119:0] u, input logic crc_ok);
    return (!(crc_ok) || ok_fh_explicit_ual_flh_03(u[5015:4992]));
  endfunction

  function automatic logic ok_flit_ual_flh_04(input logic [5119:0] u, input logic crc_ok);
    return (!(crc_ok && !(u[5015:5013] inside {3'h2, 3'h3})) || ok_fh_explicit_ual_flh_04(u[5015:4992]));
  endfunction

endpackage : scalepool_ualink_rules_pkg

// ualink.fh_explicit: Flit header with the flit's whole sequence number.
module scalepool_ualink_fh_explicit_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [23:0] message_i
);
  UAL_FLH_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fh_explicit_ual_flh_03(message_i))
  else $error("UAL-FLH-03 ualink.fh_explicit: op 00x marks an explicit header and op 01x a command; a flit with op 1xx, or a NOP marked as replayed, is dropped");
  UAL_FLH_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fh_explicit_ual_flh_04(message_i))
  else $error("UAL-FLH-04 ualink.fh_explicit: reserved bits of a flit header are sent as 0 and ignored by the receiver");
endmodule : scalepool_ualink_fh_explicit_sva

// ualink.fh_command: Flit header with an acknowledgement or a replay request.
module scalepool_ualink_fh_command_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [23:0] message_i
);
  UAL_FLH_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fh_command_ual_flh_03(message_i))
  else $error("UAL-FLH-03 ualink.fh_command: op 00x marks an explicit header and op 01x a command; a flit with op 1xx, or a NOP marked as replayed, is dropped");
  UAL_FLH_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fh_command_ual_flh_04(message_i))
  else $error("UAL-FLH-04 ualink.fh_command: reserved bits of a flit header are sent as 0 and ignored by the receiver");
endmodule : scalepool_ualink_fh_command_sva

// ualink.sh: Segment header: what begins in 128 bytes of a flit.
module scalepool_ualink_sh_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [7:0] message_i
);
  UAL_SEG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_sh_ual_seg_01(message_i))
  else $error("UAL-SEG-01 ualink.sh: the segment header has the specified layout");
endmodule : scalepool_ualink_sh_sva

// ualink.dl_noop: Does nothing.
module scalepool_ualink_dl_noop_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_noop_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_noop: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_noop_ual_msg_03(message_i))
  else $error("UAL-MSG-03 ualink.dl_noop: a No-Op has the specified layout");
endmodule : scalepool_ualink_dl_noop_sva

// ualink.dl_tl_rate: Announces the rate of the transaction layer, or acknowledges one.
module scalepool_ualink_dl_tl_rate_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_tl_rate_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_tl_rate: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_tl_rate_ual_msg_04(message_i))
  else $error("UAL-MSG-04 ualink.dl_tl_rate: a TL Rate message has the specified layout");
endmodule : scalepool_ualink_dl_tl_rate_sva

// ualink.dl_device_id: Asks for or tells the identity of a device.
module scalepool_ualink_dl_device_id_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_device_id_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_device_id: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_device_id_ual_msg_05(message_i))
  else $error("UAL-MSG-05 ualink.dl_device_id: a Device ID message has the specified layout");
endmodule : scalepool_ualink_dl_device_id_sva

// ualink.dl_port_number: Asks for or tells the number of a port.
module scalepool_ualink_dl_port_number_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_port_number_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_port_number: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_port_number_ual_msg_06(message_i))
  else $error("UAL-MSG-06 ualink.dl_port_number: a Port Number message has the specified layout");
endmodule : scalepool_ualink_dl_port_number_sva

// ualink.dl_channel: Negotiates whether a channel is online.
module scalepool_ualink_dl_channel_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_channel_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_channel: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_channel_ual_msg_07(message_i))
  else $error("UAL-MSG-07 ualink.dl_channel: a Channel Negotiation message has the specified layout");
endmodule : scalepool_ualink_dl_channel_sva

// ualink.dl_uart_transport: Head of a run of UART payload DWords.
module scalepool_ualink_dl_uart_transport_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_transport_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_uart_transport: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_transport_ual_msg_08(message_i))
  else $error("UAL-MSG-08 ualink.dl_uart_transport: a UART Transport header has the specified layout");
endmodule : scalepool_ualink_dl_uart_transport_sva

// ualink.dl_uart_credit: Advertises UART buffers.
module scalepool_ualink_dl_uart_credit_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_credit_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_uart_credit: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_credit_ual_msg_09(message_i))
  else $error("UAL-MSG-09 ualink.dl_uart_credit: a UART Credit message has the specified layout");
endmodule : scalepool_ualink_dl_uart_credit_sva

// ualink.dl_uart_reset_req: Asks to reset UART streams.
module scalepool_ualink_dl_uart_reset_req_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_reset_req_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_uart_reset_req: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_reset_req_ual_msg_10(message_i))
  else $error("UAL-MSG-10 ualink.dl_uart_reset_req: a UART Reset Request has the specified layout");
endmodule : scalepool_ualink_dl_uart_reset_req_sva

// ualink.dl_uart_reset_rsp: Answers a UART reset.
module scalepool_ualink_dl_uart_reset_rsp_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_reset_rsp_ual_msg_02(message_i))
  else $error("UAL-MSG-02 ualink.dl_uart_reset_rsp: a DL message has a specified class and type; a receiver ignores others");
  UAL_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dl_uart_reset_rsp_ual_msg_11(message_i))
  else $error("UAL-MSG-11 ualink.dl_uart_reset_rsp: a UART Reset Response has the specified layout");
endmodule : scalepool_ualink_dl_uart_reset_rsp_sva

// ualink.tl_req: Uncompressed request.
module scalepool_ualink_tl_req_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_req_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_req: a field has a specified type code");
  UAL_UPL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_req_ual_upl_02(message_i))
  else $error("UAL-UPL-02 ualink.tl_req: a UPLI command is a specified code; its bit 5 says that data follows");
endmodule : scalepool_ualink_tl_req_sva

// ualink.tl_rsp: Uncompressed response.
module scalepool_ualink_tl_rsp_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [63:0] message_i
);
  UAL_FLD_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_rsp_ual_fld_02(message_i))
  else $error("UAL-FLD-02 ualink.tl_rsp: an uncompressed response has the specified layout");
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_rsp_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_rsp: a field has a specified type code");
  UAL_UPL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_rsp_ual_upl_03(message_i))
  else $error("UAL-UPL-03 ualink.tl_rsp: the UPLI status is a specified code");
endmodule : scalepool_ualink_tl_rsp_sva

// ualink.tl_creq: Compressed request.
module scalepool_ualink_tl_creq_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [63:0] message_i
);
  UAL_FLD_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_creq_ual_fld_03(message_i))
  else $error("UAL-FLD-03 ualink.tl_creq: a compressed request has the specified layout");
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_creq_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_creq: a field has a specified type code");
endmodule : scalepool_ualink_tl_creq_sva

// ualink.tl_crsp_single: Compressed read response of one beat.
module scalepool_ualink_tl_crsp_single_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_FLD_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_crsp_single_ual_fld_04(message_i))
  else $error("UAL-FLD-04 ualink.tl_crsp_single: a compressed response of one beat has the specified layout");
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_crsp_single_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_crsp_single: a field has a specified type code");
endmodule : scalepool_ualink_tl_crsp_single_sva

// ualink.tl_crsp_multi: Compressed write response, or read response of all beats.
module scalepool_ualink_tl_crsp_multi_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_FLD_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_crsp_multi_ual_fld_05(message_i))
  else $error("UAL-FLD-05 ualink.tl_crsp_multi: a compressed response of all beats, or to a write, has the specified layout");
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_crsp_multi_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_crsp_multi: a field has a specified type code");
endmodule : scalepool_ualink_tl_crsp_multi_sva

// ualink.tl_fc: Returned credits; all zero: NOP.
module scalepool_ualink_tl_fc_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  UAL_TLF_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_tl_fc_ual_tlf_03(message_i))
  else $error("UAL-TLF-03 ualink.tl_fc: a field has a specified type code");
endmodule : scalepool_ualink_tl_fc_sva

// ualink.upli_req: Request channel, originator to completer.
module scalepool_ualink_upli_req_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [126:0] message_i
);
  UAL_UPL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_upli_req_ual_upl_02(message_i))
  else $error("UAL-UPL-02 ualink.upli_req: a UPLI command is a specified code; its bit 5 says that data follows");
endmodule : scalepool_ualink_upli_req_sva

// ualink.upli_rd_rsp: Read response and data channel, completer to originator, beside 512 bits of data.
module scalepool_ualink_upli_rd_rsp_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [54:0] message_i
);
  UAL_UPL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_upli_rd_rsp_ual_upl_03(message_i))
  else $error("UAL-UPL-03 ualink.upli_rd_rsp: the UPLI status is a specified code");
endmodule : scalepool_ualink_upli_rd_rsp_sva

// ualink.upli_wr_rsp: Write response channel, completer to originator.
module scalepool_ualink_upli_wr_rsp_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [41:0] message_i
);
  UAL_UPL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_upli_wr_rsp_ual_upl_03(message_i))
  else $error("UAL-UPL-03 ualink.upli_wr_rsp: the UPLI status is a specified code");
endmodule : scalepool_ualink_upli_wr_rsp_sva

// ualink.attr_atomic: ReqAttr of an atomic: operation and size of the operand. Operations are the vendor's own.
module scalepool_ualink_attr_atomic_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [7:0] message_i
);
  UAL_UPL_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_attr_atomic_ual_upl_04(message_i))
  else $error("UAL-UPL-04 ualink.attr_atomic: the attributes of reads and atomics hold specified codes");
endmodule : scalepool_ualink_attr_atomic_sva

// ualink.iv: Initialisation vector of AES-GCM; the cipher is left out. Which end is the counter's is our choice: the last bytes.
module scalepool_ualink_iv_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  UAL_SEC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_iv_ual_sec_01(message_i))
  else $error("UAL-SEC-01 ualink.iv: the initialisation vector has the specified layout; tags are opaque");
endmodule : scalepool_ualink_iv_sva

// Flits of ualink.
module scalepool_ualink_flit_sva
  import scalepool_ualink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [5119:0] unit_i
);
  logic [5119:0] u;
  assign u = unit_i;
  logic crc_ok;
  assign crc_ok = u[5119:5088] == crc32(u[5087:0]);
  UAL_CRC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_ual_crc_01(unit_i, crc_ok))
  else $error("UAL-CRC-01 ualink: the CRC is the CRC-32 of IEEE 802.3, bit 0 of byte 0 first");
  UAL_FLH_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_ual_flh_03(unit_i, crc_ok))
  else $error("UAL-FLH-03 ualink: op 00x marks an explicit header and op 01x a command; a flit with op 1xx, or a NOP marked as replayed, is dropped");
  UAL_FLH_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_ual_flh_04(unit_i, crc_ok))
  else $error("UAL-FLH-04 ualink: reserved bits of a flit header are sent as 0 and ignored by the receiver");
endmodule : scalepool_ualink_flit_sva
