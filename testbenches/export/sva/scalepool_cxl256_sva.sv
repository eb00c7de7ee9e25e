// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_cxl256_rules_pkg;
  function automatic logic ok_h2d_req_cxl256_enc_03(input logic [71:0] m);
    return (!m[0] || m[3:1] inside {3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_h2d_req_cxl256_msg_01(input logic [71:0] m);
    return (m[71:66] == '0);
  endfunction

  function automatic logic ok_h2d_rsp_cxl256_enc_04(input logic [39:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hd, 4'hf});
  endfunction

  function automatic logic ok_h2d_rsp_cxl256_enc_05(input logic [39:0] m);
    return (!m[0] || m[18:17] inside {2'h0, 2'h1, 2'h2});
  endfunction

  function automatic logic ok_h2d_rsp_cxl256_msg_02(input logic [39:0] m);
    return (m[39:35] == '0);
  endfunction

  function automatic logic ok_h2d_data_cxl256_msg_03(input logic [27:0] m);
    return (m[27:19] == '0);
  endfunction

  function automatic logic ok_d2h_req_cxl256_enc_01(input logic [75:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10});
  endfunction

  function automatic logic ok_d2h_req_cxl256_msg_04(input logic [75:0] m);
    return (m[25:23] == '0)
        && (m[75:72] == '0);
  endfunction

  function automatic logic ok_d2h_rsp_cxl256_enc_02(input logic [23:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16});
  endfunction

  function automatic logic ok_d2h_rsp_cxl256_msg_05(input logic [23:0] m);
    return (m[23:18] == '0);
  endfunction

  function automatic logic ok_d2h_data_cxl256_msg_06(input logic [23:0] m);
    return (m[23:16] == '0);
  endfunction

  function automatic logic ok_m2s_req_cxl256_enc_11(input logic [99:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3})
        && (!m[0] || m[9:8] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_m2s_req_cxl256_msg_07(input logic [99:0] m);
    return (m[97:91] == '0);
  endfunction

  function automatic logic ok_m2s_rwd_cxl256_enc_07(input logic [103:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h2, 4'h4, 4'h5, 4'h9, 4'ha, 4'hd});
  endfunction

  function automatic logic ok_m2s_rwd_cxl256_enc_11(input logic [103:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3})
        && (!m[0] || m[9:8] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_m2s_rwd_cxl256_msg_08(input logic [103:0] m);
    return (m[101:93] == '0);
  endfunction

  function automatic logic ok_m2s_birsp_cxl256_enc_09(input logic [39:0] m);
    return (!m[0] || m[4:1] inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6});
  endfunction

  function automatic logic ok_m2s_birsp_cxl256_msg_09(input logic [39:0] m);
    return (m[39:31] == '0);
  endfunction

  function automatic logic ok_s2m_bisnp_cxl256_enc_09(input logic [83:0] m);
    return (!m[0] || m[4:1] inside {4'h0, 4'h1, 4'h2, 4'h4, 4'h5, 4'h6, 4'h8, 4'h9, 4'ha, 4'hc, 4'hd, 4'he});
  endfunction

  function automatic logic ok_s2m_bisnp_cxl256_msg_10(input logic [83:0] m);
    return (m[83:75] == '0);
  endfunction

  function automatic logic ok_s2m_ndr_cxl256_enc_11(input logic [39:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_s2m_ndr_cxl256_msg_11(input logic [39:0] m);
    return (m[39:30] == '0);
  endfunction

  function automatic logic ok_s2m_drs_cxl256_enc_10(input logic [39:0] m);
    return (!m[0] || m[3:1] inside {3'h0, 3'h1, 3'h2});
  endfunction

  function automatic logic ok_s2m_drs_cxl256_enc_11(input logic [39:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h1, 2'h3});
  endfunction

  function automatic logic ok_s2m_drs_cxl256_msg_12(input logic [39:0] m);
    return (m[39:32] == '0);
  endfunction

  function automatic logic ok_crd_cxl256_crd_01(input logic [15:0] m);
    return (m[15] == '0);
  endfunction

  function automatic logic ok_crd_cxl256_crd_02(input logic [15:0] m);
    return (m[4:0] inside {5'h0, 5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'h14, 5'h15, 5'h16, 5'h17, 5'h18, 5'h19, 5'h1a, 5'h1b, 5'h1c, 5'h1d})
        && (m[9:5] inside {5'h0, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'h14, 5'h15, 5'h16, 5'h17, 5'h18, 5'h19, 5'h1a, 5'h1b, 5'h1c, 5'h1d})
        && (m[14:10] inside {5'h0, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'h14, 5'h15, 5'h16, 5'h17, 5'h18, 5'h19, 5'h1a, 5'h1b, 5'h1c, 5'h1d});
  endfunction

  function automatic logic ok_ide_cxl256_ctl_01(input logic [111:0] m);
    return (m[15:12] == '0);
  endfunction

  function automatic logic ok_ide_cxl256_ctl_02(input logic [111:0] m);
    return (m[7:4] inside {4'h2, 4'h3, 4'hc});
  endfunction

  function automatic logic ok_viral_cxl256_ctl_01(input logic [111:0] m);
    return (m[15:12] == '0)
        && (m[111:32] == '0);
  endfunction

  function automatic logic ok_viral_cxl256_ctl_02(input logic [111:0] m);
    return (m[7:4] inside {4'h2, 4'h3, 4'hc});
  endfunction

  function automatic logic ok_poison_cxl256_ctl_01(input logic [111:0] m);
    return (m[15:12] == '0)
        && (m[111:20] == '0);
  endfunction

  function automatic logic ok_poison_cxl256_ctl_02(input logic [111:0] m);
    return (m[7:4] inside {4'h2, 4'h3, 4'hc});
  endfunction

  function automatic logic ok_init_param_cxl256_ctl_01(input logic [111:0] m);
    return (m[15:12] == '0)
        && (m[111:17] == '0);
  endfunction

  function automatic logic ok_init_param_cxl256_ctl_02(input logic [111:0] m);
    return (m[7:4] inside {4'h2, 4'h3, 4'hc});
  endfunction

  function automatic logic ok_almp_cxl256_alm_01(input logic [31:0] m);
    return (m[7:0] == '0)
        && (m[22:20] == '0)
        && (m[31:28] == '0);
  endfunction

  function automatic logic ok_almp_cxl256_alm_02(input logic [31:0] m);
    return (m[19:16] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5, 4'h6, 4'h7, 4'h8, 4'hb})
        && (m[27:24] inside {4'h1, 4'h2});
  endfunction

  function automatic logic ok_almp_l0p_cxl256_alm_01(input logic [31:0] m);
    return (m[7:0] == '0)
        && (m[21:16] == '0);
  endfunction

  function automatic logic ok_almp_l0p_cxl256_alm_02(input logic [31:0] m);
    return (m[31:28] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h8});
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
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxl256_enc_01(u[95:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_02(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[96]) || ok_d2h_rsp_cxl256_enc_02(u[119:96]))
        && (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxl256_enc_02(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[44]) || ok_d2h_rsp_cxl256_enc_02(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd3 && u[68]) || ok_d2h_rsp_cxl256_enc_02(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxl256_enc_02(u[115:92]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxl256_enc_03(u[91:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_04(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_04(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_enc_04(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_05(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_05(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_enc_05(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_07(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_07(u[123:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_09(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxl256_enc_09(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[60]) || ok_m2s_birsp_cxl256_enc_09(u[99:60]))
        && (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxl256_enc_09(u[103:20]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_10(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_10(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_enc_10(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_enc_11(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd4 && u[20]) || ok_m2s_req_cxl256_enc_11(u[119:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxl256_enc_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[60]) || ok_s2m_ndr_cxl256_enc_11(u[99:60]))
        && (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_11(u[123:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_enc_11(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_hdr_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!good || u[7:6] == 2'd1 || !u[4]);
  endfunction

  function automatic logic ok_flit_cxl256_msg_01(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxl256_msg_01(u[91:20]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_02(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_msg_02(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_msg_02(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_03(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd12 && u[20]) || ok_h2d_data_cxl256_msg_03(u[47:20]))
        && (!(cachemem && u[19:16] == 4'd12 && u[48]) || ok_h2d_data_cxl256_msg_03(u[75:48]))
        && (!(cachemem && u[19:16] == 4'd12 && u[76]) || ok_h2d_data_cxl256_msg_03(u[103:76]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_04(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxl256_msg_04(u[95:20]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_05(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[96]) || ok_d2h_rsp_cxl256_msg_05(u[119:96]))
        && (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxl256_msg_05(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[44]) || ok_d2h_rsp_cxl256_msg_05(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd3 && u[68]) || ok_d2h_rsp_cxl256_msg_05(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxl256_msg_05(u[115:92]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_06(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd13 && u[20]) || ok_d2h_data_cxl256_msg_06(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd13 && u[44]) || ok_d2h_data_cxl256_msg_06(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd13 && u[68]) || ok_d2h_data_cxl256_msg_06(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd13 && u[92]) || ok_d2h_data_cxl256_msg_06(u[115:92]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_07(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd4 && u[20]) || ok_m2s_req_cxl256_msg_07(u[119:20]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_08(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_msg_08(u[123:20]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_09(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxl256_msg_09(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[60]) || ok_m2s_birsp_cxl256_msg_09(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_10(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxl256_msg_10(u[103:20]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_11(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxl256_msg_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[60]) || ok_s2m_ndr_cxl256_msg_11(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_msg_12(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_msg_12(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_msg_12(u[99:60]));
  endfunction

  function automatic logic ok_flit_cxl256_slt_02(input logic [2047:0] u, input logic crc_ok, input logic good, input logic cachemem);
    return (!cachemem || u[19:16] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5, 4'h6, 4'h7, 4'h8, 4'hc, 4'hd, 4'he, 4'hf});
  endfunction

  function automatic logic ok_flit_lopt_cxl256_crc_04(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (even_ok)
        && (odd_ok);
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_01(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxl256_enc_01(u[95:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_02(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[96]) || ok_d2h_rsp_cxl256_enc_02(u[119:96]))
        && (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxl256_enc_02(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[44]) || ok_d2h_rsp_cxl256_enc_02(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd3 && u[68]) || ok_d2h_rsp_cxl256_enc_02(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxl256_enc_02(u[115:92]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_03(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxl256_enc_03(u[91:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_04(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_04(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_enc_04(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_05(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_enc_05(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_enc_05(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_07(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_07(u[123:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_09(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxl256_enc_09(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[60]) || ok_m2s_birsp_cxl256_enc_09(u[99:60]))
        && (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxl256_enc_09(u[103:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_10(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_10(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_enc_10(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_enc_11(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd4 && u[20]) || ok_m2s_req_cxl256_enc_11(u[119:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxl256_enc_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[60]) || ok_s2m_ndr_cxl256_enc_11(u[99:60]))
        && (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_enc_11(u[123:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_enc_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_enc_11(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_hdr_03(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!good || u[7:6] == 2'd1 || !u[4]);
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_01(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd0 && u[20]) || ok_h2d_req_cxl256_msg_01(u[91:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_02(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd1 && u[20]) || ok_h2d_rsp_cxl256_msg_02(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd1 && u[60]) || ok_h2d_rsp_cxl256_msg_02(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_03(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd12 && u[20]) || ok_h2d_data_cxl256_msg_03(u[47:20]))
        && (!(cachemem && u[19:16] == 4'd12 && u[48]) || ok_h2d_data_cxl256_msg_03(u[75:48]))
        && (!(cachemem && u[19:16] == 4'd12 && u[76]) || ok_h2d_data_cxl256_msg_03(u[103:76]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_04(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[20]) || ok_d2h_req_cxl256_msg_04(u[95:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_05(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd2 && u[96]) || ok_d2h_rsp_cxl256_msg_05(u[119:96]))
        && (!(cachemem && u[19:16] == 4'd3 && u[20]) || ok_d2h_rsp_cxl256_msg_05(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd3 && u[44]) || ok_d2h_rsp_cxl256_msg_05(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd3 && u[68]) || ok_d2h_rsp_cxl256_msg_05(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd3 && u[92]) || ok_d2h_rsp_cxl256_msg_05(u[115:92]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_06(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd13 && u[20]) || ok_d2h_data_cxl256_msg_06(u[43:20]))
        && (!(cachemem && u[19:16] == 4'd13 && u[44]) || ok_d2h_data_cxl256_msg_06(u[67:44]))
        && (!(cachemem && u[19:16] == 4'd13 && u[68]) || ok_d2h_data_cxl256_msg_06(u[91:68]))
        && (!(cachemem && u[19:16] == 4'd13 && u[92]) || ok_d2h_data_cxl256_msg_06(u[115:92]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_07(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd4 && u[20]) || ok_m2s_req_cxl256_msg_07(u[119:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_08(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd14 && u[20]) || ok_m2s_rwd_cxl256_msg_08(u[123:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_09(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd5 && u[20]) || ok_m2s_birsp_cxl256_msg_09(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd5 && u[60]) || ok_m2s_birsp_cxl256_msg_09(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_10(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd6 && u[20]) || ok_s2m_bisnp_cxl256_msg_10(u[103:20]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_11(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd7 && u[20]) || ok_s2m_ndr_cxl256_msg_11(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd7 && u[60]) || ok_s2m_ndr_cxl256_msg_11(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_msg_12(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!(cachemem && u[19:16] == 4'd15 && u[20]) || ok_s2m_drs_cxl256_msg_12(u[59:20]))
        && (!(cachemem && u[19:16] == 4'd15 && u[60]) || ok_s2m_drs_cxl256_msg_12(u[99:60]));
  endfunction

  function automatic logic ok_flit_lopt_cxl256_slt_02(input logic [2047:0] u, input logic even_ok, input logic odd_ok, input logic good, input logic cachemem);
    return (!cachemem || u[19:16] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h5, 4'h6, 4'h7, 4'h8, 4'hc, 4'hd, 4'he, 4'hf});
  endfunction

endpackage : scalepool_cxl256_rules_pkg

// cxl256.h2d_req: CXL.cache snoop, host to device.
module scalepool_cxl256_h2d_req_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [71:0] message_i
);
  CXL256_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxl256_enc_03(message_i))
  else $error("CXL256-ENC-03 cxl256.h2d_req: an H2D Req carries a specified opcode");
  CXL256_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxl256_msg_01(message_i))
  else $error("CXL256-MSG-01 cxl256.h2d_req: an H2D Req has the specified layout");
endmodule : scalepool_cxl256_h2d_req_sva

// cxl256.h2d_rsp: CXL.cache answer, host to device.
module scalepool_cxl256_h2d_rsp_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [39:0] message_i
);
  CXL256_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl256_enc_04(message_i))
  else $error("CXL256-ENC-04 cxl256.h2d_rsp: an H2D Rsp carries a specified opcode; code 12 is reserved unless Fast_GO is enabled");
  CXL256_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl256_enc_05(message_i))
  else $error("CXL256-ENC-05 cxl256.h2d_rsp: a GO carries a specified cache state, and RSP_PRE a specified code");
  CXL256_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl256_msg_02(message_i))
  else $error("CXL256-MSG-02 cxl256.h2d_rsp: an H2D Rsp has the specified layout");
endmodule : scalepool_cxl256_h2d_rsp_sva

// cxl256.h2d_data: Header of CXL.cache data, host to device.
module scalepool_cxl256_h2d_data_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [27:0] message_i
);
  CXL256_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_data_cxl256_msg_03(message_i))
  else $error("CXL256-MSG-03 cxl256.h2d_data: an H2D data header has the specified layout");
endmodule : scalepool_cxl256_h2d_data_sva

// cxl256.d2h_req: CXL.cache request, device to host.
module scalepool_cxl256_d2h_req_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [75:0] message_i
);
  CXL256_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxl256_enc_01(message_i))
  else $error("CXL256-ENC-01 cxl256.d2h_req: a D2H Req carries a specified opcode");
  CXL256_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxl256_msg_04(message_i))
  else $error("CXL256-MSG-04 cxl256.d2h_req: a D2H Req has the specified layout");
endmodule : scalepool_cxl256_d2h_req_sva

// cxl256.d2h_rsp: CXL.cache snoop answer, device to host.
module scalepool_cxl256_d2h_rsp_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [23:0] message_i
);
  CXL256_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxl256_enc_02(message_i))
  else $error("CXL256-ENC-02 cxl256.d2h_rsp: a D2H Rsp carries a specified opcode");
  CXL256_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxl256_msg_05(message_i))
  else $error("CXL256-MSG-05 cxl256.d2h_rsp: a D2H Rsp has the specified layout");
endmodule : scalepool_cxl256_d2h_rsp_sva

// cxl256.d2h_data: Header of CXL.cache data, device to host.
module scalepool_cxl256_d2h_data_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [23:0] message_i
);
  CXL256_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_data_cxl256_msg_06(message_i))
  else $error("CXL256-MSG-06 cxl256.d2h_data: a D2H data header has the specified layout");
endmodule : scalepool_cxl256_d2h_data_sva

// cxl256.m2s_req: CXL.mem request without data, host to device.
module scalepool_cxl256_m2s_req_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [99:0] message_i
);
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxl256.m2s_req: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl256_msg_07(message_i))
  else $error("CXL256-MSG-07 cxl256.m2s_req: an M2S Req has the specified layout");
endmodule : scalepool_cxl256_m2s_req_sva

// cxl256.m2s_rwd: Header of a CXL.mem request with data, host to device.
module scalepool_cxl256_m2s_rwd_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [103:0] message_i
);
  CXL256_ENC_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl256_enc_07(message_i))
  else $error("CXL256-ENC-07 cxl256.m2s_rwd: an M2S RwD carries a specified opcode");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxl256.m2s_rwd: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl256_msg_08(message_i))
  else $error("CXL256-MSG-08 cxl256.m2s_rwd: an M2S RwD header has the specified layout");
endmodule : scalepool_cxl256_m2s_rwd_sva

// cxl256.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
module scalepool_cxl256_m2s_birsp_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [39:0] message_i
);
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_birsp_cxl256_enc_09(message_i))
  else $error("CXL256-ENC-09 cxl256.m2s_birsp: BISnp and BIRsp carry specified opcodes");
  CXL256_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_birsp_cxl256_msg_09(message_i))
  else $error("CXL256-MSG-09 cxl256.m2s_birsp: an M2S BIRsp has the specified layout");
endmodule : scalepool_cxl256_m2s_birsp_sva

// cxl256.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
module scalepool_cxl256_s2m_bisnp_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [83:0] message_i
);
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_bisnp_cxl256_enc_09(message_i))
  else $error("CXL256-ENC-09 cxl256.s2m_bisnp: BISnp and BIRsp carry specified opcodes");
  CXL256_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_bisnp_cxl256_msg_10(message_i))
  else $error("CXL256-MSG-10 cxl256.s2m_bisnp: an S2M BISnp has the specified layout");
endmodule : scalepool_cxl256_s2m_bisnp_sva

// cxl256.s2m_ndr: CXL.mem answer without data, device to host.
module scalepool_cxl256_s2m_ndr_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [39:0] message_i
);
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxl256.s2m_ndr: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxl256_msg_11(message_i))
  else $error("CXL256-MSG-11 cxl256.s2m_ndr: an S2M NDR has the specified layout");
endmodule : scalepool_cxl256_s2m_ndr_sva

// cxl256.s2m_drs: Header of a CXL.mem answer with data, device to host.
module scalepool_cxl256_s2m_drs_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [39:0] message_i
);
  CXL256_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl256_enc_10(message_i))
  else $error("CXL256-ENC-10 cxl256.s2m_drs: NDR and DRS carry specified opcodes");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl256_enc_11(message_i))
  else $error("CXL256-ENC-11 cxl256.s2m_drs: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_MSG_12: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl256_msg_12(message_i))
  else $error("CXL256-MSG-12 cxl256.s2m_drs: an S2M DRS header has the specified layout");
endmodule : scalepool_cxl256_s2m_drs_sva

// cxl256.crd: Credit return, flit bytes 240 and 241.
module scalepool_cxl256_crd_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [15:0] message_i
);
  CXL256_CRD_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_crd_cxl256_crd_01(message_i))
  else $error("CXL256-CRD-01 cxl256.crd: the credit field has the specified layout; its bit 15 is sent as 0 and ignored by the receiver");
  CXL256_CRD_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_crd_cxl256_crd_02(message_i))
  else $error("CXL256-CRD-02 cxl256.crd: 5-bit credit codes stand for 1, 4, 8, 12 or 16 credits; other codes are ignored");
endmodule : scalepool_cxl256_crd_sva

// cxl256.ide: IDE slot.
module scalepool_cxl256_ide_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [111:0] message_i
);
  CXL256_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ide_cxl256_ctl_01(message_i))
  else $error("CXL256-CTL-01 cxl256.ide: a control slot has the specified layout");
  CXL256_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ide_cxl256_ctl_02(message_i))
  else $error("CXL256-CTL-02 cxl256.ide: a control slot has a specified kind, in an H or HS slot as this kind allows");
endmodule : scalepool_cxl256_ide_sva

// cxl256.viral: Viral slot.
module scalepool_cxl256_viral_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [111:0] message_i
);
  CXL256_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_viral_cxl256_ctl_01(message_i))
  else $error("CXL256-CTL-01 cxl256.viral: a control slot has the specified layout");
  CXL256_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_viral_cxl256_ctl_02(message_i))
  else $error("CXL256-CTL-02 cxl256.viral: a control slot has a specified kind, in an H or HS slot as this kind allows");
endmodule : scalepool_cxl256_viral_sva

// cxl256.poison: Poison slot.
module scalepool_cxl256_poison_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [111:0] message_i
);
  CXL256_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_poison_cxl256_ctl_01(message_i))
  else $error("CXL256-CTL-01 cxl256.poison: a control slot has the specified layout");
  CXL256_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_poison_cxl256_ctl_02(message_i))
  else $error("CXL256-CTL-02 cxl256.poison: a control slot has a specified kind, in an H or HS slot as this kind allows");
endmodule : scalepool_cxl256_poison_sva

// cxl256.init_param: INIT.Param slot.
module scalepool_cxl256_init_param_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [111:0] message_i
);
  CXL256_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_init_param_cxl256_ctl_01(message_i))
  else $error("CXL256-CTL-01 cxl256.init_param: a control slot has the specified layout");
  CXL256_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_init_param_cxl256_ctl_02(message_i))
  else $error("CXL256-CTL-02 cxl256.init_param: a control slot has a specified kind, in an H or HS slot as this kind allows");
endmodule : scalepool_cxl256_init_param_sva

// cxl256.almp: Request or Status of a virtual link state machine.
module scalepool_cxl256_almp_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXL256_ALM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_almp_cxl256_alm_01(message_i))
  else $error("CXL256-ALM-01 cxl256.almp: an ALMP is carried in bytes 2 to 5; the rest of the body is 0");
  CXL256_ALM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_almp_cxl256_alm_02(message_i))
  else $error("CXL256-ALM-02 cxl256.almp: an ALMP carries a specified L0p width, or a vLSM state that is legal in its request or status");
endmodule : scalepool_cxl256_almp_sva

// cxl256.almp_l0p: Request or answer about the width of the link (L0p).
module scalepool_cxl256_almp_l0p_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXL256_ALM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_almp_l0p_cxl256_alm_01(message_i))
  else $error("CXL256-ALM-01 cxl256.almp_l0p: an ALMP is carried in bytes 2 to 5; the rest of the body is 0");
  CXL256_ALM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_almp_l0p_cxl256_alm_02(message_i))
  else $error("CXL256-ALM-02 cxl256.almp_l0p: an ALMP carries a specified L0p width, or a vLSM state that is legal in its request or status");
endmodule : scalepool_cxl256_almp_l0p_sva

// Flits of cxl-256b.
module scalepool_cxl256_flit_sva
  import scalepool_cxl256_rules_pkg::*;
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
  else $error("CXL256-CRC-01 cxl-256b: the 8-byte CRC covers bytes 0 to 241");
  CXL256_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_01(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-01 cxl-256b: a D2H Req carries a specified opcode");
  CXL256_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_02(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-02 cxl-256b: a D2H Rsp carries a specified opcode");
  CXL256_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_03(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-03 cxl-256b: an H2D Req carries a specified opcode");
  CXL256_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_04(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-04 cxl-256b: an H2D Rsp carries a specified opcode; code 12 is reserved unless Fast_GO is enabled");
  CXL256_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_05(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-05 cxl-256b: a GO carries a specified cache state, and RSP_PRE a specified code");
  CXL256_ENC_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_07(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-07 cxl-256b: an M2S RwD carries a specified opcode");
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_09(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-09 cxl-256b: BISnp and BIRsp carry specified opcodes");
  CXL256_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_10(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-10 cxl-256b: NDR and DRS carry specified opcodes");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_enc_11(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-ENC-11 cxl-256b: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_HDR_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_hdr_03(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-HDR-03 cxl-256b: the DLLP type bit is 0 in every flit but a CXL.io flit");
  CXL256_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_01(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-01 cxl-256b: an H2D Req has the specified layout");
  CXL256_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_02(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-02 cxl-256b: an H2D Rsp has the specified layout");
  CXL256_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_03(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-03 cxl-256b: an H2D data header has the specified layout");
  CXL256_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_04(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-04 cxl-256b: a D2H Req has the specified layout");
  CXL256_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_05(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-05 cxl-256b: a D2H Rsp has the specified layout");
  CXL256_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_06(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-06 cxl-256b: a D2H data header has the specified layout");
  CXL256_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_07(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-07 cxl-256b: an M2S Req has the specified layout");
  CXL256_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_08(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-08 cxl-256b: an M2S RwD header has the specified layout");
  CXL256_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_09(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-09 cxl-256b: an M2S BIRsp has the specified layout");
  CXL256_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_10(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-10 cxl-256b: an S2M BISnp has the specified layout");
  CXL256_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_11(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-11 cxl-256b: an S2M NDR has the specified layout");
  CXL256_MSG_12: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_msg_12(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-MSG-12 cxl-256b: an S2M DRS header has the specified layout");
  CXL256_SLT_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_cxl256_slt_02(unit_i, crc_ok, good, cachemem))
  else $error("CXL256-SLT-02 cxl-256b: H slots have the specified layouts and format codes");
endmodule : scalepool_cxl256_flit_sva

// Flits of cxl-256b-lopt.
module scalepool_cxl256_flit_lopt_sva
  import scalepool_cxl256_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [2047:0] unit_i
);
  logic [2047:0] u;
  assign u = unit_i;
  logic even_ok;
  assign even_ok = u[1023:976] == crc6b({64'h0, u[975:0]});
  logic odd_ok;
  assign odd_ok = u[2047:2000] == crc6b({112'h0, u[1951:1024]});
  logic good;
  assign good = even_ok && odd_ok;
  logic cachemem;
  assign cachemem = good && u[7:6] == 2'd2;
  CXL256_CRC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_crc_04(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-CRC-04 cxl-256b-lopt: each half of a latency-optimised flit has a 6-byte CRC");
  CXL256_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_01(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-01 cxl-256b-lopt: a D2H Req carries a specified opcode");
  CXL256_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_02(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-02 cxl-256b-lopt: a D2H Rsp carries a specified opcode");
  CXL256_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_03(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-03 cxl-256b-lopt: an H2D Req carries a specified opcode");
  CXL256_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_04(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-04 cxl-256b-lopt: an H2D Rsp carries a specified opcode; code 12 is reserved unless Fast_GO is enabled");
  CXL256_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_05(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-05 cxl-256b-lopt: a GO carries a specified cache state, and RSP_PRE a specified code");
  CXL256_ENC_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_07(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-07 cxl-256b-lopt: an M2S RwD carries a specified opcode");
  CXL256_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_09(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-09 cxl-256b-lopt: BISnp and BIRsp carry specified opcodes");
  CXL256_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_10(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-10 cxl-256b-lopt: NDR and DRS carry specified opcodes");
  CXL256_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_enc_11(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-ENC-11 cxl-256b-lopt: MetaField, MetaValue, SnpType and DevLoad hold specified codes");
  CXL256_HDR_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_hdr_03(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-HDR-03 cxl-256b-lopt: the DLLP type bit is 0 in every flit but a CXL.io flit");
  CXL256_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_01(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-01 cxl-256b-lopt: an H2D Req has the specified layout");
  CXL256_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_02(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-02 cxl-256b-lopt: an H2D Rsp has the specified layout");
  CXL256_MSG_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_03(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-03 cxl-256b-lopt: an H2D data header has the specified layout");
  CXL256_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_04(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-04 cxl-256b-lopt: a D2H Req has the specified layout");
  CXL256_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_05(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-05 cxl-256b-lopt: a D2H Rsp has the specified layout");
  CXL256_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_06(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-06 cxl-256b-lopt: a D2H data header has the specified layout");
  CXL256_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_07(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-07 cxl-256b-lopt: an M2S Req has the specified layout");
  CXL256_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_08(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-08 cxl-256b-lopt: an M2S RwD header has the specified layout");
  CXL256_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_09(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-09 cxl-256b-lopt: an M2S BIRsp has the specified layout");
  CXL256_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_10(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-10 cxl-256b-lopt: an S2M BISnp has the specified layout");
  CXL256_MSG_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_11(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-11 cxl-256b-lopt: an S2M NDR has the specified layout");
  CXL256_MSG_12: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_msg_12(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-MSG-12 cxl-256b-lopt: an S2M DRS header has the specified layout");
  CXL256_SLT_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_lopt_cxl256_slt_02(unit_i, even_ok, odd_ok, good, cachemem))
  else $error("CXL256-SLT-02 cxl-256b-lopt: H slots have the specified layouts and format codes");
endmodule : scalepool_cxl256_flit_lopt_sva
