// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_nvlink_rules_pkg;
  function automatic logic ok_header_nvl_hdr_01(input logic [127:0] m);
    return (m[21:20] == '0);
  endfunction

  function automatic logic ok_header_nvl_opc_01(input logic [127:0] m);
    return (m[102:97] inside {6'h0, 6'h1, 6'h2, 6'h3, 6'h4, 6'h5, 6'h6, 6'h7, 6'h8, 6'h10, 6'h11, 6'h12, 6'h3e, 6'h3f});
  endfunction

  function automatic logic ok_ae_nvl_hdr_02(input logic [127:0] m);
    return (m[63:0] == '0);
  endfunction

  function automatic logic [24:0] crc25(input logic [102:0] h);
    crc25[0] = ^(h & 103'h1de9129e438fdee9758eb54e33) ^ 1'b0;
    crc25[1] = ^(h & 103'h263b37a2c490633b9e93dfd255) ^ 1'b0;
    crc25[2] = ^(h & 103'h519f7ddbcaaf189e48a90aea99) ^ 1'b1;
    crc25[3] = ^(h & 103'h233efbb7955e313c915215d532) ^ 1'b0;
    crc25[4] = ^(h & 103'h467df76f2abc627922a42baa64) ^ 1'b1;
    crc25[5] = ^(h & 103'h1112fc4016f71a1b30c6e21afb) ^ 1'b1;
    crc25[6] = ^(h & 103'h2225f8802dee3436618dc435f6) ^ 1'b1;
    crc25[7] = ^(h & 103'h59a2e39e1853b685b6953d25df) ^ 1'b1;
    crc25[8] = ^(h & 103'h3345c73c30a76d0b6d2a7a4bbe) ^ 1'b0;
    crc25[9] = ^(h & 103'h668b8e78614eda16da54f4977c) ^ 1'b1;
    crc25[10] = ^(h & 103'h4d171cf0c29db42db4a9e92ef8) ^ 1'b1;
    crc25[11] = ^(h & 103'h1a2e39e1853b685b6953d25df0) ^ 1'b1;
    crc25[12] = ^(h & 103'h345c73c30a76d0b6d2a7a4bbe0) ^ 1'b0;
    crc25[13] = ^(h & 103'h7551f51857627f84d0c1fc39f3) ^ 1'b0;
    crc25[14] = ^(h & 103'h774af8aeed4b21e0d40d4d3dd5) ^ 1'b1;
    crc25[15] = ^(h & 103'h6e95f15dda9643c1a81a9a7baa) ^ 1'b1;
    crc25[16] = ^(h & 103'h5d2be2bbb52c8783503534f754) ^ 1'b0;
    crc25[17] = ^(h & 103'h27bed7e929d6d1efd5e4dca09b) ^ 1'b0;
    crc25[18] = ^(h & 103'h4f7dafd253ada3dfabc9b94136) ^ 1'b1;
    crc25[19] = ^(h & 103'h1efb5fa4a75b47bf579372826c) ^ 1'b0;
    crc25[20] = ^(h & 103'h3df6bf494eb68f7eaf26e504d8) ^ 1'b1;
    crc25[21] = ^(h & 103'h7bed7e929d6d1efd5e4dca09b0) ^ 1'b1;
    crc25[22] = ^(h & 103'h6a33efbb7955e313c915215d53) ^ 1'b0;
    crc25[23] = ^(h & 103'h498ecde8b12418cee7a4f7f495) ^ 1'b0;
    crc25[24] = ^(h & 103'hef4894f21c7ef74bac75aa719) ^ 1'b0;
  endfunction

  function automatic logic ok_flit_nvl_crc_01(input logic [127:0] u, input logic crc_ok, input logic good);
    return (crc_ok);
  endfunction

  function automatic logic ok_flit_nvl_hdr_01(input logic [127:0] u, input logic crc_ok, input logic good);
    return (!(good) || ok_header_nvl_hdr_01(u));
  endfunction

  function automatic logic ok_flit_nvl_opc_01(input logic [127:0] u, input logic crc_ok, input logic good);
    return (!(good) || ok_header_nvl_opc_01(u));
  endfunction

  function automatic logic ok_flit_nvl_opc_02(input logic [127:0] u, input logic crc_ok, input logic good);
    return (!(good && u[102:97] == 6'h1) || u[96:94] == 3'd0)
        && (!(good && u[102:97] == 6'h2) || u[96:94] == 3'd6)
        && (!(good && u[102:97] == 6'h3) || u[96:94] == 3'd0)
        && (!(good && u[102:97] == 6'h4) || u[96:94] == 3'd0)
        && (!(good && u[102:97] == 6'h5) || u[96:94] == 3'd6)
        && (!(good && u[102:97] == 6'h6) || u[96:94] == 3'd0)
        && (!(good && u[102:97] == 6'h7) || u[96:94] == 3'd6)
        && (!(good && u[102:97] == 6'h8) || u[96:94] == 3'd0)
        && (!(good && u[102:97] == 6'h10) || u[96:94] == 3'd5)
        && (!(good && u[102:97] == 6'h11) || u[96:94] == 3'd5)
        && (!(good && u[102:97] == 6'h12) || u[96:94] == 3'd5);
  endfunction

  function automatic logic ok_flit_nvl_pkt_01(input logic [127:0] u, input logic crc_ok, input logic good);
    return (!good || u[19:15] < 5'd18);
  endfunction

endpackage : scalepool_nvlink_rules_pkg

// nvlink.header: Header flit of an NVL-M1 packet: CRC, transaction part (bits 102 to 20), link part (19 to 0). Model, no product.
module scalepool_nvlink_header_sva
  import scalepool_nvlink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  NVL_HDR_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_header_nvl_hdr_01(message_i))
  else $error("NVL-HDR-01 nvlink.header: a header flit has the specified layout of 25 + 83 + 20 bits");
  NVL_OPC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_header_nvl_opc_01(message_i))
  else $error("NVL-OPC-01 nvlink.header: a packet has a specified operation code");
endmodule : scalepool_nvlink_header_sva

// nvlink.ae: Address extension: sent when it differs from the last one of the channel. Model, no product.
module scalepool_nvlink_ae_sva
  import scalepool_nvlink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  NVL_HDR_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ae_nvl_hdr_02(message_i))
  else $error("NVL-HDR-02 nvlink.ae: AE and BE flits have the specified layouts");
endmodule : scalepool_nvlink_ae_sva

// Flits of nvlink.
module scalepool_nvlink_flit_sva
  import scalepool_nvlink_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] unit_i,
    input logic fresh_i
);
  logic [127:0] u;
  assign u = unit_i;
  logic fresh;
  assign fresh = fresh_i;
  logic crc_ok;
  assign crc_ok = !fresh || u[127:103] == crc25(u[102:0]);
  logic good;
  assign good = fresh && crc_ok;
  NVL_CRC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_nvl_crc_01(unit_i, crc_ok, good))
  else $error("NVL-CRC-01 nvlink: the CRC-25 has the specified definition and place");
  NVL_HDR_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_nvl_hdr_01(unit_i, crc_ok, good))
  else $error("NVL-HDR-01 nvlink: a header flit has the specified layout of 25 + 83 + 20 bits");
  NVL_OPC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_nvl_opc_01(unit_i, crc_ok, good))
  else $error("NVL-OPC-01 nvlink: a packet has a specified operation code");
  NVL_OPC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_nvl_opc_02(unit_i, crc_ok, good))
  else $error("NVL-OPC-02 nvlink: each operation is sent on its own channel");
  NVL_PKT_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_nvl_pkt_01(unit_i, crc_ok, good))
  else $error("NVL-PKT-01 nvlink: a packet has 1 to 18 flits: header, AE, BE, 0 to 16 of data");
endmodule : scalepool_nvlink_flit_sva
