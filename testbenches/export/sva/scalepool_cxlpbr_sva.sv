// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_cxlpbr_rules_pkg;
  function automatic logic ok_h2d_req_cxl256_enc_03(input logic [91:0] m);
    return (!m[0] || m[3:1] inside {3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_h2d_req_cxlpbr_msg_01(input logic [91:0] m);
    return (m[91:86] == '0);
  endfunction

  function automatic logic ok_h2d_rsp_cxl256_enc_04(input logic [47:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hd, 4'hf});
  endfunction

  function automatic logic ok_h2d_rsp_cxl256_enc_05(input logic [47:0] m);
    return (!m[0] || m[18:17] inside {2'h0, 2'h1, 2'h2});
  endfunction

  function automatic logic ok_h2d_rsp_cxlpbr_msg_02(input logic [47:0] m);
    return (m[47:43] == '0);
  endfunction

  function automatic logic ok_h2d_data_cxlpbr_msg_03(input logic [35:0] m);
    return (m[35:27] == '0);
  endfunction

  function automatic logic ok_d2h_req_cxl256_enc_01(input logic [95:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10});
  endfunction

  function automatic logic ok_d2h_req_cxlpbr_msg_04(input logic [95:0] m);
    return (m[95:89] == '0);
  endfunction

  function automatic logic ok_d2h_rsp_cxl256_enc_02(input logic [35:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16});
  endfunction

  function automatic logic ok_d2h_rsp_cxlpbr_msg_05(input logic [35:0] m);
    return (m[35:30] == '0);
  endfunction

  function automatic logic ok_d2h_data_cxlpbr_msg_06(input logic [35:0] m);
    return (m[35:28] == '0);
  endfunction

  function automatic logic ok_m2s_req_cxl256_enc_11(input logic [119:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3})
        && (!m[0] || m[9:8] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_m2s_req_cxlpbr_msg_07(input logic [119:0] m);
    return (m[117:111] == '0);
  endfunction

  function automatic logic ok_m2s_rwd_cxl256_enc_07(input logic [123:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h2, 4'h4, 4'h5, 4'h9, 4'ha, 4'hd});
  endfunction

  function automatic logic ok_m2s_rwd_cxl256_enc_11(input logic [123:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3})
        && (!m[0] || m[9:8] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_m2s_rwd_cxlpbr_msg_08(input logic [123:0] m);
    return (m[121:113] == '0);
  endfunction

  function automatic logic ok_m2s_birsp_cxl256_enc_09(input logic [51:0] m);
    return (!m[0] || m[4:1] inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6});
  endfunction

  function automatic logic ok_m2s_birsp_cxlpbr_msg_09(input logic [51:0] m);
    return (m[51:43] == '0);
  endfunction

  function automatic logic ok_s2m_bisnp_cxl256_enc_09(input logic [95:0] m);
    return (!m[0] || m[4:1] inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6, 4'h8, 4'h9, 4'ha, 4'hc, 4'hd, 4'he});
  endfunction

  function automatic logic ok_s2m_bisnp_cxlpbr_msg_10(input logic [95:0] m);
    return (m[95:87] == '0);
  endfunction

  function automatic logic ok_s2m_ndr_cxl256_enc_11(input logic [47:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_s2m_ndr_cxlpbr_msg_11(input logic [47:0] m);
    return (m[47:38] == '0);
  endfunction

  function automatic logic ok_s2m_drs_cxl256_enc_10(input logic [47:0] m);
    return (!m[0] || m[3:1] inside {3'h0, 3'h1, 3'h2});
  endfunction

  function automatic logic ok_s2m_drs_cxl256_enc_11(input logic [47:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_s2m_drs_cxlpbr_msg_12(input logic [47:0] m);
    return (m[47:40] == '0);
  endfunction

  function automatic logic [7:0] gf_mul(input logic [7:0] a, input logic [7:0] b);
    gf_mul = '0;
    for (int i = 7; i >= 0; i--)
      gf_mul = {gf_mul[6:0], 1'b0} ^ (gf_mul[7] ? 8'h2b : 8'h0) ^ (b[i] ? a : 8'h0);
  endfunction

  function automatic logic [63:0] crc8b(input logic [1935:0] d);
    logic [63:0] g;
    logic [7:0] f;
    g = 64'hd568fed533414d69;
    crc8b = '0;
    for (int i = 0; i < 242; i++) begin
      f = d[8*i +: 8] ^ crc8b[63-:8];
      crc8b = {crc8b[55:0], 8'h0};
      for (int j = 0; j < 8; j++) crc8b[8*j +: 8] = crc8b[8*j +: 8] ^ gf_mul(f, g[8*j +: 8]);
    end
  endfunction

  function automatic logic [47:0] crc6b(input logic [1039:0] d);
    logic [47:0] g;
    logic [7:0] f;
    g = 48'h7e47ab1aa832;
    crc6b = '0;
    for (int i = 0; i < 130; i++) begin
      f = d[8*i +: 8] ^ crc6b[47-:8];
      crc6b = {crc6b[39:0], 8'h0};
      for (int j = 0; j < 6; j++) crc6b[8*j +: 8] = crc6b[8*j +: 8] ^ gf_mul(f, g[8*j +: 8]);
    end
  endfunction

  function automatic logic ok_flit_cxl256_crc_01(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (crc_ok);
  endfunction

  function automatic logic ok_flit_cxl256_enc_01(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxl256_enc_01(u[115:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_02(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxl256_enc_02(u[55:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[56]) || ok_d2h_rsp_cxl256_enc_02(u[91:56]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxl256_enc_02(u[127:92]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxl256_enc_03(u[111:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_04(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_04(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[68]) || ok_h2d_rsp_cxl256_enc_04(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_05(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_05(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[68]) || ok_h2d_rsp_cxl256_enc_05(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_07(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_07({16'h0, u[127:20]}));
  endfunction

  function automatic logic ok_flit_cxl256_enc_09(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxl256_enc_09(u[71:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[72]) || ok_m2s_birsp_cxl256_enc_09(u[123:72]))
        && (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxl256_enc_09(u[115:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_10(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_10(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[68]) || ok_s2m_drs_cxl256_enc_10(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_11(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd4 && u[20]) || ok_m2s_req_cxl256_enc_11({12'h0, u[127:20]}))
        && (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxl256_enc_11(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[68]) || ok_s2m_ndr_cxl256_enc_11(u[115:68]))
        && (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_11({16'h0, u[127:20]}))
        && (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_11(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[68]) || ok_s2m_drs_cxl256_enc_11(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxl256_hdr_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!good || u[7:6] == 2'd1 || !u[4]);
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_01(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxlpbr_msg_01(u[111:20]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_02(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxlpbr_msg_02(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[68]) || ok_h2d_rsp_cxlpbr_msg_02(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd12 && u[20]) || ok_h2d_data_cxlpbr_msg_03(u[55:20]))
        && (!(cachemem && u[19:16] == 4'd12 && u[56]) || ok_h2d_data_cxlpbr_msg_03(u[91:56]))
        && (!(cachemem && u[19:16] == 4'd12 && u[92]) || ok_h2d_data_cxlpbr_msg_03(u[127:92]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_04(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxlpbr_msg_04(u[115:20]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_05(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxlpbr_msg_05(u[55:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[56]) || ok_d2h_rsp_cxlpbr_msg_05(u[91:56]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxlpbr_msg_05(u[127:92]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_06(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd13 && u[20]) || ok_d2h_data_cxlpbr_msg_06(u[55:20]))
        && (!(cachemem && u[19:16] == 4'd13 && u[56]) || ok_d2h_data_cxlpbr_msg_06(u[91:56]))
        && (!(cachemem && u[19:16] == 4'd13 && u[92]) || ok_d2h_data_cxlpbr_msg_06(u[127:92]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_09(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxlpbr_msg_09(u[71:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[72]) || ok_m2s_birsp_cxlpbr_msg_09(u[123:72]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_10(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxlpbr_msg_10(u[115:20]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_11(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxlpbr_msg_11(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[68]) || ok_s2m_ndr_cxlpbr_msg_11(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxlpbr_msg_12(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxlpbr_msg_12(u[67:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[68]) || ok_s2m_drs_cxlpbr_msg_12(u[115:68]));
  endfunction

  function automatic logic ok_flit_cxlpbr_slt_01(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!cachemem || u[19:16] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5, 4'h6, 4'h7, 4'h8, 4'hc, 4'hd, 4'he, 4'hf});
  endfunction

endpackage : scalepool_cxlpbr_rules_pkg

// cxlpbr.h2d_req: CXL.cache snoop, host to device.
module scalepool_cxlpbr_h2d_req_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [91:0] message_i
);
  CXL256_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxl256_enc_03(message_i))
  else $error("CXL256-ENC-03 cxlpbr.h2d_req: an H2D Req carries a specified opcode");
  CXLPBR_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxlpbr_msg_01(message_i))
  else $error("CXLPBR-MSG-01 cxlpbr.h2d_req: an H2D Req with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_h2d_req_sva

// cxlpbr.h2d_rsp: CXL.cache answer, host to device.
module scalepool_cxlpbr_h2d_rsp_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [47:0] message_i
);
  CXL256_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl256_enc_04(message_i))
  else $error("CXL256-ENC-04 cxlpbr.h2d_rsp: an H2D Rsp carries a specified opcode; code 12 is reserved unless Fast_GO is enabled");
  CXL256_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl256_enc_05(message_i))
  else $error("CXL256-ENC-05 cxlpbr.h2d_rsp: a GO carries a specified cache state, and RSP_PRE a specified code");
  CXLPBR_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxlpbr_msg_02(message_i))
  else $error("CXLPBR-MSG-02 cxlpbr.h2d_rsp: an H2D Rsp with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_h2d_rsp_sva

// cxlpbr.h2d_data: Header of CXL.cache data, host to device.
module scalepool_cxlpbr_h2d_data_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [35:0] message_i
);
  CXLPBR_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_data_cxlpbr_msg_03(message_i))
  else $error("CXLPBR-MSG-03 cxlpbr.h2d_data: an H2D data header with PBR IDs has the specified layout (confidence B)");
endmodule : scalepool_cxlpbr_h2d_data_sva

// cxlpbr.d2h_req: CXL.cache request, device to host.
module scalepool_cxlpbr_d2h_req_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXL256_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxl256_enc_01(message_i))
  else $error("CXL256-ENC-01 cxlpbr.d2h_req: a D2H Req carries a specified opcode");
  CXLPBR_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxlpbr_msg_04(message_i))
  else $error("CXLPBR-MSG-04 cxlpbr.d2h_req: a D2H Req with PBR IDs has the specified layout (confidence B)");
endmodule : scalepool_cxlpbr_d2h_req_sva

// cxlpbr.d2h_rsp: CXL.cache snoop answer, device to host.
module scalepool_cxlpbr_d2h_rsp_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [35:0] message_i
);
  CXL256_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxl256_enc_02(message_i))
  else $error("CXL256-ENC-02 cxlpbr.d2h_rsp: a D2H Rsp carries a specified opcode");
  CXLPBR_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxlpbr_msg_05(message_i))
  else $error("CXLPBR-MSG-05 cxlpbr.d2h_rsp: a D2H Rsp with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_d2h_rsp_sva

// cxlpbr.d2h_data: Header of CXL.cache data, device to host.
module scalepool_cxlpbr_d2h_data_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [35:0] message_i
);
  CXLPBR_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_data_cxlpbr_msg_06(message_i))
  else $error("CXLPBR-MSG-06 cxlpbr.d2h_data: a D2H data header with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_d2h_data_sva

// cxlpbr.m2s_req: CXL.mem request without data, host to device.
module scalepool_cxlpbr_m2s_req_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [119:0] message_i
);
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxlpbr.m2s_req: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXLPBR_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxlpbr_msg_07(message_i))
  else $error("CXLPBR-MSG-07 cxlpbr.m2s_req: an M2S Req with PBR IDs has the specified layout (confidence B/C)");
endmodule : scalepool_cxlpbr_m2s_req_sva

// cxlpbr.m2s_rwd: Header of a CXL.mem request with data, host to device.
module scalepool_cxlpbr_m2s_rwd_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [123:0] message_i
);
  CXL256_ENC_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl256_enc_07(message_i))
  else $error("CXL256-ENC-07 cxlpbr.m2s_rwd: an M2S RwD carries a specified opcode");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxlpbr.m2s_rwd: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXLPBR_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxlpbr_msg_08(message_i))
  else $error("CXLPBR-MSG-08 cxlpbr.m2s_rwd: an M2S RwD header with PBR IDs has the specified layout (confidence B)");
endmodule : scalepool_cxlpbr_m2s_rwd_sva

// cxlpbr.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
module scalepool_cxlpbr_m2s_birsp_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [51:0] message_i
);
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_birsp_cxl256_enc_09(message_i))
  else $error("CXL256-ENC-09 cxlpbr.m2s_birsp: BISnp and BIRsp carry specified opcodes");
  CXLPBR_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_birsp_cxlpbr_msg_09(message_i))
  else $error("CXLPBR-MSG-09 cxlpbr.m2s_birsp: an M2S BIRsp with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_m2s_birsp_sva

// cxlpbr.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
module scalepool_cxlpbr_s2m_bisnp_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [95:0] message_i
);
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_bisnp_cxl256_enc_09(message_i))
  else $error("CXL256-ENC-09 cxlpbr.s2m_bisnp: BISnp and BIRsp carry specified opcodes");
  CXLPBR_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_bisnp_cxlpbr_msg_10(message_i))
  else $error("CXLPBR-MSG-10 cxlpbr.s2m_bisnp: an S2M BISnp with PBR IDs has the specified layout (confidence B)");
endmodule : scalepool_cxlpbr_s2m_bisnp_sva

// cxlpbr.s2m_ndr: CXL.mem answer without data, device to host.
module scalepool_cxlpbr_s2m_ndr_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [47:0] message_i
);
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxlpbr.s2m_ndr: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXLPBR_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxlpbr_msg_11(message_i))
  else $error("CXLPBR-MSG-11 cxlpbr.s2m_ndr: an S2M NDR with PBR IDs has the specified layout (confidence C)");
endmodule : scalepool_cxlpbr_s2m_ndr_sva

// cxlpbr.s2m_drs: Header of a CXL.mem answer with data, device to host.
module scalepool_cxlpbr_s2m_drs_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [47:0] message_i
);
  CXL256_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl256_enc_10(message_i))
  else $error("CXL256-ENC-10 cxlpbr.s2m_drs: NDR and DRS carry specified opcodes");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxlpbr.s2m_drs: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXLPBR_MSG_12: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxlpbr_msg_12(message_i))
  else $error("CXLPBR-MSG-12 cxlpbr.s2m_drs: an S2M DRS header with PBR IDs has the specified layout (confidence A)");
endmodule : scalepool_cxlpbr_s2m_drs_sva

// Flits of cxl-256b-pbr.
module scalepool_cxlpbr_flit_sva
  import scalepool_cxlpbr_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [2047:0] unit_i
);
  logic [2047:0] u;
  assign u = unit_i;
  logic crc_ok;
  assign crc_ok = u[1999:1936] == crc8b(u[1935:0]);
  logic good;
  assign good = crc_ok;
  logic cachemem;
  assign cachemem = good && u[7:6] == 2'd2;
  CXL256_CRC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_crc_01(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-CRC-01 cxl-256b-pbr: the 8-byte CRC covers bytes 0 to 241");
  CXL256_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_01(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-01 cxl-256b-pbr: a D2H Req carries a specified opcode");
  CXL256_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_02(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-02 cxl-256b-pbr: a D2H Rsp carries a specified opcode");
  CXL256_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_03(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-03 cxl-256b-pbr: an H2D Req carries a specified opcode");
  CXL256_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_04(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-04 cxl-256b-pbr: an H2D Rsp carries a specified opcode; code 12 is reserved unless Fast_GO is enabled");
  CXL256_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_05(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-05 cxl-256b-pbr: a GO carries a specified cache state, and RSP_PRE a specified code");
  CXL256_ENC_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_07(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-07 cxl-256b-pbr: an M2S RwD carries a specified opcode");
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_09(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-09 cxl-256b-pbr: BISnp and BIRsp carry specified opcodes");
  CXL256_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_10(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-10 cxl-256b-pbr: NDR and DRS carry specified opcodes");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_11(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-11 cxl-256b-pbr: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_HDR_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_hdr_03(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-HDR-03 cxl-256b-pbr: the DLLP type bit is 0 in every flit but a CXL.io flit");
  CXLPBR_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_01(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-01 cxl-256b-pbr: an H2D Req with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_02(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-02 cxl-256b-pbr: an H2D Rsp with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_03(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-03 cxl-256b-pbr: an H2D data header with PBR IDs has the specified layout (confidence B)");
  CXLPBR_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_04(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-04 cxl-256b-pbr: a D2H Req with PBR IDs has the specified layout (confidence B)");
  CXLPBR_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_05(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-05 cxl-256b-pbr: a D2H Rsp with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_06(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-06 cxl-256b-pbr: a D2H data header with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_09(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-09 cxl-256b-pbr: an M2S BIRsp with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_10(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-10 cxl-256b-pbr: an S2M BISnp with PBR IDs has the specified layout (confidence B)");
  CXLPBR_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_11(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-11 cxl-256b-pbr: an S2M NDR with PBR IDs has the specified layout (confidence C)");
  CXLPBR_MSG_12: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_msg_12(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-MSG-12 cxl-256b-pbr: an S2M DRS header with PBR IDs has the specified layout (confidence A)");
  CXLPBR_SLT_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxlpbr_slt_01(unit_i, crc_ok, good, cachemem))
  else $error("CXLPBR-SLT-01 cxl-256b-pbr: slots of a PBR link have the specified layouts and format codes");
endmodule : scalepool_cxlpbr_flit_sva
