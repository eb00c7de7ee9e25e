// Made by `scalepool export sva` from the layout and rule tables; do not edit.
package scalepool_cxl68_rules_pkg;
  function automatic logic ok_m2s_req_cxl68_enc_01(input logic [86:0] m);
    return (!m[0] || m[4:1] inside {4'h0, 4'h1, 4'h2, 4'h3, 4'h4, 4'h8, 4'h9});
  endfunction

  function automatic logic ok_m2s_req_cxl68_enc_03(input logic [86:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_m2s_req_cxl68_enc_04(input logic [86:0] m);
    return (!m[0] || m[9:8] inside {2'h0, 2'h3})
        && (!m[0] || m[11:10] inside {2'h0, 2'h2, 2'h3});
  endfunction

  function automatic logic ok_m2s_req_cxl68_msg_01(input logic [86:0] m);
    return (m[86:81] == '0);
  endfunction

  function automatic logic ok_m2s_rwd_cxl68_enc_02(input logic [86:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h2});
  endfunction

  function automatic logic ok_m2s_rwd_cxl68_enc_03(input logic [86:0] m);
    return (!m[0] || m[7:5] inside {3'h0, 3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_m2s_rwd_cxl68_enc_04(input logic [86:0] m);
    return (!m[0] || m[9:8] inside {2'h0, 2'h3})
        && (!m[0] || m[11:10] inside {2'h0, 2'h2, 2'h3});
  endfunction

  function automatic logic ok_m2s_rwd_cxl68_msg_02(input logic [86:0] m);
    return (m[86:81] == '0);
  endfunction

  function automatic logic ok_s2m_ndr_cxl68_enc_04(input logic [29:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h3})
        && (!m[0] || m[7:6] inside {2'h0, 2'h2, 2'h3});
  endfunction

  function automatic logic ok_s2m_ndr_cxl68_enc_05(input logic [29:0] m);
    return (!m[0] || m[3:1] inside {3'h0, 3'h1, 3'h2});
  endfunction

  function automatic logic ok_s2m_drs_cxl68_enc_04(input logic [39:0] m);
    return (!m[0] || m[5:4] inside {2'h0, 2'h3})
        && (!m[0] || m[7:6] inside {2'h0, 2'h2, 2'h3});
  endfunction

  function automatic logic ok_s2m_drs_cxl68_enc_06(input logic [39:0] m);
    return (!m[0] || m[3:1] inside {3'h0, 3'h1});
  endfunction

  function automatic logic ok_s2m_drs_cxl68_msg_04(input logic [39:0] m);
    return (m[39:31] == '0);
  endfunction

  function automatic logic ok_d2h_req_cxl68_enc_08(input logic [78:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h2, 5'h3, 5'h4, 5'h5, 5'h6, 5'h7, 5'h8, 5'h9, 5'ha, 5'hb, 5'hc, 5'hd, 5'he, 5'h10});
  endfunction

  function automatic logic ok_d2h_req_cxl68_msg_05(input logic [78:0] m);
    return (m[25:19] == '0)
        && (m[78:72] == '0);
  endfunction

  function automatic logic ok_d2h_rsp_cxl68_enc_09(input logic [19:0] m);
    return (!m[0] || m[5:1] inside {5'h1, 5'h4, 5'h5, 5'h6, 5'h7, 5'hf, 5'h16});
  endfunction

  function automatic logic ok_d2h_rsp_cxl68_msg_06(input logic [19:0] m);
    return (m[19:18] == '0);
  endfunction

  function automatic logic ok_d2h_data_cxl68_msg_07(input logic [16:0] m);
    return (m[16] == '0);
  endfunction

  function automatic logic ok_h2d_req_cxl68_enc_10(input logic [63:0] m);
    return (!m[0] || m[3:1] inside {3'h1, 3'h2, 3'h3});
  endfunction

  function automatic logic ok_h2d_req_cxl68_msg_08(input logic [63:0] m);
    return (m[63:62] == '0);
  endfunction

  function automatic logic ok_h2d_rsp_cxl68_enc_11(input logic [31:0] m);
    return (!m[0] || m[4:1] inside {4'h1, 4'h4, 4'h5, 4'h6, 4'h8, 4'hc, 4'hd, 4'hf});
  endfunction

  function automatic logic ok_h2d_rsp_cxl68_enc_13(input logic [31:0] m);
    return (!m[0] || m[18:17] inside {2'h0, 2'h1, 2'h2});
  endfunction

  function automatic logic ok_h2d_rsp_cxl68_msg_09(input logic [31:0] m);
    return (m[31] == '0);
  endfunction

  function automatic logic ok_h2d_data_cxl68_msg_10(input logic [23:0] m);
    return (m[23:16] == '0);
  endfunction

  function automatic logic ok_flit_header_cxl68_hdr_02(input logic [31:0] m);
    return (m[1] == '0)
        && (m[19:17] == '0);
  endfunction

  function automatic logic ok_llcrd_cxl68_ctl_01(input logic [127:0] m);
    return (m[1] == '0)
        && (m[4:3] == '0)
        && (m[19:8] == '0)
        && (m[63:40] == '0)
        && (m[67] == '0)
        && (m[127:72] == '0);
  endfunction

  function automatic logic ok_llcrd_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_retry_req_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_retry_req_cxl68_ctl_03(input logic [127:0] m);
    return (m[4:1] == '0)
        && (m[31:8] == '0)
        && (m[63:40] == '0)
        && (m[79:72] == '0)
        && (m[127:90] == '0);
  endfunction

  function automatic logic ok_retry_ack_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_retry_ack_cxl68_ctl_03(input logic [127:0] m);
    return (m[4:1] == '0)
        && (m[31:8] == '0)
        && (m[63:40] == '0)
        && (m[66] == '0)
        && (m[127:112] == '0);
  endfunction

  function automatic logic ok_retry_cxl68_ctl_01(input logic [127:0] m);
    return (m[4:1] == '0)
        && (m[31:8] == '0)
        && (m[63:40] == '0)
        && (m[127:64] == '0);
  endfunction

  function automatic logic ok_retry_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_init_param_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_init_param_cxl68_ctl_03(input logic [127:0] m);
    return (m[4:1] == '0)
        && (m[31:8] == '0)
        && (m[63:40] == '0)
        && (m[87:68] == '0)
        && (m[127:96] == '0);
  endfunction

  function automatic logic ok_ide_cxl68_ctl_01(input logic [127:0] m);
    return (m[4:1] == '0)
        && (m[23:8] == '0);
  endfunction

  function automatic logic ok_ide_cxl68_ctl_02(input logic [127:0] m);
    return (m[35:32] inside {4'h0, 4'h1, 4'h2, 4'hc});
  endfunction

  function automatic logic ok_almp_cxl68_alm_02(input logic [31:0] m);
    return (m[7:0] == '0)
        && (m[19:16] inside {4'h0, 4'h1, 4'h3, 4'h4, 4'h5, 4'h6, 4'h7, 4'h8, 4'hb})
        && (m[22:20] == '0)
        && (m[27:24] inside {4'h1, 4'h2})
        && (m[31:28] == '0);
  endfunction

  function automatic logic [15:0] crc16(input logic [511:0] d);
    crc16 = '0;
    for (int i = 511; i >= 0; i--)
      crc16 = {crc16[14:0], 1'b0} ^ ((d[i] ^ crc16[15]) ? 16'hf053 : 16'h0);
  endfunction

  function automatic logic ok_flit_down_cxl68_alm_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!almp || u[143:48] == {3{u[47:16]}} && u[527:144] == '0);
  endfunction

  function automatic logic ok_flit_down_cxl68_alm_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(almp) || ok_almp_cxl68_alm_02(u[47:16]));
  endfunction

  function automatic logic ok_flit_down_cxl68_crc_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!cachemem || crc_ok);
  endfunction

  function automatic logic ok_flit_down_cxl68_ctl_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!control || {u[55:52], u[51:48]} inside {8'h1, 8'h2, 8'h10, 8'h11, 8'h12, 8'h21, 8'h22, 8'h31, 8'h8c});
  endfunction

  function automatic logic ok_flit_down_cxl68_ctl_05(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(control && {u[55:52], u[51:48]} == 8'h1) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h1) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h2) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h10) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h10) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h11) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h11) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h12) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h21) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h21) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h22) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h31) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h31) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h8c) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h8c) || u[79:56] == '0);
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_m2s_req_cxl68_enc_01(u[134:48]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_m2s_req_cxl68_enc_01(u[230:144]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_m2s_req_cxl68_enc_01(u[358:272]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_m2s_req_cxl68_enc_01(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_m2s_rwd_cxl68_enc_02(u[134:48]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_m2s_rwd_cxl68_enc_02(u[230:144]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_m2s_rwd_cxl68_enc_02(u[358:272]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_m2s_rwd_cxl68_enc_02(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_03(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_m2s_rwd_cxl68_enc_03(u[134:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_m2s_req_cxl68_enc_03(u[134:48]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_m2s_req_cxl68_enc_03(u[230:144]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_m2s_rwd_cxl68_enc_03(u[230:144]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_m2s_req_cxl68_enc_03(u[358:272]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_m2s_rwd_cxl68_enc_03(u[358:272]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_m2s_req_cxl68_enc_03(u[486:400]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_m2s_rwd_cxl68_enc_03(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_04(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_m2s_rwd_cxl68_enc_04(u[134:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_m2s_req_cxl68_enc_04(u[134:48]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_m2s_req_cxl68_enc_04(u[230:144]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_m2s_rwd_cxl68_enc_04(u[230:144]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_m2s_req_cxl68_enc_04(u[358:272]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_m2s_rwd_cxl68_enc_04(u[358:272]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_m2s_req_cxl68_enc_04(u[486:400]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_m2s_rwd_cxl68_enc_04(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_10(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[48]) || ok_h2d_req_cxl68_enc_10(u[111:48]))
        && (!(protocol && u[23:21] == 3'd2 && u[48]) || ok_h2d_req_cxl68_enc_10(u[111:48]))
        && (!(protocol && u[26:24] == 3'd2 && u[144]) || ok_h2d_req_cxl68_enc_10(u[207:144]))
        && (!(protocol && u[29:27] == 3'd2 && u[272]) || ok_h2d_req_cxl68_enc_10(u[335:272]))
        && (!(protocol && u[32:30] == 3'd2 && u[400]) || ok_h2d_req_cxl68_enc_10(u[463:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_11(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[112]) || ok_h2d_rsp_cxl68_enc_11(u[143:112]))
        && (!(protocol && u[23:21] == 3'd1 && u[72]) || ok_h2d_rsp_cxl68_enc_11(u[103:72]))
        && (!(protocol && u[23:21] == 3'd1 && u[104]) || ok_h2d_rsp_cxl68_enc_11(u[135:104]))
        && (!(protocol && u[26:24] == 3'd1 && u[144]) || ok_h2d_rsp_cxl68_enc_11(u[175:144]))
        && (!(protocol && u[26:24] == 3'd1 && u[176]) || ok_h2d_rsp_cxl68_enc_11(u[207:176]))
        && (!(protocol && u[26:24] == 3'd1 && u[208]) || ok_h2d_rsp_cxl68_enc_11(u[239:208]))
        && (!(protocol && u[26:24] == 3'd1 && u[240]) || ok_h2d_rsp_cxl68_enc_11(u[271:240]))
        && (!(protocol && u[26:24] == 3'd2 && u[232]) || ok_h2d_rsp_cxl68_enc_11(u[263:232]))
        && (!(protocol && u[26:24] == 3'd3 && u[240]) || ok_h2d_rsp_cxl68_enc_11(u[271:240]))
        && (!(protocol && u[26:24] == 3'd5 && u[232]) || ok_h2d_rsp_cxl68_enc_11(u[263:232]))
        && (!(protocol && u[29:27] == 3'd1 && u[272]) || ok_h2d_rsp_cxl68_enc_11(u[303:272]))
        && (!(protocol && u[29:27] == 3'd1 && u[304]) || ok_h2d_rsp_cxl68_enc_11(u[335:304]))
        && (!(protocol && u[29:27] == 3'd1 && u[336]) || ok_h2d_rsp_cxl68_enc_11(u[367:336]))
        && (!(protocol && u[29:27] == 3'd1 && u[368]) || ok_h2d_rsp_cxl68_enc_11(u[399:368]))
        && (!(protocol && u[29:27] == 3'd2 && u[360]) || ok_h2d_rsp_cxl68_enc_11(u[391:360]))
        && (!(protocol && u[29:27] == 3'd3 && u[368]) || ok_h2d_rsp_cxl68_enc_11(u[399:368]))
        && (!(protocol && u[29:27] == 3'd5 && u[360]) || ok_h2d_rsp_cxl68_enc_11(u[391:360]))
        && (!(protocol && u[32:30] == 3'd1 && u[400]) || ok_h2d_rsp_cxl68_enc_11(u[431:400]))
        && (!(protocol && u[32:30] == 3'd1 && u[432]) || ok_h2d_rsp_cxl68_enc_11(u[463:432]))
        && (!(protocol && u[32:30] == 3'd1 && u[464]) || ok_h2d_rsp_cxl68_enc_11(u[495:464]))
        && (!(protocol && u[32:30] == 3'd1 && u[496]) || ok_h2d_rsp_cxl68_enc_11(u[527:496]))
        && (!(protocol && u[32:30] == 3'd2 && u[488]) || ok_h2d_rsp_cxl68_enc_11(u[519:488]))
        && (!(protocol && u[32:30] == 3'd3 && u[496]) || ok_h2d_rsp_cxl68_enc_11(u[527:496]))
        && (!(protocol && u[32:30] == 3'd5 && u[488]) || ok_h2d_rsp_cxl68_enc_11(u[519:488]));
  endfunction

  function automatic logic ok_flit_down_cxl68_enc_13(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[112]) || ok_h2d_rsp_cxl68_enc_13(u[143:112]))
        && (!(protocol && u[23:21] == 3'd1 && u[72]) || ok_h2d_rsp_cxl68_enc_13(u[103:72]))
        && (!(protocol && u[23:21] == 3'd1 && u[104]) || ok_h2d_rsp_cxl68_enc_13(u[135:104]))
        && (!(protocol && u[26:24] == 3'd1 && u[144]) || ok_h2d_rsp_cxl68_enc_13(u[175:144]))
        && (!(protocol && u[26:24] == 3'd1 && u[176]) || ok_h2d_rsp_cxl68_enc_13(u[207:176]))
        && (!(protocol && u[26:24] == 3'd1 && u[208]) || ok_h2d_rsp_cxl68_enc_13(u[239:208]))
        && (!(protocol && u[26:24] == 3'd1 && u[240]) || ok_h2d_rsp_cxl68_enc_13(u[271:240]))
        && (!(protocol && u[26:24] == 3'd2 && u[232]) || ok_h2d_rsp_cxl68_enc_13(u[263:232]))
        && (!(protocol && u[26:24] == 3'd3 && u[240]) || ok_h2d_rsp_cxl68_enc_13(u[271:240]))
        && (!(protocol && u[26:24] == 3'd5 && u[232]) || ok_h2d_rsp_cxl68_enc_13(u[263:232]))
        && (!(protocol && u[29:27] == 3'd1 && u[272]) || ok_h2d_rsp_cxl68_enc_13(u[303:272]))
        && (!(protocol && u[29:27] == 3'd1 && u[304]) || ok_h2d_rsp_cxl68_enc_13(u[335:304]))
        && (!(protocol && u[29:27] == 3'd1 && u[336]) || ok_h2d_rsp_cxl68_enc_13(u[367:336]))
        && (!(protocol && u[29:27] == 3'd1 && u[368]) || ok_h2d_rsp_cxl68_enc_13(u[399:368]))
        && (!(protocol && u[29:27] == 3'd2 && u[360]) || ok_h2d_rsp_cxl68_enc_13(u[391:360]))
        && (!(protocol && u[29:27] == 3'd3 && u[368]) || ok_h2d_rsp_cxl68_enc_13(u[399:368]))
        && (!(protocol && u[29:27] == 3'd5 && u[360]) || ok_h2d_rsp_cxl68_enc_13(u[391:360]))
        && (!(protocol && u[32:30] == 3'd1 && u[400]) || ok_h2d_rsp_cxl68_enc_13(u[431:400]))
        && (!(protocol && u[32:30] == 3'd1 && u[432]) || ok_h2d_rsp_cxl68_enc_13(u[463:432]))
        && (!(protocol && u[32:30] == 3'd1 && u[464]) || ok_h2d_rsp_cxl68_enc_13(u[495:464]))
        && (!(protocol && u[32:30] == 3'd1 && u[496]) || ok_h2d_rsp_cxl68_enc_13(u[527:496]))
        && (!(protocol && u[32:30] == 3'd2 && u[488]) || ok_h2d_rsp_cxl68_enc_13(u[519:488]))
        && (!(protocol && u[32:30] == 3'd3 && u[496]) || ok_h2d_rsp_cxl68_enc_13(u[527:496]))
        && (!(protocol && u[32:30] == 3'd5 && u[488]) || ok_h2d_rsp_cxl68_enc_13(u[519:488]));
  endfunction

  function automatic logic ok_flit_down_cxl68_frm_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(null_unit || almp) || u[543:528] == '0);
  endfunction

  function automatic logic ok_flit_down_cxl68_msg_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_m2s_req_cxl68_msg_01(u[134:48]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_m2s_req_cxl68_msg_01(u[230:144]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_m2s_req_cxl68_msg_01(u[358:272]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_m2s_req_cxl68_msg_01(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_msg_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_m2s_rwd_cxl68_msg_02(u[134:48]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_m2s_rwd_cxl68_msg_02(u[230:144]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_m2s_rwd_cxl68_msg_02(u[358:272]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_m2s_rwd_cxl68_msg_02(u[486:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_msg_08(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[48]) || ok_h2d_req_cxl68_msg_08(u[111:48]))
        && (!(protocol && u[23:21] == 3'd2 && u[48]) || ok_h2d_req_cxl68_msg_08(u[111:48]))
        && (!(protocol && u[26:24] == 3'd2 && u[144]) || ok_h2d_req_cxl68_msg_08(u[207:144]))
        && (!(protocol && u[29:27] == 3'd2 && u[272]) || ok_h2d_req_cxl68_msg_08(u[335:272]))
        && (!(protocol && u[32:30] == 3'd2 && u[400]) || ok_h2d_req_cxl68_msg_08(u[463:400]));
  endfunction

  function automatic logic ok_flit_down_cxl68_msg_09(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[112]) || ok_h2d_rsp_cxl68_msg_09(u[143:112]))
        && (!(protocol && u[23:21] == 3'd1 && u[72]) || ok_h2d_rsp_cxl68_msg_09(u[103:72]))
        && (!(protocol && u[23:21] == 3'd1 && u[104]) || ok_h2d_rsp_cxl68_msg_09(u[135:104]))
        && (!(protocol && u[26:24] == 3'd1 && u[144]) || ok_h2d_rsp_cxl68_msg_09(u[175:144]))
        && (!(protocol && u[26:24] == 3'd1 && u[176]) || ok_h2d_rsp_cxl68_msg_09(u[207:176]))
        && (!(protocol && u[26:24] == 3'd1 && u[208]) || ok_h2d_rsp_cxl68_msg_09(u[239:208]))
        && (!(protocol && u[26:24] == 3'd1 && u[240]) || ok_h2d_rsp_cxl68_msg_09(u[271:240]))
        && (!(protocol && u[26:24] == 3'd2 && u[232]) || ok_h2d_rsp_cxl68_msg_09(u[263:232]))
        && (!(protocol && u[26:24] == 3'd3 && u[240]) || ok_h2d_rsp_cxl68_msg_09(u[271:240]))
        && (!(protocol && u[26:24] == 3'd5 && u[232]) || ok_h2d_rsp_cxl68_msg_09(u[263:232]))
        && (!(protocol && u[29:27] == 3'd1 && u[272]) || ok_h2d_rsp_cxl68_msg_09(u[303:272]))
        && (!(protocol && u[29:27] == 3'd1 && u[304]) || ok_h2d_rsp_cxl68_msg_09(u[335:304]))
        && (!(protocol && u[29:27] == 3'd1 && u[336]) || ok_h2d_rsp_cxl68_msg_09(u[367:336]))
        && (!(protocol && u[29:27] == 3'd1 && u[368]) || ok_h2d_rsp_cxl68_msg_09(u[399:368]))
        && (!(protocol && u[29:27] == 3'd2 && u[360]) || ok_h2d_rsp_cxl68_msg_09(u[391:360]))
        && (!(protocol && u[29:27] == 3'd3 && u[368]) || ok_h2d_rsp_cxl68_msg_09(u[399:368]))
        && (!(protocol && u[29:27] == 3'd5 && u[360]) || ok_h2d_rsp_cxl68_msg_09(u[391:360]))
        && (!(protocol && u[32:30] == 3'd1 && u[400]) || ok_h2d_rsp_cxl68_msg_09(u[431:400]))
        && (!(protocol && u[32:30] == 3'd1 && u[432]) || ok_h2d_rsp_cxl68_msg_09(u[463:432]))
        && (!(protocol && u[32:30] == 3'd1 && u[464]) || ok_h2d_rsp_cxl68_msg_09(u[495:464]))
        && (!(protocol && u[32:30] == 3'd1 && u[496]) || ok_h2d_rsp_cxl68_msg_09(u[527:496]))
        && (!(protocol && u[32:30] == 3'd2 && u[488]) || ok_h2d_rsp_cxl68_msg_09(u[519:488]))
        && (!(protocol && u[32:30] == 3'd3 && u[496]) || ok_h2d_rsp_cxl68_msg_09(u[527:496]))
        && (!(protocol && u[32:30] == 3'd5 && u[488]) || ok_h2d_rsp_cxl68_msg_09(u[519:488]));
  endfunction

  function automatic logic ok_flit_down_cxl68_msg_10(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd1 && u[48]) || ok_h2d_data_cxl68_msg_10(u[71:48]))
        && (!(protocol && u[23:21] == 3'd2 && u[112]) || ok_h2d_data_cxl68_msg_10(u[135:112]))
        && (!(protocol && u[23:21] == 3'd3 && u[48]) || ok_h2d_data_cxl68_msg_10(u[71:48]))
        && (!(protocol && u[23:21] == 3'd3 && u[72]) || ok_h2d_data_cxl68_msg_10(u[95:72]))
        && (!(protocol && u[23:21] == 3'd3 && u[96]) || ok_h2d_data_cxl68_msg_10(u[119:96]))
        && (!(protocol && u[23:21] == 3'd3 && u[120]) || ok_h2d_data_cxl68_msg_10(u[143:120]))
        && (!(protocol && u[26:24] == 3'd2 && u[208]) || ok_h2d_data_cxl68_msg_10(u[231:208]))
        && (!(protocol && u[26:24] == 3'd3 && u[144]) || ok_h2d_data_cxl68_msg_10(u[167:144]))
        && (!(protocol && u[26:24] == 3'd3 && u[168]) || ok_h2d_data_cxl68_msg_10(u[191:168]))
        && (!(protocol && u[26:24] == 3'd3 && u[192]) || ok_h2d_data_cxl68_msg_10(u[215:192]))
        && (!(protocol && u[26:24] == 3'd3 && u[216]) || ok_h2d_data_cxl68_msg_10(u[239:216]))
        && (!(protocol && u[26:24] == 3'd4 && u[232]) || ok_h2d_data_cxl68_msg_10(u[255:232]))
        && (!(protocol && u[29:27] == 3'd2 && u[336]) || ok_h2d_data_cxl68_msg_10(u[359:336]))
        && (!(protocol && u[29:27] == 3'd3 && u[272]) || ok_h2d_data_cxl68_msg_10(u[295:272]))
        && (!(protocol && u[29:27] == 3'd3 && u[296]) || ok_h2d_data_cxl68_msg_10(u[319:296]))
        && (!(protocol && u[29:27] == 3'd3 && u[320]) || ok_h2d_data_cxl68_msg_10(u[343:320]))
        && (!(protocol && u[29:27] == 3'd3 && u[344]) || ok_h2d_data_cxl68_msg_10(u[367:344]))
        && (!(protocol && u[29:27] == 3'd4 && u[360]) || ok_h2d_data_cxl68_msg_10(u[383:360]))
        && (!(protocol && u[32:30] == 3'd2 && u[464]) || ok_h2d_data_cxl68_msg_10(u[487:464]))
        && (!(protocol && u[32:30] == 3'd3 && u[400]) || ok_h2d_data_cxl68_msg_10(u[423:400]))
        && (!(protocol && u[32:30] == 3'd3 && u[424]) || ok_h2d_data_cxl68_msg_10(u[447:424]))
        && (!(protocol && u[32:30] == 3'd3 && u[448]) || ok_h2d_data_cxl68_msg_10(u[471:448]))
        && (!(protocol && u[32:30] == 3'd3 && u[472]) || ok_h2d_data_cxl68_msg_10(u[495:472]))
        && (!(protocol && u[32:30] == 3'd4 && u[488]) || ok_h2d_data_cxl68_msg_10(u[511:488]));
  endfunction

  function automatic logic ok_flit_down_cxl68_nul_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!null_unit || u[527:16] == '0);
  endfunction

  function automatic logic ok_flit_down_cxl68_pid_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e} == u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e});
  endfunction

  function automatic logic ok_flit_down_cxl68_pid_03(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e} || u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e});
  endfunction

  function automatic logic ok_flit_down_cxl68_pid_04(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}) || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}) || u[7:0] == u[15:8]);
  endfunction

  function automatic logic ok_flit_down_cxl68_slt_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!protocol || u[23:21] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5, 3'h6})
        && (!protocol || u[26:24] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5})
        && (!protocol || u[29:27] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5})
        && (!protocol || u[32:30] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5});
  endfunction

  function automatic logic ok_flit_up_cxl68_alm_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!almp || u[143:48] == {3{u[47:16]}} && u[527:144] == '0);
  endfunction

  function automatic logic ok_flit_up_cxl68_alm_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(almp) || ok_almp_cxl68_alm_02(u[47:16]));
  endfunction

  function automatic logic ok_flit_up_cxl68_crc_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!cachemem || crc_ok);
  endfunction

  function automatic logic ok_flit_up_cxl68_ctl_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!control || {u[55:52], u[51:48]} inside {8'h1, 8'h2, 8'h10, 8'h11, 8'h12, 8'h21, 8'h22, 8'h31, 8'h8c});
  endfunction

  function automatic logic ok_flit_up_cxl68_ctl_05(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(control && {u[55:52], u[51:48]} == 8'h1) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h1) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h2) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h10) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h10) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h11) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h11) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h12) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h21) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h21) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h22) || u[23:21] inside {3'h1})
        && (!(control && {u[55:52], u[51:48]} == 8'h31) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h31) || u[79:56] == '0)
        && (!(control && {u[55:52], u[51:48]} == 8'h8c) || u[23:21] inside {3'h0})
        && (!(control && {u[55:52], u[51:48]} == 8'h8c) || u[79:56] == '0);
  endfunction

  function automatic logic ok_flit_up_cxl68_enc_04(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[105]) || ok_s2m_ndr_cxl68_enc_04(u[134:105]))
        && (!(protocol && u[23:21] == 3'd3 && u[48]) || ok_s2m_drs_cxl68_enc_04(u[87:48]))
        && (!(protocol && u[23:21] == 3'd3 && u[88]) || ok_s2m_ndr_cxl68_enc_04(u[117:88]))
        && (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_s2m_ndr_cxl68_enc_04({u[107:106], u[75:48]}))
        && (!(protocol && u[23:21] == 3'd4 && u[76]) || ok_s2m_ndr_cxl68_enc_04(u[105:76]))
        && (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_s2m_drs_cxl68_enc_04(u[87:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[88]) || ok_s2m_drs_cxl68_enc_04(u[127:88]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_s2m_drs_cxl68_enc_04(u[183:144]))
        && (!(protocol && u[26:24] == 3'd4 && u[184]) || ok_s2m_ndr_cxl68_enc_04({u[243:242], u[211:184]}))
        && (!(protocol && u[26:24] == 3'd4 && u[212]) || ok_s2m_ndr_cxl68_enc_04(u[241:212]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_s2m_ndr_cxl68_enc_04({u[203:202], u[171:144]}))
        && (!(protocol && u[26:24] == 3'd5 && u[172]) || ok_s2m_ndr_cxl68_enc_04(u[201:172]))
        && (!(protocol && u[26:24] == 3'd6 && u[144]) || ok_s2m_drs_cxl68_enc_04(u[183:144]))
        && (!(protocol && u[26:24] == 3'd6 && u[184]) || ok_s2m_drs_cxl68_enc_04(u[223:184]))
        && (!(protocol && u[26:24] == 3'd6 && u[224]) || ok_s2m_drs_cxl68_enc_04(u[263:224]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_s2m_drs_cxl68_enc_04(u[311:272]))
        && (!(protocol && u[29:27] == 3'd4 && u[312]) || ok_s2m_ndr_cxl68_enc_04({u[371:370], u[339:312]}))
        && (!(protocol && u[29:27] == 3'd4 && u[340]) || ok_s2m_ndr_cxl68_enc_04(u[369:340]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_s2m_ndr_cxl68_enc_04({u[331:330], u[299:272]}))
        && (!(protocol && u[29:27] == 3'd5 && u[300]) || ok_s2m_ndr_cxl68_enc_04(u[329:300]))
        && (!(protocol && u[29:27] == 3'd6 && u[272]) || ok_s2m_drs_cxl68_enc_04(u[311:272]))
        && (!(protocol && u[29:27] == 3'd6 && u[312]) || ok_s2m_drs_cxl68_enc_04(u[351:312]))
        && (!(protocol && u[29:27] == 3'd6 && u[352]) || ok_s2m_drs_cxl68_enc_04(u[391:352]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_s2m_drs_cxl68_enc_04(u[439:400]))
        && (!(protocol && u[32:30] == 3'd4 && u[440]) || ok_s2m_ndr_cxl68_enc_04({u[499:498], u[467:440]}))
        && (!(protocol && u[32:30] == 3'd4 && u[468]) || ok_s2m_ndr_cxl68_enc_04(u[497:468]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_s2m_ndr_cxl68_enc_04({u[459:458], u[427:400]}))
        && (!(protocol && u[32:30] == 3'd5 && u[428]) || ok_s2m_ndr_cxl68_enc_04(u[457:428]))
        && (!(protocol && u[32:30] == 3'd6 && u[400]) || ok_s2m_drs_cxl68_enc_04(u[439:400]))
        && (!(protocol && u[32:30] == 3'd6 && u[440]) || ok_s2m_drs_cxl68_enc_04(u[479:440]))
        && (!(protocol && u[32:30] == 3'd6 && u[480]) || ok_s2m_drs_cxl68_enc_04(u[519:480]));
  endfunction

  function automatic logic ok_flit_up_cxl68_enc_05(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[105]) || ok_s2m_ndr_cxl68_enc_05(u[134:105]))
        && (!(protocol && u[23:21] == 3'd3 && u[88]) || ok_s2m_ndr_cxl68_enc_05(u[117:88]))
        && (!(protocol && u[23:21] == 3'd4 && u[48]) || ok_s2m_ndr_cxl68_enc_05({u[107:106], u[75:48]}))
        && (!(protocol && u[23:21] == 3'd4 && u[76]) || ok_s2m_ndr_cxl68_enc_05(u[105:76]))
        && (!(protocol && u[26:24] == 3'd4 && u[184]) || ok_s2m_ndr_cxl68_enc_05({u[243:242], u[211:184]}))
        && (!(protocol && u[26:24] == 3'd4 && u[212]) || ok_s2m_ndr_cxl68_enc_05(u[241:212]))
        && (!(protocol && u[26:24] == 3'd5 && u[144]) || ok_s2m_ndr_cxl68_enc_05({u[203:202], u[171:144]}))
        && (!(protocol && u[26:24] == 3'd5 && u[172]) || ok_s2m_ndr_cxl68_enc_05(u[201:172]))
        && (!(protocol && u[29:27] == 3'd4 && u[312]) || ok_s2m_ndr_cxl68_enc_05({u[371:370], u[339:312]}))
        && (!(protocol && u[29:27] == 3'd4 && u[340]) || ok_s2m_ndr_cxl68_enc_05(u[369:340]))
        && (!(protocol && u[29:27] == 3'd5 && u[272]) || ok_s2m_ndr_cxl68_enc_05({u[331:330], u[299:272]}))
        && (!(protocol && u[29:27] == 3'd5 && u[300]) || ok_s2m_ndr_cxl68_enc_05(u[329:300]))
        && (!(protocol && u[32:30] == 3'd4 && u[440]) || ok_s2m_ndr_cxl68_enc_05({u[499:498], u[467:440]}))
        && (!(protocol && u[32:30] == 3'd4 && u[468]) || ok_s2m_ndr_cxl68_enc_05(u[497:468]))
        && (!(protocol && u[32:30] == 3'd5 && u[400]) || ok_s2m_ndr_cxl68_enc_05({u[459:458], u[427:400]}))
        && (!(protocol && u[32:30] == 3'd5 && u[428]) || ok_s2m_ndr_cxl68_enc_05(u[457:428]));
  endfunction

  function automatic logic ok_flit_up_cxl68_enc_06(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd3 && u[48]) || ok_s2m_drs_cxl68_enc_06(u[87:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_s2m_drs_cxl68_enc_06(u[87:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[88]) || ok_s2m_drs_cxl68_enc_06(u[127:88]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_s2m_drs_cxl68_enc_06(u[183:144]))
        && (!(protocol && u[26:24] == 3'd6 && u[144]) || ok_s2m_drs_cxl68_enc_06(u[183:144]))
        && (!(protocol && u[26:24] == 3'd6 && u[184]) || ok_s2m_drs_cxl68_enc_06(u[223:184]))
        && (!(protocol && u[26:24] == 3'd6 && u[224]) || ok_s2m_drs_cxl68_enc_06(u[263:224]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_s2m_drs_cxl68_enc_06(u[311:272]))
        && (!(protocol && u[29:27] == 3'd6 && u[272]) || ok_s2m_drs_cxl68_enc_06(u[311:272]))
        && (!(protocol && u[29:27] == 3'd6 && u[312]) || ok_s2m_drs_cxl68_enc_06(u[351:312]))
        && (!(protocol && u[29:27] == 3'd6 && u[352]) || ok_s2m_drs_cxl68_enc_06(u[391:352]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_s2m_drs_cxl68_enc_06(u[439:400]))
        && (!(protocol && u[32:30] == 3'd6 && u[400]) || ok_s2m_drs_cxl68_enc_06(u[439:400]))
        && (!(protocol && u[32:30] == 3'd6 && u[440]) || ok_s2m_drs_cxl68_enc_06(u[479:440]))
        && (!(protocol && u[32:30] == 3'd6 && u[480]) || ok_s2m_drs_cxl68_enc_06(u[519:480]));
  endfunction

  function automatic logic ok_flit_up_cxl68_enc_08(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd1 && u[48]) || ok_d2h_req_cxl68_enc_08(u[126:48]))
        && (!(protocol && u[26:24] == 3'd1 && u[144]) || ok_d2h_req_cxl68_enc_08(u[222:144]))
        && (!(protocol && u[26:24] == 3'd2 && u[144]) || ok_d2h_req_cxl68_enc_08(u[222:144]))
        && (!(protocol && u[29:27] == 3'd1 && u[272]) || ok_d2h_req_cxl68_enc_08(u[350:272]))
        && (!(protocol && u[29:27] == 3'd2 && u[272]) || ok_d2h_req_cxl68_enc_08(u[350:272]))
        && (!(protocol && u[32:30] == 3'd1 && u[400]) || ok_d2h_req_cxl68_enc_08(u[478:400]))
        && (!(protocol && u[32:30] == 3'd2 && u[400]) || ok_d2h_req_cxl68_enc_08(u[478:400]));
  endfunction

  function automatic logic ok_flit_up_cxl68_enc_09(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[65]) || ok_d2h_rsp_cxl68_enc_09(u[84:65]))
        && (!(protocol && u[23:21] == 3'd0 && u[85]) || ok_d2h_rsp_cxl68_enc_09(u[104:85]))
        && (!(protocol && u[23:21] == 3'd2 && u[116]) || ok_d2h_rsp_cxl68_enc_09(u[135:116]))
        && (!(protocol && u[26:24] == 3'd1 && u[223]) || ok_d2h_rsp_cxl68_enc_09(u[242:223]))
        && (!(protocol && u[26:24] == 3'd1 && u[243]) || ok_d2h_rsp_cxl68_enc_09(u[262:243]))
        && (!(protocol && u[26:24] == 3'd2 && u[240]) || ok_d2h_rsp_cxl68_enc_09(u[259:240]))
        && (!(protocol && u[29:27] == 3'd1 && u[351]) || ok_d2h_rsp_cxl68_enc_09(u[370:351]))
        && (!(protocol && u[29:27] == 3'd1 && u[371]) || ok_d2h_rsp_cxl68_enc_09(u[390:371]))
        && (!(protocol && u[29:27] == 3'd2 && u[368]) || ok_d2h_rsp_cxl68_enc_09(u[387:368]))
        && (!(protocol && u[32:30] == 3'd1 && u[479]) || ok_d2h_rsp_cxl68_enc_09(u[498:479]))
        && (!(protocol && u[32:30] == 3'd1 && u[499]) || ok_d2h_rsp_cxl68_enc_09(u[518:499]))
        && (!(protocol && u[32:30] == 3'd2 && u[496]) || ok_d2h_rsp_cxl68_enc_09(u[515:496]));
  endfunction

  function automatic logic ok_flit_up_cxl68_frm_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(null_unit || almp) || u[543:528] == '0);
  endfunction

  function automatic logic ok_flit_up_cxl68_msg_04(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd3 && u[48]) || ok_s2m_drs_cxl68_msg_04(u[87:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[48]) || ok_s2m_drs_cxl68_msg_04(u[87:48]))
        && (!(protocol && u[23:21] == 3'd5 && u[88]) || ok_s2m_drs_cxl68_msg_04(u[127:88]))
        && (!(protocol && u[26:24] == 3'd4 && u[144]) || ok_s2m_drs_cxl68_msg_04(u[183:144]))
        && (!(protocol && u[26:24] == 3'd6 && u[144]) || ok_s2m_drs_cxl68_msg_04(u[183:144]))
        && (!(protocol && u[26:24] == 3'd6 && u[184]) || ok_s2m_drs_cxl68_msg_04(u[223:184]))
        && (!(protocol && u[26:24] == 3'd6 && u[224]) || ok_s2m_drs_cxl68_msg_04(u[263:224]))
        && (!(protocol && u[29:27] == 3'd4 && u[272]) || ok_s2m_drs_cxl68_msg_04(u[311:272]))
        && (!(protocol && u[29:27] == 3'd6 && u[272]) || ok_s2m_drs_cxl68_msg_04(u[311:272]))
        && (!(protocol && u[29:27] == 3'd6 && u[312]) || ok_s2m_drs_cxl68_msg_04(u[351:312]))
        && (!(protocol && u[29:27] == 3'd6 && u[352]) || ok_s2m_drs_cxl68_msg_04(u[391:352]))
        && (!(protocol && u[32:30] == 3'd4 && u[400]) || ok_s2m_drs_cxl68_msg_04(u[439:400]))
        && (!(protocol && u[32:30] == 3'd6 && u[400]) || ok_s2m_drs_cxl68_msg_04(u[439:400]))
        && (!(protocol && u[32:30] == 3'd6 && u[440]) || ok_s2m_drs_cxl68_msg_04(u[479:440]))
        && (!(protocol && u[32:30] == 3'd6 && u[480]) || ok_s2m_drs_cxl68_msg_04(u[519:480]));
  endfunction

  function automatic logic ok_flit_up_cxl68_msg_05(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd1 && u[48]) || ok_d2h_req_cxl68_msg_05(u[126:48]))
        && (!(protocol && u[26:24] == 3'd1 && u[144]) || ok_d2h_req_cxl68_msg_05(u[222:144]))
        && (!(protocol && u[26:24] == 3'd2 && u[144]) || ok_d2h_req_cxl68_msg_05(u[222:144]))
        && (!(protocol && u[29:27] == 3'd1 && u[272]) || ok_d2h_req_cxl68_msg_05(u[350:272]))
        && (!(protocol && u[29:27] == 3'd2 && u[272]) || ok_d2h_req_cxl68_msg_05(u[350:272]))
        && (!(protocol && u[32:30] == 3'd1 && u[400]) || ok_d2h_req_cxl68_msg_05(u[478:400]))
        && (!(protocol && u[32:30] == 3'd2 && u[400]) || ok_d2h_req_cxl68_msg_05(u[478:400]));
  endfunction

  function automatic logic ok_flit_up_cxl68_msg_06(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[65]) || ok_d2h_rsp_cxl68_msg_06(u[84:65]))
        && (!(protocol && u[23:21] == 3'd0 && u[85]) || ok_d2h_rsp_cxl68_msg_06(u[104:85]))
        && (!(protocol && u[23:21] == 3'd2 && u[116]) || ok_d2h_rsp_cxl68_msg_06(u[135:116]))
        && (!(protocol && u[26:24] == 3'd1 && u[223]) || ok_d2h_rsp_cxl68_msg_06(u[242:223]))
        && (!(protocol && u[26:24] == 3'd1 && u[243]) || ok_d2h_rsp_cxl68_msg_06(u[262:243]))
        && (!(protocol && u[26:24] == 3'd2 && u[240]) || ok_d2h_rsp_cxl68_msg_06(u[259:240]))
        && (!(protocol && u[29:27] == 3'd1 && u[351]) || ok_d2h_rsp_cxl68_msg_06(u[370:351]))
        && (!(protocol && u[29:27] == 3'd1 && u[371]) || ok_d2h_rsp_cxl68_msg_06(u[390:371]))
        && (!(protocol && u[29:27] == 3'd2 && u[368]) || ok_d2h_rsp_cxl68_msg_06(u[387:368]))
        && (!(protocol && u[32:30] == 3'd1 && u[479]) || ok_d2h_rsp_cxl68_msg_06(u[498:479]))
        && (!(protocol && u[32:30] == 3'd1 && u[499]) || ok_d2h_rsp_cxl68_msg_06(u[518:499]))
        && (!(protocol && u[32:30] == 3'd2 && u[496]) || ok_d2h_rsp_cxl68_msg_06(u[515:496]));
  endfunction

  function automatic logic ok_flit_up_cxl68_msg_07(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(protocol && u[23:21] == 3'd0 && u[48]) || ok_d2h_data_cxl68_msg_07(u[64:48]))
        && (!(protocol && u[23:21] == 3'd1 && u[127]) || ok_d2h_data_cxl68_msg_07(u[143:127]))
        && (!(protocol && u[23:21] == 3'd2 && u[48]) || ok_d2h_data_cxl68_msg_07(u[64:48]))
        && (!(protocol && u[23:21] == 3'd2 && u[65]) || ok_d2h_data_cxl68_msg_07(u[81:65]))
        && (!(protocol && u[23:21] == 3'd2 && u[82]) || ok_d2h_data_cxl68_msg_07(u[98:82]))
        && (!(protocol && u[23:21] == 3'd2 && u[99]) || ok_d2h_data_cxl68_msg_07(u[115:99]))
        && (!(protocol && u[26:24] == 3'd2 && u[223]) || ok_d2h_data_cxl68_msg_07(u[239:223]))
        && (!(protocol && u[26:24] == 3'd3 && u[144]) || ok_d2h_data_cxl68_msg_07(u[160:144]))
        && (!(protocol && u[26:24] == 3'd3 && u[161]) || ok_d2h_data_cxl68_msg_07(u[177:161]))
        && (!(protocol && u[26:24] == 3'd3 && u[178]) || ok_d2h_data_cxl68_msg_07(u[194:178]))
        && (!(protocol && u[26:24] == 3'd3 && u[195]) || ok_d2h_data_cxl68_msg_07(u[211:195]))
        && (!(protocol && u[29:27] == 3'd2 && u[351]) || ok_d2h_data_cxl68_msg_07(u[367:351]))
        && (!(protocol && u[29:27] == 3'd3 && u[272]) || ok_d2h_data_cxl68_msg_07(u[288:272]))
        && (!(protocol && u[29:27] == 3'd3 && u[289]) || ok_d2h_data_cxl68_msg_07(u[305:289]))
        && (!(protocol && u[29:27] == 3'd3 && u[306]) || ok_d2h_data_cxl68_msg_07(u[322:306]))
        && (!(protocol && u[29:27] == 3'd3 && u[323]) || ok_d2h_data_cxl68_msg_07(u[339:323]))
        && (!(protocol && u[32:30] == 3'd2 && u[479]) || ok_d2h_data_cxl68_msg_07(u[495:479]))
        && (!(protocol && u[32:30] == 3'd3 && u[400]) || ok_d2h_data_cxl68_msg_07(u[416:400]))
        && (!(protocol && u[32:30] == 3'd3 && u[417]) || ok_d2h_data_cxl68_msg_07(u[433:417]))
        && (!(protocol && u[32:30] == 3'd3 && u[434]) || ok_d2h_data_cxl68_msg_07(u[450:434]))
        && (!(protocol && u[32:30] == 3'd3 && u[451]) || ok_d2h_data_cxl68_msg_07(u[467:451]));
  endfunction

  function automatic logic ok_flit_up_cxl68_nul_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!null_unit || u[527:16] == '0);
  endfunction

  function automatic logic ok_flit_up_cxl68_pid_02(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e} == u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e});
  endfunction

  function automatic logic ok_flit_up_cxl68_pid_03(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e} || u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e});
  endfunction

  function automatic logic ok_flit_up_cxl68_pid_04(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}) || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}) || u[7:0] == u[15:8]);
  endfunction

  function automatic logic ok_flit_up_cxl68_slt_01(input logic [543:0] u, input logic cachemem, input logic null_unit, input logic almp, input logic crc_ok, input logic control, input logic protocol);
    return (!protocol || u[23:21] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5, 3'h6})
        && (!protocol || u[26:24] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5, 3'h6})
        && (!protocol || u[29:27] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5, 3'h6})
        && (!protocol || u[32:30] inside {3'h0, 3'h1, 3'h2, 3'h3, 3'h4, 3'h5, 3'h6});
  endfunction

endpackage : scalepool_cxl68_rules_pkg

// cxl68.m2s_req: CXL.mem request without data, host to device.
module scalepool_cxl68_m2s_req_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [86:0] message_i
);
  CXL68_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl68_enc_01(message_i))
  else $error("CXL68-ENC-01 cxl68.m2s_req: an M2S Req carries a specified opcode");
  CXL68_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl68_enc_03(message_i))
  else $error("CXL68-ENC-03 cxl68.m2s_req: SnpType holds a specified code");
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl68_enc_04(message_i))
  else $error("CXL68-ENC-04 cxl68.m2s_req: MetaField and MetaValue hold specified codes");
  CXL68_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_req_cxl68_msg_01(message_i))
  else $error("CXL68-MSG-01 cxl68.m2s_req: an M2S Req has the specified layout");
endmodule : scalepool_cxl68_m2s_req_sva

// cxl68.m2s_rwd: Header of a CXL.mem request with data, host to device.
module scalepool_cxl68_m2s_rwd_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [86:0] message_i
);
  CXL68_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl68_enc_02(message_i))
  else $error("CXL68-ENC-02 cxl68.m2s_rwd: an M2S RwD carries the opcode MemWr or MemWrPtl");
  CXL68_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl68_enc_03(message_i))
  else $error("CXL68-ENC-03 cxl68.m2s_rwd: SnpType holds a specified code");
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl68_enc_04(message_i))
  else $error("CXL68-ENC-04 cxl68.m2s_rwd: MetaField and MetaValue hold specified codes");
  CXL68_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_m2s_rwd_cxl68_msg_02(message_i))
  else $error("CXL68-MSG-02 cxl68.m2s_rwd: an M2S RwD header has the specified layout");
endmodule : scalepool_cxl68_m2s_rwd_sva

// cxl68.s2m_ndr: CXL.mem answer without data, device to host. 28 bits in 1.1; DevLoad is split off in some slots (section 3.3).
module scalepool_cxl68_s2m_ndr_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [29:0] message_i
);
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxl68_enc_04(message_i))
  else $error("CXL68-ENC-04 cxl68.s2m_ndr: MetaField and MetaValue hold specified codes");
  CXL68_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_ndr_cxl68_enc_05(message_i))
  else $error("CXL68-ENC-05 cxl68.s2m_ndr: an S2M NDR carries opcode 0, 1 or 2");
endmodule : scalepool_cxl68_s2m_ndr_sva

// cxl68.s2m_drs: Header of a CXL.mem answer with data, device to host.
module scalepool_cxl68_s2m_drs_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [39:0] message_i
);
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl68_enc_04(message_i))
  else $error("CXL68-ENC-04 cxl68.s2m_drs: MetaField and MetaValue hold specified codes");
  CXL68_ENC_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl68_enc_06(message_i))
  else $error("CXL68-ENC-06 cxl68.s2m_drs: an S2M DRS is sent with opcode 0; a receiver also decodes opcode 1 (MemDataNXM)");
  CXL68_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_s2m_drs_cxl68_msg_04(message_i))
  else $error("CXL68-MSG-04 cxl68.s2m_drs: an S2M DRS header has the specified layout");
endmodule : scalepool_cxl68_s2m_drs_sva

// cxl68.d2h_req: CXL.cache request, device to host.
module scalepool_cxl68_d2h_req_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [78:0] message_i
);
  CXL68_ENC_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxl68_enc_08(message_i))
  else $error("CXL68-ENC-08 cxl68.d2h_req: a D2H Req carries a specified opcode; NT = 1 asks for the LRU position");
  CXL68_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_req_cxl68_msg_05(message_i))
  else $error("CXL68-MSG-05 cxl68.d2h_req: a D2H Req has the specified layout");
endmodule : scalepool_cxl68_d2h_req_sva

// cxl68.d2h_rsp: CXL.cache snoop answer, device to host.
module scalepool_cxl68_d2h_rsp_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [19:0] message_i
);
  CXL68_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxl68_enc_09(message_i))
  else $error("CXL68-ENC-09 cxl68.d2h_rsp: a D2H Rsp carries a specified opcode");
  CXL68_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_rsp_cxl68_msg_06(message_i))
  else $error("CXL68-MSG-06 cxl68.d2h_rsp: a D2H Rsp has the specified layout");
endmodule : scalepool_cxl68_d2h_rsp_sva

// cxl68.d2h_data: Header of CXL.cache data, device to host.
module scalepool_cxl68_d2h_data_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [16:0] message_i
);
  CXL68_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_d2h_data_cxl68_msg_07(message_i))
  else $error("CXL68-MSG-07 cxl68.d2h_data: a D2H data header has the specified layout");
endmodule : scalepool_cxl68_d2h_data_sva

// cxl68.h2d_req: CXL.cache snoop, host to device.
module scalepool_cxl68_h2d_req_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [63:0] message_i
);
  CXL68_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxl68_enc_10(message_i))
  else $error("CXL68-ENC-10 cxl68.h2d_req: an H2D Req carries a specified opcode");
  CXL68_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_req_cxl68_msg_08(message_i))
  else $error("CXL68-MSG-08 cxl68.h2d_req: an H2D Req has the specified layout");
endmodule : scalepool_cxl68_h2d_req_sva

// cxl68.h2d_rsp: CXL.cache answer, host to device.
module scalepool_cxl68_h2d_rsp_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXL68_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl68_enc_11(message_i))
  else $error("CXL68-ENC-11 cxl68.h2d_rsp: an H2D Rsp carries a specified opcode");
  CXL68_ENC_13: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl68_enc_13(message_i))
  else $error("CXL68-ENC-13 cxl68.h2d_rsp: RSP_PRE holds a specified code");
  CXL68_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_rsp_cxl68_msg_09(message_i))
  else $error("CXL68-MSG-09 cxl68.h2d_rsp: an H2D Rsp has the specified layout");
endmodule : scalepool_cxl68_h2d_rsp_sva

// cxl68.h2d_data: Header of CXL.cache data, host to device.
module scalepool_cxl68_h2d_data_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [23:0] message_i
);
  CXL68_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_h2d_data_cxl68_msg_10(message_i))
  else $error("CXL68-MSG-10 cxl68.h2d_data: an H2D data header has the specified layout");
endmodule : scalepool_cxl68_h2d_data_sva

// cxl68.flit_header: Flit header, flit bits 31:0. Credits stand in the order Rsp, Req, Data.
module scalepool_cxl68_flit_header_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXL68_HDR_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_header_cxl68_hdr_02(message_i))
  else $error("CXL68-HDR-02 cxl68.flit_header: header bits 1 and 19:17 are sent as 0 and ignored by the receiver");
endmodule : scalepool_cxl68_flit_header_sva

// cxl68.llcrd: LLCRD slot: credits and acknowledgements. Full_Ack is {ack_high, ak, ack_low}.
module scalepool_cxl68_llcrd_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_llcrd_cxl68_ctl_01(message_i))
  else $error("CXL68-CTL-01 cxl68.llcrd: LLCRD, RETRY, INIT and IDE control flits have the specified layouts");
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_llcrd_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.llcrd: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
endmodule : scalepool_cxl68_llcrd_sva

// cxl68.retry_req: RETRY.Req slot: ask the peer to resend.
module scalepool_cxl68_retry_req_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_req_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.retry_req: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
  CXL68_CTL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_req_cxl68_ctl_03(message_i))
  else $error("CXL68-CTL-03 cxl68.retry_req: LLCRD.Acknowledge, RETRY.Req, RETRY.Ack and INIT.Param have the specified payload layouts");
endmodule : scalepool_cxl68_retry_req_sva

// cxl68.retry_ack: RETRY.Ack slot: the resent flits follow.
module scalepool_cxl68_retry_ack_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_ack_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.retry_ack: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
  CXL68_CTL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_ack_cxl68_ctl_03(message_i))
  else $error("CXL68-CTL-03 cxl68.retry_ack: LLCRD.Acknowledge, RETRY.Req, RETRY.Ack and INIT.Param have the specified payload layouts");
endmodule : scalepool_cxl68_retry_ack_sva

// cxl68.retry: RETRY slot without payload: Idle and Frame.
module scalepool_cxl68_retry_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_cxl68_ctl_01(message_i))
  else $error("CXL68-CTL-01 cxl68.retry: LLCRD, RETRY, INIT and IDE control flits have the specified layouts");
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_retry_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.retry: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
endmodule : scalepool_cxl68_retry_sva

// cxl68.init_param: INIT.Param slot: link-layer parameters.
module scalepool_cxl68_init_param_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_init_param_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.init_param: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
  CXL68_CTL_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_init_param_cxl68_ctl_03(message_i))
  else $error("CXL68-CTL-03 cxl68.init_param: LLCRD.Acknowledge, RETRY.Req, RETRY.Ack and INIT.Param have the specified payload layouts");
endmodule : scalepool_cxl68_init_param_sva

// cxl68.ide: IDE slot, content opaque. The payload is {payload_high, payload_mid, payload_low}.
module scalepool_cxl68_ide_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [127:0] message_i
);
  CXL68_CTL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ide_cxl68_ctl_01(message_i))
  else $error("CXL68-CTL-01 cxl68.ide: LLCRD, RETRY, INIT and IDE control flits have the specified layouts");
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_ide_cxl68_ctl_02(message_i))
  else $error("CXL68-CTL-02 cxl68.ide: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
endmodule : scalepool_cxl68_ide_sva

// cxl68.almp: One DWORD of an ARB/MUX link management packet; it stands four times in flit bytes 0 to 15.
module scalepool_cxl68_almp_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [31:0] message_i
);
  CXL68_ALM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_almp_cxl68_alm_02(message_i))
  else $error("CXL68-ALM-02 cxl68.almp: an ALMP carries specified codes of message, state, instance, and request or status");
endmodule : scalepool_cxl68_almp_sva

// Flits of cxl-68b.
module scalepool_cxl68_flit_down_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [543:0] unit_i,
    input logic all_data_i
);
  logic [543:0] u;
  assign u = unit_i;
  logic all_data;
  assign all_data = all_data_i;
  logic cachemem;
  assign cachemem = (u[7:0] inside {8'h55, 8'h87} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'h55, 8'h87} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic null_unit;
  assign null_unit = (u[7:0] inside {8'h99, 8'h4b} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'h99, 8'h4b} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic almp;
  assign almp = (u[7:0] inside {8'hcc, 8'h1e} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'hcc, 8'h1e} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic crc_ok;
  assign crc_ok = u[543:528] == crc16(u[527:16]);
  logic control;
  assign control = cachemem && crc_ok && !all_data && u[16];
  logic protocol;
  assign protocol = cachemem && crc_ok && !all_data && !u[16];
  CXL68_ALM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_alm_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ALM-01 cxl-68b: an ALMP is repeated four times in bytes 0 to 15; all other bytes are 0, and it has no CRC");
  CXL68_ALM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_alm_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ALM-02 cxl-68b: an ALMP carries specified codes of message, state, instance, and request or status");
  CXL68_CRC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_crc_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CRC-01 cxl-68b: a flit ends with a CRC-16: polynomial F053, initial value 0, no reflection");
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_ctl_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CTL-02 cxl-68b: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
  CXL68_CTL_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_ctl_05(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CTL-05 cxl-68b: the static bits of a control flit are 0; a control flit with one set is treated like a flit with a bad CRC");
  CXL68_ENC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-01 cxl-68b: an M2S Req carries a specified opcode");
  CXL68_ENC_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-02 cxl-68b: an M2S RwD carries the opcode MemWr or MemWrPtl");
  CXL68_ENC_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_03(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-03 cxl-68b: SnpType holds a specified code");
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_04(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-04 cxl-68b: MetaField and MetaValue hold specified codes");
  CXL68_ENC_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_10(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-10 cxl-68b: an H2D Req carries a specified opcode");
  CXL68_ENC_11: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_11(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-11 cxl-68b: an H2D Rsp carries a specified opcode");
  CXL68_ENC_13: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_enc_13(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-13 cxl-68b: RSP_PRE holds a specified code");
  CXL68_FRM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_frm_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-FRM-02 cxl-68b: bytes 66 and 67 hold the CRC of a CXL.cachemem flit, are 0 in ALMP and NULL flits, and reserved in CXL.io flits");
  CXL68_MSG_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_msg_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-01 cxl-68b: an M2S Req has the specified layout");
  CXL68_MSG_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_msg_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-02 cxl-68b: an M2S RwD header has the specified layout");
  CXL68_MSG_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_msg_08(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-08 cxl-68b: an H2D Req has the specified layout");
  CXL68_MSG_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_msg_09(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-09 cxl-68b: an H2D Rsp has the specified layout");
  CXL68_MSG_10: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_msg_10(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-10 cxl-68b: an H2D data header has the specified layout");
  CXL68_NUL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_nul_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-NUL-01 cxl-68b: the physical layer fills gaps with NULL flits, whose payload is 0");
  CXL68_PID_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_pid_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-02 cxl-68b: when one ID byte is invalid, the receiver uses the other one and keeps the flit");
  CXL68_PID_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_pid_03(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-03 cxl-68b: a unit whose two ID bytes are both invalid is dropped, and the link retrains");
  CXL68_PID_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_pid_04(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-04 cxl-68b: a unit whose two ID bytes are valid but different is dropped, and the link retrains");
  CXL68_SLT_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_down_cxl68_slt_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-SLT-01 cxl-68b: a slot has a format code that is legal for its direction and position");
endmodule : scalepool_cxl68_flit_down_sva

// Flits of cxl-68b.
module scalepool_cxl68_flit_up_sva
  import scalepool_cxl68_rules_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic [543:0] unit_i,
    input logic all_data_i
);
  logic [543:0] u;
  assign u = unit_i;
  logic all_data;
  assign all_data = all_data_i;
  logic cachemem;
  assign cachemem = (u[7:0] inside {8'h55, 8'h87} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'h55, 8'h87} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic null_unit;
  assign null_unit = (u[7:0] inside {8'h99, 8'h4b} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'h99, 8'h4b} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic almp;
  assign almp = (u[7:0] inside {8'hcc, 8'h1e} && (u[7:0] == u[15:8] || !(u[15:8] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e})) || u[15:8] inside {8'hcc, 8'h1e} && !(u[7:0] inside {8'hff, 8'hd2, 8'h55, 8'h87, 8'h99, 8'h4b, 8'hcc, 8'h1e}));
  logic crc_ok;
  assign crc_ok = u[543:528] == crc16(u[527:16]);
  logic control;
  assign control = cachemem && crc_ok && !all_data && u[16];
  logic protocol;
  assign protocol = cachemem && crc_ok && !all_data && !u[16];
  CXL68_ALM_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_alm_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ALM-01 cxl-68b: an ALMP is repeated four times in bytes 0 to 15; all other bytes are 0, and it has no CRC");
  CXL68_ALM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_alm_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ALM-02 cxl-68b: an ALMP carries specified codes of message, state, instance, and request or status");
  CXL68_CRC_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_crc_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CRC-01 cxl-68b: a flit ends with a CRC-16: polynomial F053, initial value 0, no reflection");
  CXL68_CTL_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_ctl_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CTL-02 cxl-68b: LLCTRL, SubType and CTL_FMT hold a specified combination of codes");
  CXL68_CTL_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_ctl_05(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-CTL-05 cxl-68b: the static bits of a control flit are 0; a control flit with one set is treated like a flit with a bad CRC");
  CXL68_ENC_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_enc_04(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-04 cxl-68b: MetaField and MetaValue hold specified codes");
  CXL68_ENC_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_enc_05(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-05 cxl-68b: an S2M NDR carries opcode 0, 1 or 2");
  CXL68_ENC_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_enc_06(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-06 cxl-68b: an S2M DRS is sent with opcode 0; a receiver also decodes opcode 1 (MemDataNXM)");
  CXL68_ENC_08: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_enc_08(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-08 cxl-68b: a D2H Req carries a specified opcode; NT = 1 asks for the LRU position");
  CXL68_ENC_09: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_enc_09(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-ENC-09 cxl-68b: a D2H Rsp carries a specified opcode");
  CXL68_FRM_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_frm_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-FRM-02 cxl-68b: bytes 66 and 67 hold the CRC of a CXL.cachemem flit, are 0 in ALMP and NULL flits, and reserved in CXL.io flits");
  CXL68_MSG_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_msg_04(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-04 cxl-68b: an S2M DRS header has the specified layout");
  CXL68_MSG_05: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_msg_05(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-05 cxl-68b: a D2H Req has the specified layout");
  CXL68_MSG_06: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_msg_06(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-06 cxl-68b: a D2H Rsp has the specified layout");
  CXL68_MSG_07: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_msg_07(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-MSG-07 cxl-68b: a D2H data header has the specified layout");
  CXL68_NUL_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_nul_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-NUL-01 cxl-68b: the physical layer fills gaps with NULL flits, whose payload is 0");
  CXL68_PID_02: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_pid_02(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-02 cxl-68b: when one ID byte is invalid, the receiver uses the other one and keeps the flit");
  CXL68_PID_03: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_pid_03(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-03 cxl-68b: a unit whose two ID bytes are both invalid is dropped, and the link retrains");
  CXL68_PID_04: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_pid_04(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-PID-04 cxl-68b: a unit whose two ID bytes are valid but different is dropped, and the link retrains");
  CXL68_SLT_01: assert property (@(posedge clk_i) disable iff (!rst_ni)
    valid_i |-> ok_flit_up_cxl68_slt_01(unit_i, cachemem, null_unit, almp, crc_ok, control, protocol))
  else $error("CXL68-SLT-01 cxl-68b: a slot has a format code that is legal for its direction and position");
endmodule : scalepool_cxl68_flit_up_sva
