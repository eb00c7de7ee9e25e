// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_cxlio_rules_pkg;
  function automatic logic ok_nfm_mem32_cxlio_nfm_01(input logic [95:0] m);
    return (m[81] == '0);
  endfunction

  function automatic logic ok_nfm_mem64_cxlio_nfm_01(input logic [127:0] m);
    return (m[113] == '0);
  endfunction

  function automatic logic ok_nfm_cfg_cxlio_nfm_03(input logic [95:0] m);
    return (m[1:0] == '0)
        && (m[15:12] == '0)
        && (m[81] == '0);
  endfunction

  function automatic logic ok_nfm_cpl_cxlio_nfm_03(input logic [95:0] m);
    return (m[7] == '0)
        && (m[81] == '0);
  endfunction

  function automatic logic ok_nfm_cpl_cxlio_nfm_05(input logic [95:0] m);
    return (m[47:45] inside {3'h0, 3'h1, 3'h2, 3'h4});
  endfunction

  function automatic logic ok_nfm_msg_cxlio_nfm_01(input logic [127:0] m);
    return (m[113] == '0);
  endfunction

  function automatic logic ok_dllp_ack_nak_cxlio_dll_01(input logic [31:0] m);
    return (m[31:24] inside {8'h0, 8'h1, 8'h2, 8'h10, 8'h20, 8'h21, 8'h23, 8'h24, 8'h30, 8'h31});
  endfunction

  function automatic logic ok_dllp_ack_nak_cxlio_dll_05(input logic [31:0] m);
    return (m[23:12] == '0);
  endfunction

  function automatic logic ok_dllp_feature_cxlio_dll_01(input logic [31:0] m);
    return (m[31:24] inside {8'h0, 8'h1, 8'h2, 8'h10, 8'h20, 8'h21, 8'h23, 8'h24, 8'h30, 8'h31});
  endfunction

  function automatic logic ok_dllp_fc_cxlio_dll_01(input logic [31:0] m);
    return (m[31:28] inside {4'h4, 4'h5, 4'h6, 4'h8, 4'h9, 4'ha, 4'hc, 4'hd, 4'he});
  endfunction

  function automatic logic ok_dllp_flit_marker_cxlio_dll_07(input logic [31:0] m);
    return (m[27:0] == '0)
        && (m[30:29] inside {2'h0, 2'h1, 2'h2});
  endfunction

  function automatic logic ok_fm_mem32_cxlio_fmt_03(input logic [95:0] m);
    return (m[95:88] inside {8'h0, 8'h1, 8'h2, 8'h3, 8'h4, 8'h5, 8'ha, 8'hb, 8'hc, 8'hd, 8'h20, 8'h21, 8'h22, 8'h30, 8'h31, 8'h32, 8'h33, 8'h34, 8'h35, 8'h40, 8'h42, 8'h44, 8'h45, 8'h48, 8'h4a, 8'h4b, 8'h4c, 8'h4d, 8'h4e, 8'h5b, 8'h60, 8'h61, 8'h6c, 8'h6d, 8'h6e, 8'h70, 8'h71, 8'h72, 8'h73, 8'h74, 8'h75, 8'h7b, 8'h8d, 8'h8e, 8'h8f});
  endfunction

  function automatic logic ok_fm_mem32_cxlio_fmt_06(input logic [95:0] m);
    return (m[46] == '0);
  endfunction

  function automatic logic ok_fm_mem64_cxlio_fmt_03(input logic [127:0] m);
    return (m[127:120] inside {8'h0, 8'h1, 8'h2, 8'h3, 8'h4, 8'h5, 8'ha, 8'hb, 8'hc, 8'hd, 8'h20, 8'h21, 8'h22, 8'h30, 8'h31, 8'h32, 8'h33, 8'h34, 8'h35, 8'h40, 8'h42, 8'h44, 8'h45, 8'h48, 8'h4a, 8'h4b, 8'h4c, 8'h4d, 8'h4e, 8'h5b, 8'h60, 8'h61, 8'h6c, 8'h6d, 8'h6e, 8'h70, 8'h71, 8'h72, 8'h73, 8'h74, 8'h75, 8'h7b, 8'h8d, 8'h8e, 8'h8f});
  endfunction

  function automatic logic ok_fm_mem64_cxlio_fmt_06(input logic [127:0] m);
    return (m[78] == '0);
  endfunction

  function automatic logic ok_fm_cfg_cxlio_fmt_03(input logic [95:0] m);
    return (m[95:88] inside {8'h0, 8'h1, 8'h2, 8'h3, 8'h4, 8'h5, 8'ha, 8'hb, 8'hc, 8'hd, 8'h20, 8'h21, 8'h22, 8'h30, 8'h31, 8'h32, 8'h33, 8'h34, 8'h35, 8'h40, 8'h42, 8'h44, 8'h45, 8'h48, 8'h4a, 8'h4b, 8'h4c, 8'h4d, 8'h4e, 8'h5b, 8'h60, 8'h61, 8'h6c, 8'h6d, 8'h6e, 8'h70, 8'h71, 8'h72, 8'h73, 8'h74, 8'h75, 8'h7b, 8'h8d, 8'h8e, 8'h8f});
  endfunction

  function automatic logic ok_fm_cfg_cxlio_fmt_06(input logic [95:0] m);
    return (m[1:0] == '0)
        && (m[15:12] == '0)
        && (m[46] == '0);
  endfunction

  function automatic logic ok_fm_cpl_cxlio_fmt_03(input logic [95:0] m);
    return (m[95:88] inside {8'h0, 8'h1, 8'h2, 8'h3, 8'h4, 8'h5, 8'ha, 8'hb, 8'hc, 8'hd, 8'h20, 8'h21, 8'h22, 8'h30, 8'h31, 8'h32, 8'h33, 8'h34, 8'h35, 8'h40, 8'h42, 8'h44, 8'h45, 8'h48, 8'h4a, 8'h4b, 8'h4c, 8'h4d, 8'h4e, 8'h5b, 8'h60, 8'h61, 8'h6c, 8'h6d, 8'h6e, 8'h70, 8'h71, 8'h72, 8'h73, 8'h74, 8'h75, 8'h7b, 8'h8d, 8'h8e, 8'h8f});
  endfunction

  function automatic logic ok_fm_msg_cxlio_fmt_03(input logic [127:0] m);
    return (m[127:120] inside {8'h0, 8'h1, 8'h2, 8'h3, 8'h4, 8'h5, 8'ha, 8'hb, 8'hc, 8'hd, 8'h20, 8'h21, 8'h22, 8'h30, 8'h31, 8'h32, 8'h33, 8'h34, 8'h35, 8'h40, 8'h42, 8'h44, 8'h45, 8'h48, 8'h4a, 8'h4b, 8'h4c, 8'h4d, 8'h4e, 8'h5b, 8'h60, 8'h61, 8'h6c, 8'h6d, 8'h6e, 8'h70, 8'h71, 8'h72, 8'h73, 8'h74, 8'h75, 8'h7b, 8'h8d, 8'h8e, 8'h8f});
  endfunction

  function automatic logic ok_fm_msg_cxlio_fmt_06(input logic [127:0] m);
    return (m[78:72] == '0);
  endfunction

  function automatic logic ok_ohc_a2_cxlio_fmt_07(input logic [31:0] m);
    return (m[31:8] == '0);
  endfunction

  function automatic logic ok_ohc_a3_cxlio_fmt_07(input logic [31:0] m);
    return (m[14:8] == '0)
        && (m[23:16] == '0);
  endfunction

  function automatic logic ok_ohc_a5_cxlio_fmt_07(input logic [31:0] m);
    return (m[14:5] == '0);
  endfunction

  function automatic logic ok_ohc_a5_cxlio_nfm_05(input logic [31:0] m);
    return (m[2:0] inside {3'h0, 3'h1, 3'h2, 3'h4});
  endfunction

  function automatic logic ok_ohc_c_cxlio_fmt_07(input logic [31:0] m);
    return (m[3:2] == '0);
  endfunction

  function automatic logic ok_pth_cxlio_pth_01(input logic [31:0] m);
    return (m[29:27] == '0);
  endfunction

endpackage : scalepool_cxlio_rules_pkg

// cxlio.nfm_mem32: Memory request with a 32-bit address, or I/O request, non-flit mode.
module scalepool_cxlio_nfm_mem32_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_NFM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_mem32_cxlio_nfm_01(message_i))
  else $error("CXLIO-NFM-01 cxlio.nfm_mem32: DW0 of a non-flit-mode TLP has the specified layout");
endmodule : scalepool_cxlio_nfm_mem32_sva

// cxlio.nfm_mem64: Memory request with a 64-bit address, non-flit mode.
module scalepool_cxlio_nfm_mem64_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXLIO_NFM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_mem64_cxlio_nfm_01(message_i))
  else $error("CXLIO-NFM-01 cxlio.nfm_mem64: DW0 of a non-flit-mode TLP has the specified layout");
endmodule : scalepool_cxlio_nfm_mem64_sva

// cxlio.nfm_cfg: Configuration request, non-flit mode.
module scalepool_cxlio_nfm_cfg_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_NFM_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_cfg_cxlio_nfm_03(message_i))
  else $error("CXLIO-NFM-03 cxlio.nfm_cfg: memory, configuration, completion and message headers have the specified layouts, non-flit mode");
endmodule : scalepool_cxlio_nfm_cfg_sva

// cxlio.nfm_cpl: Completion, non-flit mode.
module scalepool_cxlio_nfm_cpl_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_NFM_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_cpl_cxlio_nfm_03(message_i))
  else $error("CXLIO-NFM-03 cxlio.nfm_cpl: memory, configuration, completion and message headers have the specified layouts, non-flit mode");
  CXLIO_NFM_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_cpl_cxlio_nfm_05(message_i))
  else $error("CXLIO-NFM-05 cxlio.nfm_cpl: a completion carries a specified status code");
endmodule : scalepool_cxlio_nfm_cpl_sva

// cxlio.nfm_msg: Message, non-flit mode.
module scalepool_cxlio_nfm_msg_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXLIO_NFM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_nfm_msg_cxlio_nfm_01(message_i))
  else $error("CXLIO-NFM-01 cxlio.nfm_msg: DW0 of a non-flit-mode TLP has the specified layout");
endmodule : scalepool_cxlio_nfm_msg_sva

// cxlio.dllp_ack_nak: Ack or Nak; not used in 256B mode, where the flit header has them.
module scalepool_cxlio_dllp_ack_nak_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_DLL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dllp_ack_nak_cxlio_dll_01(message_i))
  else $error("CXLIO-DLL-01 cxlio.dllp_ack_nak: a DLLP has a specified type code");
  CXLIO_DLL_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dllp_ack_nak_cxlio_dll_05(message_i))
  else $error("CXLIO-DLL-05 cxlio.dllp_ack_nak: in flit mode a DLLP has 4 bytes and no CRC-16");
endmodule : scalepool_cxlio_dllp_ack_nak_sva

// cxlio.dllp_feature: Data link features.
module scalepool_cxlio_dllp_feature_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_DLL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dllp_feature_cxlio_dll_01(message_i))
  else $error("CXLIO-DLL-01 cxlio.dllp_feature: a DLLP has a specified type code");
endmodule : scalepool_cxlio_dllp_feature_sva

// cxlio.dllp_fc: InitFC1, InitFC2 or UpdateFC of one credit type.
module scalepool_cxlio_dllp_fc_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_DLL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dllp_fc_cxlio_dll_01(message_i))
  else $error("CXLIO-DLL-01 cxlio.dllp_fc: a DLLP has a specified type code");
endmodule : scalepool_cxlio_dllp_fc_sva

// cxlio.dllp_flit_marker: Marker of a flit whose header bit 4 is set.
module scalepool_cxlio_dllp_flit_marker_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_DLL_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_dllp_flit_marker_cxlio_dll_07(message_i))
  else $error("CXLIO-DLL-07 cxlio.dllp_flit_marker: Optimized_Update_FC and Flit_Marker have the specified layouts");
endmodule : scalepool_cxlio_dllp_flit_marker_sva

// cxlio.fm_mem32: Memory request with a 32-bit address, or I/O request, flit mode.
module scalepool_cxlio_fm_mem32_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_FMT_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_mem32_cxlio_fmt_03(message_i))
  else $error("CXLIO-FMT-03 cxlio.fm_mem32: a flit-mode TLP has a specified type code");
  CXLIO_FMT_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_mem32_cxlio_fmt_06(message_i))
  else $error("CXLIO-FMT-06 cxlio.fm_mem32: flit-mode base headers have the specified layouts");
endmodule : scalepool_cxlio_fm_mem32_sva

// cxlio.fm_mem64: Memory request with a 64-bit address, flit mode.
module scalepool_cxlio_fm_mem64_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXLIO_FMT_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_mem64_cxlio_fmt_03(message_i))
  else $error("CXLIO-FMT-03 cxlio.fm_mem64: a flit-mode TLP has a specified type code");
  CXLIO_FMT_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_mem64_cxlio_fmt_06(message_i))
  else $error("CXLIO-FMT-06 cxlio.fm_mem64: flit-mode base headers have the specified layouts");
endmodule : scalepool_cxlio_fm_mem64_sva

// cxlio.fm_cfg: Configuration request, flit mode.
module scalepool_cxlio_fm_cfg_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_FMT_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_cfg_cxlio_fmt_03(message_i))
  else $error("CXLIO-FMT-03 cxlio.fm_cfg: a flit-mode TLP has a specified type code");
  CXLIO_FMT_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_cfg_cxlio_fmt_06(message_i))
  else $error("CXLIO-FMT-06 cxlio.fm_cfg: flit-mode base headers have the specified layouts");
endmodule : scalepool_cxlio_fm_cfg_sva

// cxlio.fm_cpl: Completion, flit mode.
module scalepool_cxlio_fm_cpl_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXLIO_FMT_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_cpl_cxlio_fmt_03(message_i))
  else $error("CXLIO-FMT-03 cxlio.fm_cpl: a flit-mode TLP has a specified type code");
endmodule : scalepool_cxlio_fm_cpl_sva

// cxlio.fm_msg: Message, flit mode.
module scalepool_cxlio_fm_msg_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXLIO_FMT_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_msg_cxlio_fmt_03(message_i))
  else $error("CXLIO-FMT-03 cxlio.fm_msg: a flit-mode TLP has a specified type code");
  CXLIO_FMT_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_fm_msg_cxlio_fmt_06(message_i))
  else $error("CXLIO-FMT-06 cxlio.fm_msg: flit-mode base headers have the specified layouts");
endmodule : scalepool_cxlio_fm_msg_sva

// cxlio.ohc_a2: OHC-A of I/O requests: byte enables.
module scalepool_cxlio_ohc_a2_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_FMT_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ohc_a2_cxlio_fmt_07(message_i))
  else $error("CXLIO-FMT-07 cxlio.ohc_a2: OHC words have the specified layouts");
endmodule : scalepool_cxlio_ohc_a2_sva

// cxlio.ohc_a3: OHC-A of configuration requests: segment and byte enables.
module scalepool_cxlio_ohc_a3_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_FMT_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ohc_a3_cxlio_fmt_07(message_i))
  else $error("CXLIO-FMT-07 cxlio.ohc_a3: OHC words have the specified layouts");
endmodule : scalepool_cxlio_ohc_a3_sva

// cxlio.ohc_a5: OHC-A of completions: segments, low address bits, status.
module scalepool_cxlio_ohc_a5_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_FMT_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ohc_a5_cxlio_fmt_07(message_i))
  else $error("CXLIO-FMT-07 cxlio.ohc_a5: OHC words have the specified layouts");
  CXLIO_NFM_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ohc_a5_cxlio_nfm_05(message_i))
  else $error("CXLIO-NFM-05 cxlio.ohc_a5: a completion carries a specified status code");
endmodule : scalepool_cxlio_ohc_a5_sva

// cxlio.ohc_c: OHC-C: requester segment and IDE.
module scalepool_cxlio_ohc_c_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_FMT_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ohc_c_cxlio_fmt_07(message_i))
  else $error("CXLIO-FMT-07 cxlio.ohc_c: OHC words have the specified layouts");
endmodule : scalepool_cxlio_ohc_c_sva

// cxlio.pth: PBR header: one DW before the header base of every TLP but NOP on a PBR link.
module scalepool_cxlio_pth_sva
  import scalepool_cxlio_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXLIO_PTH_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_pth_cxlio_pth_01(message_i))
  else $error("CXLIO-PTH-01 cxlio.pth: the PBR TLP header has the specified layout");
endmodule : scalepool_cxlio_pth_sva
