// Made by `scalepool export sv` from the layout tables; do not edit.
package scalepool_cxl256_pkg;

  // H2dReqOpcode (cxl-68b section 4.10).
  typedef enum logic [2:0] {
    H2D_REQ_OPCODE_SNP_DATA = 3'h1,
    H2D_REQ_OPCODE_SNP_INV = 3'h2,
    H2D_REQ_OPCODE_SNP_CUR = 3'h3
  } h2d_req_opcode_e;

  // H2dRspOpcode (cxl-256b section 4.1).
  typedef enum logic [3:0] {
    H2D_RSP_OPCODE_WRITE_PULL = 4'h1,
    H2D_RSP_OPCODE_GO = 4'h4,
    H2D_RSP_OPCODE_GO_WRITE_PULL = 4'h5,
    H2D_RSP_OPCODE_EXT_CMP = 4'h6,
    H2D_RSP_OPCODE_GO_WRITE_PULL_DROP = 4'h8,
    H2D_RSP_OPCODE_FAST_GO_WRITE_PULL = 4'hd,
    H2D_RSP_OPCODE_GO_ERR_WRITE_PULL = 4'hf
  } h2d_rsp_opcode_e;

  // RspPre (cxl-68b section 4.11).
  typedef enum logic [1:0] {
    RSP_PRE_MISS_LOCAL = 2'h0,
    RSP_PRE_HIT = 2'h1,
    RSP_PRE_MISS_REMOTE = 2'h2
  } rsp_pre_e;

  // D2hReqOpcode (cxl-68b section 4.8).
  typedef enum logic [4:0] {
    D2H_REQ_OPCODE_RD_CURR = 5'h1,
    D2H_REQ_OPCODE_RD_OWN = 5'h2,
    D2H_REQ_OPCODE_RD_SHARED = 5'h3,
    D2H_REQ_OPCODE_RD_ANY = 5'h4,
    D2H_REQ_OPCODE_RD_OWN_NO_DATA = 5'h5,
    D2H_REQ_OPCODE_ITO_M_WR = 5'h6,
    D2H_REQ_OPCODE_WR_CUR = 5'h7,
    D2H_REQ_OPCODE_CL_FLUSH = 5'h8,
    D2H_REQ_OPCODE_CLEAN_EVICT = 5'h9,
    D2H_REQ_OPCODE_DIRTY_EVICT = 5'ha,
    D2H_REQ_OPCODE_CLEAN_EVICT_NO_DATA = 5'hb,
    D2H_REQ_OPCODE_WO_WR_INV = 5'hc,
    D2H_REQ_OPCODE_WO_WR_INV_F = 5'hd,
    D2H_REQ_OPCODE_WR_INV = 5'he,
    D2H_REQ_OPCODE_CACHE_FLUSHED = 5'h10
  } d2h_req_opcode_e;

  // D2hRspOpcode (cxl-68b section 4.9).
  typedef enum logic [4:0] {
    D2H_RSP_OPCODE_RSP_I_HIT_I = 5'h4,
    D2H_RSP_OPCODE_RSP_V_HIT_V = 5'h6,
    D2H_RSP_OPCODE_RSP_I_HIT_SE = 5'h5,
    D2H_RSP_OPCODE_RSP_S_HIT_SE = 5'h1,
    D2H_RSP_OPCODE_RSP_S_FWD_M = 5'h7,
    D2H_RSP_OPCODE_RSP_I_FWD_M = 5'hf,
    D2H_RSP_OPCODE_RSP_V_FWD_V = 5'h16
  } d2h_rsp_opcode_e;

  // M2sReqOpcode (cxl-256b section 4.2).
  typedef enum logic [3:0] {
    M2S_REQ_OPCODE_MEM_INV = 4'h0,
    M2S_REQ_OPCODE_MEM_RD = 4'h1,
    M2S_REQ_OPCODE_MEM_RD_DATA = 4'h2,
    M2S_REQ_OPCODE_MEM_RD_FWD = 4'h3,
    M2S_REQ_OPCODE_MEM_WR_FWD = 4'h4,
    M2S_REQ_OPCODE_MEM_RD_TEE = 4'h5,
    M2S_REQ_OPCODE_MEM_RD_DATA_TEE = 4'h6,
    M2S_REQ_OPCODE_MEM_INV_TEE = 4'h7,
    M2S_REQ_OPCODE_MEM_SPEC_RD = 4'h8,
    M2S_REQ_OPCODE_MEM_INV_NT = 4'h9,
    M2S_REQ_OPCODE_MEM_CLN_EVCT = 4'ha,
    M2S_REQ_OPCODE_MEM_INV_PTEE = 4'hb,
    M2S_REQ_OPCODE_MEM_SPEC_RD_TEE = 4'hc,
    M2S_REQ_OPCODE_TE_UPDATE = 4'hd,
    M2S_REQ_OPCODE_MEM_CLN_EVCT_TEE = 4'he,
    M2S_REQ_OPCODE_MEM_CLN_EVCT_U = 4'hf
  } m2s_req_opcode_e;

  // SnpType (cxl-68b section 4.3).
  typedef enum logic [2:0] {
    SNP_TYPE_NO_OP = 3'h0,
    SNP_TYPE_SNP_DATA = 3'h1,
    SNP_TYPE_SNP_CUR = 3'h2,
    SNP_TYPE_SNP_INV = 3'h3
  } snp_type_e;

  // MetaField (cxl-256b section 4.4).
  typedef enum logic [1:0] {
    META_FIELD_META0_STATE = 2'h0,
    META_FIELD_EMS = 2'h1,
    META_FIELD_NO_OP = 2'h3
  } meta_field_e;

  // MetaValue (cxl-256b section 4.4).
  typedef enum logic [1:0] {
    META_VALUE_INVALID = 2'h0,
    META_VALUE_EXPLICIT_NO_OP = 2'h1,
    META_VALUE_ANY = 2'h2,
    META_VALUE_SHARED = 2'h3
  } meta_value_e;

  // M2sRwdOpcode (cxl-256b section 4.2).
  typedef enum logic [3:0] {
    M2S_RWD_OPCODE_MEM_WR = 4'h1,
    M2S_RWD_OPCODE_MEM_WR_PTL = 4'h2,
    M2S_RWD_OPCODE_BI_CONFLICT = 4'h4,
    M2S_RWD_OPCODE_MEM_RD_FILL = 4'h5,
    M2S_RWD_OPCODE_MEM_WR_TEE = 4'h9,
    M2S_RWD_OPCODE_MEM_WR_PTL_TEE = 4'ha,
    M2S_RWD_OPCODE_MEM_RD_FILL_TEE = 4'hd
  } m2s_rwd_opcode_e;

  // BirspOpcode (cxl-256b section 4.3).
  typedef enum logic [3:0] {
    BIRSP_OPCODE_BI_RSP_I = 4'h0,
    BIRSP_OPCODE_BI_RSP_S = 4'h1,
    BIRSP_OPCODE_BI_RSP_E = 4'h2,
    BIRSP_OPCODE_BI_RSP_I_BLK = 4'h4,
    BIRSP_OPCODE_BI_RSP_S_BLK = 4'h5,
    BIRSP_OPCODE_BI_RSP_E_BLK = 4'h6
  } birsp_opcode_e;

  // BisnpOpcode (cxl-256b section 4.3).
  typedef enum logic [3:0] {
    BISNP_OPCODE_BI_SNP_CUR = 4'h0,
    BISNP_OPCODE_BI_SNP_DATA = 4'h1,
    BISNP_OPCODE_BI_SNP_INV = 4'h2,
    BISNP_OPCODE_BI_SNP_CUR_BLK = 4'h4,
    BISNP_OPCODE_BI_SNP_DATA_BLK = 4'h5,
    BISNP_OPCODE_BI_SNP_INV_BLK = 4'h6,
    BISNP_OPCODE_BI_SNP_CUR_TEE = 4'h8,
    BISNP_OPCODE_BI_SNP_DATA_TEE = 4'h9,
    BISNP_OPCODE_BI_SNP_INV_TEE = 4'ha,
    BISNP_OPCODE_BI_SNP_CUR_BLK_TEE = 4'hc,
    BISNP_OPCODE_BI_SNP_DATA_BLK_TEE = 4'hd,
    BISNP_OPCODE_BI_SNP_INV_BLK_TEE = 4'he
  } bisnp_opcode_e;

  // NdrOpcode (cxl-256b section 4.3).
  typedef enum logic [2:0] {
    NDR_OPCODE_CMP = 3'h0,
    NDR_OPCODE_CMP_S = 3'h1,
    NDR_OPCODE_CMP_E = 3'h2,
    NDR_OPCODE_CMP_M = 3'h3,
    NDR_OPCODE_BI_CONFLICT_ACK = 3'h4,
    NDR_OPCODE_CMP_TEE = 3'h5,
    NDR_OPCODE_CMP_STEE = 3'h6,
    NDR_OPCODE_CMP_ETEE = 3'h7
  } ndr_opcode_e;

  // DevLoad (cxl-68b section 4.7).
  typedef enum logic [1:0] {
    DEV_LOAD_LIGHT = 2'h0,
    DEV_LOAD_OPTIMAL = 2'h1,
    DEV_LOAD_MODERATE = 2'h2,
    DEV_LOAD_SEVERE = 2'h3
  } dev_load_e;

  // DrsOpcode (cxl-256b section 4.3).
  typedef enum logic [2:0] {
    DRS_OPCODE_MEM_DATA = 3'h0,
    DRS_OPCODE_MEM_DATA_NXM = 3'h1,
    DRS_OPCODE_MEM_DATA_TEE = 3'h2
  } drs_opcode_e;

  // ReplayCommand (cxl-256b section 1.3).
  typedef enum logic [1:0] {
    REPLAY_COMMAND_EXPLICIT = 2'h0,
    REPLAY_COMMAND_ACK = 2'h1,
    REPLAY_COMMAND_NAK_STANDARD = 2'h2,
    REPLAY_COMMAND_NAK_SELECTIVE = 2'h3
  } replay_command_e;

  // FlitType (cxl-256b section 1.4).
  typedef enum logic [1:0] {
    FLIT_TYPE_NOP = 2'h0,
    FLIT_TYPE_IO = 2'h1,
    FLIT_TYPE_CACHEMEM = 2'h2,
    FLIT_TYPE_ALMP = 2'h3
  } flit_type_e;

  // RequestCredit (cxl-256b section 1.6).
  typedef enum logic [4:0] {
    REQUEST_CREDIT_NO_CREDIT = 5'h0,
    REQUEST_CREDIT_EMPTY_FLIT = 5'h1,
    REQUEST_CREDIT_H2D_REQ1 = 5'h4,
    REQUEST_CREDIT_H2D_REQ4 = 5'h5,
    REQUEST_CREDIT_H2D_REQ8 = 5'h6,
    REQUEST_CREDIT_H2D_REQ12 = 5'h7,
    REQUEST_CREDIT_H2D_REQ16 = 5'h8,
    REQUEST_CREDIT_D2H_REQ1 = 5'h9,
    REQUEST_CREDIT_D2H_REQ4 = 5'ha,
    REQUEST_CREDIT_D2H_REQ8 = 5'hb,
    REQUEST_CREDIT_D2H_REQ12 = 5'hc,
    REQUEST_CREDIT_D2H_REQ16 = 5'hd,
    REQUEST_CREDIT_M2S_REQ1 = 5'h14,
    REQUEST_CREDIT_M2S_REQ4 = 5'h15,
    REQUEST_CREDIT_M2S_REQ8 = 5'h16,
    REQUEST_CREDIT_M2S_REQ12 = 5'h17,
    REQUEST_CREDIT_M2S_REQ16 = 5'h18,
    REQUEST_CREDIT_S2M_BISNP1 = 5'h19,
    REQUEST_CREDIT_S2M_BISNP4 = 5'h1a,
    REQUEST_CREDIT_S2M_BISNP8 = 5'h1b,
    REQUEST_CREDIT_S2M_BISNP12 = 5'h1c,
    REQUEST_CREDIT_S2M_BISNP16 = 5'h1d
  } request_credit_e;

  // DataCredit (cxl-256b section 1.6).
  typedef enum logic [4:0] {
    DATA_CREDIT_NO_CREDIT = 5'h0,
    DATA_CREDIT_H2D_DATA1 = 5'h4,
    DATA_CREDIT_H2D_DATA4 = 5'h5,
    DATA_CREDIT_H2D_DATA8 = 5'h6,
    DATA_CREDIT_H2D_DATA12 = 5'h7,
    DATA_CREDIT_H2D_DATA16 = 5'h8,
    DATA_CREDIT_D2H_DATA1 = 5'h9,
    DATA_CREDIT_D2H_DATA4 = 5'ha,
    DATA_CREDIT_D2H_DATA8 = 5'hb,
    DATA_CREDIT_D2H_DATA12 = 5'hc,
    DATA_CREDIT_D2H_DATA16 = 5'hd,
    DATA_CREDIT_M2S_RWD1 = 5'h14,
    DATA_CREDIT_M2S_RWD4 = 5'h15,
    DATA_CREDIT_M2S_RWD8 = 5'h16,
    DATA_CREDIT_M2S_RWD12 = 5'h17,
    DATA_CREDIT_M2S_RWD16 = 5'h18,
    DATA_CREDIT_S2M_DRS1 = 5'h19,
    DATA_CREDIT_S2M_DRS4 = 5'h1a,
    DATA_CREDIT_S2M_DRS8 = 5'h1b,
    DATA_CREDIT_S2M_DRS12 = 5'h1c,
    DATA_CREDIT_S2M_DRS16 = 5'h1d
  } data_credit_e;

  // ResponseCredit (cxl-256b section 1.6).
  typedef enum logic [4:0] {
    RESPONSE_CREDIT_NO_CREDIT = 5'h0,
    RESPONSE_CREDIT_H2D_RSP1 = 5'h4,
    RESPONSE_CREDIT_H2D_RSP4 = 5'h5,
    RESPONSE_CREDIT_H2D_RSP8 = 5'h6,
    RESPONSE_CREDIT_H2D_RSP12 = 5'h7,
    RESPONSE_CREDIT_H2D_RSP16 = 5'h8,
    RESPONSE_CREDIT_D2H_RSP1 = 5'h9,
    RESPONSE_CREDIT_D2H_RSP4 = 5'ha,
    RESPONSE_CREDIT_D2H_RSP8 = 5'hb,
    RESPONSE_CREDIT_D2H_RSP12 = 5'hc,
    RESPONSE_CREDIT_D2H_RSP16 = 5'hd,
    RESPONSE_CREDIT_M2S_BIRSP1 = 5'h14,
    RESPONSE_CREDIT_M2S_BIRSP4 = 5'h15,
    RESPONSE_CREDIT_M2S_BIRSP8 = 5'h16,
    RESPONSE_CREDIT_M2S_BIRSP12 = 5'h17,
    RESPONSE_CREDIT_M2S_BIRSP16 = 5'h18,
    RESPONSE_CREDIT_S2M_NDR1 = 5'h19,
    RESPONSE_CREDIT_S2M_NDR4 = 5'h1a,
    RESPONSE_CREDIT_S2M_NDR8 = 5'h1b,
    RESPONSE_CREDIT_S2M_NDR12 = 5'h1c,
    RESPONSE_CREDIT_S2M_NDR16 = 5'h1d
  } response_credit_e;

  // LlCtrl (cxl-256b section 6).
  typedef enum logic [3:0] {
    LL_CTRL_IDE = 4'h2,
    LL_CTRL_ERROR = 4'h3,
    LL_CTRL_INIT = 4'hc
  } ll_ctrl_e;

  // VlsmState (cxl-256b section 6).
  typedef enum logic [3:0] {
    VLSM_STATE_RESET = 4'h0,
    VLSM_STATE_ACTIVE = 4'h1,
    VLSM_STATE_ACTIVE_PMNAK = 4'h2,
    VLSM_STATE_DAPM = 4'h3,
    VLSM_STATE_L1_0 = 4'h4,
    VLSM_STATE_L1_1 = 4'h5,
    VLSM_STATE_L1_2 = 4'h6,
    VLSM_STATE_L1_3 = 4'h7,
    VLSM_STATE_L2 = 4'h8,
    VLSM_STATE_RETRAIN = 4'hb
  } vlsm_state_e;

  // VlsmInstance (cxl-68b section 8.1).
  typedef enum logic [3:0] {
    VLSM_INSTANCE_IO = 4'h1,
    VLSM_INSTANCE_CACHEMEM = 4'h2
  } vlsm_instance_e;

  // L0pWidth (cxl-256b section 6).
  typedef enum logic [3:0] {
    L0P_WIDTH_X16 = 4'h0,
    L0P_WIDTH_X8 = 4'h1,
    L0P_WIDTH_X4 = 4'h2,
    L0P_WIDTH_X2 = 4'h3,
    L0P_WIDTH_X1 = 4'h4,
    L0P_WIDTH_NAK = 4'h8
  } l0p_width_e;

  // cxl256.h2d_req: CXL.cache snoop, host to device.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_REQ_BITS = 72;
  localparam int H2D_REQ_VALID_LSB = 0;
  localparam int H2D_REQ_VALID_WIDTH = 1;
  localparam int H2D_REQ_OPCODE_LSB = 1;
  localparam int H2D_REQ_OPCODE_WIDTH = 3;
  localparam int H2D_REQ_ADDRESS_LSB = 4;
  localparam int H2D_REQ_ADDRESS_WIDTH = 46;
  localparam int H2D_REQ_UQID_LSB = 50;
  localparam int H2D_REQ_UQID_WIDTH = 12;
  localparam int H2D_REQ_CACHE_ID_LSB = 62;
  localparam int H2D_REQ_CACHE_ID_WIDTH = 4;
  localparam int H2D_REQ_RSVD_LSB = 66;
  localparam int H2D_REQ_RSVD_WIDTH = 6;
  typedef struct packed {
    logic [5:0] rsvd; // Reserved.
    logic [3:0] cache_id; // Cache of the device that is concerned.
    logic [11:0] uqid; // Names the transaction at the host.
    logic [45:0] address; // Host physical byte address; bits 51:6 travel. Byte address from bit 6 up.
    logic [2:0] opcode; // What is asked or answered. Codes: h2d_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } h2d_req_t;

  // cxl256.h2d_rsp: CXL.cache answer, host to device.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_RSP_BITS = 40;
  localparam int H2D_RSP_VALID_LSB = 0;
  localparam int H2D_RSP_VALID_WIDTH = 1;
  localparam int H2D_RSP_OPCODE_LSB = 1;
  localparam int H2D_RSP_OPCODE_WIDTH = 4;
  localparam int H2D_RSP_RSP_DATA_LSB = 5;
  localparam int H2D_RSP_RSP_DATA_WIDTH = 12;
  localparam int H2D_RSP_RSP_PRE_LSB = 17;
  localparam int H2D_RSP_RSP_PRE_WIDTH = 2;
  localparam int H2D_RSP_CQID_LSB = 19;
  localparam int H2D_RSP_CQID_WIDTH = 12;
  localparam int H2D_RSP_CACHE_ID_LSB = 31;
  localparam int H2D_RSP_CACHE_ID_WIDTH = 4;
  localparam int H2D_RSP_RSVD_LSB = 35;
  localparam int H2D_RSP_RSVD_WIDTH = 5;
  typedef struct packed {
    logic [4:0] rsvd; // Reserved.
    logic [3:0] cache_id; // Cache of the device that is concerned.
    logic [11:0] cqid; // Names the transaction at the device.
    logic [1:0] rsp_pre; // Where the host found the line. Codes: rsp_pre_e.
    logic [11:0] rsp_data; // UQID, or the state of a GO in bits 3:0, by opcode.
    logic [3:0] opcode; // What is asked or answered. Codes: h2d_rsp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } h2d_rsp_t;

  // cxl256.h2d_data: Header of CXL.cache data, host to device.
  // Source: cxl-256b section 3.1 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_DATA_BITS = 28;
  localparam int H2D_DATA_VALID_LSB = 0;
  localparam int H2D_DATA_VALID_WIDTH = 1;
  localparam int H2D_DATA_CQID_LSB = 1;
  localparam int H2D_DATA_CQID_WIDTH = 12;
  localparam int H2D_DATA_POISON_LSB = 13;
  localparam int H2D_DATA_POISON_WIDTH = 1;
  localparam int H2D_DATA_GO_ERR_LSB = 14;
  localparam int H2D_DATA_GO_ERR_WIDTH = 1;
  localparam int H2D_DATA_CACHE_ID_LSB = 15;
  localparam int H2D_DATA_CACHE_ID_WIDTH = 4;
  localparam int H2D_DATA_RSVD_LSB = 19;
  localparam int H2D_DATA_RSVD_WIDTH = 9;
  typedef struct packed {
    logic [8:0] rsvd; // Reserved.
    logic [3:0] cache_id; // Cache of the device that is concerned.
    logic [0:0] go_err; // The read failed; the data means nothing.
    logic [0:0] poison; // The data is known to be wrong.
    logic [11:0] cqid; // Names the transaction at the device.
    logic [0:0] valid; // 1: the message is present.
  } h2d_data_t;

  // cxl256.d2h_req: CXL.cache request, device to host.
  // Source: cxl-256b section 3.1 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_REQ_BITS = 76;
  localparam int D2H_REQ_VALID_LSB = 0;
  localparam int D2H_REQ_VALID_WIDTH = 1;
  localparam int D2H_REQ_OPCODE_LSB = 1;
  localparam int D2H_REQ_OPCODE_WIDTH = 5;
  localparam int D2H_REQ_CQID_LSB = 6;
  localparam int D2H_REQ_CQID_WIDTH = 12;
  localparam int D2H_REQ_NT_LSB = 18;
  localparam int D2H_REQ_NT_WIDTH = 1;
  localparam int D2H_REQ_CACHE_ID_LSB = 19;
  localparam int D2H_REQ_CACHE_ID_WIDTH = 4;
  localparam int D2H_REQ_RSVD_LSB = 23;
  localparam int D2H_REQ_RSVD_WIDTH = 3;
  localparam int D2H_REQ_ADDRESS_LSB = 26;
  localparam int D2H_REQ_ADDRESS_WIDTH = 46;
  localparam int D2H_REQ_RSVD1_LSB = 72;
  localparam int D2H_REQ_RSVD1_WIDTH = 4;
  typedef struct packed {
    logic [3:0] rsvd1; // Reserved.
    logic [45:0] address; // Host physical byte address; bits 51:6 travel. Byte address from bit 6 up.
    logic [2:0] rsvd; // Reserved.
    logic [3:0] cache_id; // Cache of the device that is concerned.
    logic [0:0] nt; // 1: place the line in LRU position.
    logic [11:0] cqid; // Names the transaction at the device.
    logic [4:0] opcode; // What is asked or answered. Codes: d2h_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } d2h_req_t;

  // cxl256.d2h_rsp: CXL.cache snoop answer, device to host.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_RSP_BITS = 24;
  localparam int D2H_RSP_VALID_LSB = 0;
  localparam int D2H_RSP_VALID_WIDTH = 1;
  localparam int D2H_RSP_OPCODE_LSB = 1;
  localparam int D2H_RSP_OPCODE_WIDTH = 5;
  localparam int D2H_RSP_UQID_LSB = 6;
  localparam int D2H_RSP_UQID_WIDTH = 12;
  localparam int D2H_RSP_RSVD_LSB = 18;
  localparam int D2H_RSP_RSVD_WIDTH = 6;
  typedef struct packed {
    logic [5:0] rsvd; // Reserved.
    logic [11:0] uqid; // Names the transaction at the host.
    logic [4:0] opcode; // What is asked or answered. Codes: d2h_rsp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } d2h_rsp_t;

  // cxl256.d2h_data: Header of CXL.cache data, device to host.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_DATA_BITS = 24;
  localparam int D2H_DATA_VALID_LSB = 0;
  localparam int D2H_DATA_VALID_WIDTH = 1;
  localparam int D2H_DATA_UQID_LSB = 1;
  localparam int D2H_DATA_UQID_WIDTH = 12;
  localparam int D2H_DATA_BOGUS_LSB = 13;
  localparam int D2H_DATA_BOGUS_WIDTH = 1;
  localparam int D2H_DATA_POISON_LSB = 14;
  localparam int D2H_DATA_POISON_WIDTH = 1;
  localparam int D2H_DATA_BEP_LSB = 15;
  localparam int D2H_DATA_BEP_WIDTH = 1;
  localparam int D2H_DATA_RSVD_LSB = 16;
  localparam int D2H_DATA_RSVD_WIDTH = 8;
  typedef struct packed {
    logic [7:0] rsvd; // Reserved.
    logic [0:0] bep; // A trailer with byte enables follows the data.
    logic [0:0] poison; // The data is known to be wrong.
    logic [0:0] bogus; // The line was taken away meanwhile; the data means nothing.
    logic [11:0] uqid; // Names the transaction at the host.
    logic [0:0] valid; // 1: the message is present.
  } d2h_data_t;

  // cxl256.m2s_req: CXL.mem request without data, host to device.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int M2S_REQ_BITS = 100;
  localparam int M2S_REQ_VALID_LSB = 0;
  localparam int M2S_REQ_VALID_WIDTH = 1;
  localparam int M2S_REQ_OPCODE_LSB = 1;
  localparam int M2S_REQ_OPCODE_WIDTH = 4;
  localparam int M2S_REQ_SNP_TYPE_LSB = 5;
  localparam int M2S_REQ_SNP_TYPE_WIDTH = 3;
  localparam int M2S_REQ_META_FIELD_LSB = 8;
  localparam int M2S_REQ_META_FIELD_WIDTH = 2;
  localparam int M2S_REQ_META_VALUE_LSB = 10;
  localparam int M2S_REQ_META_VALUE_WIDTH = 2;
  localparam int M2S_REQ_TAG_LSB = 12;
  localparam int M2S_REQ_TAG_WIDTH = 16;
  localparam int M2S_REQ_ADDRESS_LSB = 28;
  localparam int M2S_REQ_ADDRESS_WIDTH = 46;
  localparam int M2S_REQ_LD_ID_LSB = 74;
  localparam int M2S_REQ_LD_ID_WIDTH = 4;
  localparam int M2S_REQ_CKID_LSB = 78;
  localparam int M2S_REQ_CKID_WIDTH = 13;
  localparam int M2S_REQ_RSVD_LSB = 91;
  localparam int M2S_REQ_RSVD_WIDTH = 7;
  localparam int M2S_REQ_TC_LSB = 98;
  localparam int M2S_REQ_TC_WIDTH = 2;
  typedef struct packed {
    logic [1:0] tc; // Traffic class.
    logic [6:0] rsvd; // Reserved.
    logic [12:0] ckid; // Key of memory encryption.
    logic [3:0] ld_id; // Logical device.
    logic [45:0] address; // Host physical byte address; bits 51:6 travel. Byte address from bit 6 up.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] snp_type; // Snoop asked of the device. Codes: snp_type_e.
    logic [3:0] opcode; // What is asked or answered. Codes: m2s_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } m2s_req_t;

  // cxl256.m2s_rwd: Header of a CXL.mem request with data, host to device.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int M2S_RWD_BITS = 104;
  localparam int M2S_RWD_VALID_LSB = 0;
  localparam int M2S_RWD_VALID_WIDTH = 1;
  localparam int M2S_RWD_OPCODE_LSB = 1;
  localparam int M2S_RWD_OPCODE_WIDTH = 4;
  localparam int M2S_RWD_SNP_TYPE_LSB = 5;
  localparam int M2S_RWD_SNP_TYPE_WIDTH = 3;
  localparam int M2S_RWD_META_FIELD_LSB = 8;
  localparam int M2S_RWD_META_FIELD_WIDTH = 2;
  localparam int M2S_RWD_META_VALUE_LSB = 10;
  localparam int M2S_RWD_META_VALUE_WIDTH = 2;
  localparam int M2S_RWD_TAG_LSB = 12;
  localparam int M2S_RWD_TAG_WIDTH = 16;
  localparam int M2S_RWD_ADDRESS_LSB = 28;
  localparam int M2S_RWD_ADDRESS_WIDTH = 46;
  localparam int M2S_RWD_POISON_LSB = 74;
  localparam int M2S_RWD_POISON_WIDTH = 1;
  localparam int M2S_RWD_TRP_LSB = 75;
  localparam int M2S_RWD_TRP_WIDTH = 1;
  localparam int M2S_RWD_LD_ID_LSB = 76;
  localparam int M2S_RWD_LD_ID_WIDTH = 4;
  localparam int M2S_RWD_CKID_LSB = 80;
  localparam int M2S_RWD_CKID_WIDTH = 13;
  localparam int M2S_RWD_RSVD_LSB = 93;
  localparam int M2S_RWD_RSVD_WIDTH = 9;
  localparam int M2S_RWD_TC_LSB = 102;
  localparam int M2S_RWD_TC_WIDTH = 2;
  typedef struct packed {
    logic [1:0] tc; // Traffic class.
    logic [8:0] rsvd; // Reserved.
    logic [12:0] ckid; // Key of memory encryption.
    logic [3:0] ld_id; // Logical device.
    logic [0:0] trp; // A trailer follows the data.
    logic [0:0] poison; // The data is known to be wrong.
    logic [45:0] address; // Host physical byte address; bits 51:6 travel. Byte address from bit 6 up.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] snp_type; // Snoop asked of the device. Codes: snp_type_e.
    logic [3:0] opcode; // What is asked or answered. Codes: m2s_rwd_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } m2s_rwd_t;

  // cxl256.m2s_birsp: CXL.mem answer to a back-invalidate snoop, host to device.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int M2S_BIRSP_BITS = 40;
  localparam int M2S_BIRSP_VALID_LSB = 0;
  localparam int M2S_BIRSP_VALID_WIDTH = 1;
  localparam int M2S_BIRSP_OPCODE_LSB = 1;
  localparam int M2S_BIRSP_OPCODE_WIDTH = 4;
  localparam int M2S_BIRSP_BI_ID_LSB = 5;
  localparam int M2S_BIRSP_BI_ID_WIDTH = 12;
  localparam int M2S_BIRSP_BI_TAG_LSB = 17;
  localparam int M2S_BIRSP_BI_TAG_WIDTH = 12;
  localparam int M2S_BIRSP_LOW_ADDR_LSB = 29;
  localparam int M2S_BIRSP_LOW_ADDR_WIDTH = 2;
  localparam int M2S_BIRSP_RSVD_LSB = 31;
  localparam int M2S_BIRSP_RSVD_WIDTH = 9;
  typedef struct packed {
    logic [8:0] rsvd; // Reserved.
    logic [1:0] low_addr; // Address bits 7:6: which part of a block is answered.
    logic [11:0] bi_tag; // Names the back-invalidate transaction.
    logic [11:0] bi_id; // Device that back-invalidates.
    logic [3:0] opcode; // What is asked or answered. Codes: birsp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } m2s_birsp_t;

  // cxl256.s2m_bisnp: CXL.mem back-invalidate snoop, device to host.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int S2M_BISNP_BITS = 84;
  localparam int S2M_BISNP_VALID_LSB = 0;
  localparam int S2M_BISNP_VALID_WIDTH = 1;
  localparam int S2M_BISNP_OPCODE_LSB = 1;
  localparam int S2M_BISNP_OPCODE_WIDTH = 4;
  localparam int S2M_BISNP_BI_ID_LSB = 5;
  localparam int S2M_BISNP_BI_ID_WIDTH = 12;
  localparam int S2M_BISNP_BI_TAG_LSB = 17;
  localparam int S2M_BISNP_BI_TAG_WIDTH = 12;
  localparam int S2M_BISNP_ADDRESS_LSB = 29;
  localparam int S2M_BISNP_ADDRESS_WIDTH = 46;
  localparam int S2M_BISNP_RSVD_LSB = 75;
  localparam int S2M_BISNP_RSVD_WIDTH = 9;
  typedef struct packed {
    logic [8:0] rsvd; // Reserved.
    logic [45:0] address; // Host physical byte address; bits 51:6 travel. Bits 7:6 are a chunk code in the *Blk forms. Byte address from bit 6 up.
    logic [11:0] bi_tag; // Names the back-invalidate transaction.
    logic [11:0] bi_id; // Device that back-invalidates.
    logic [3:0] opcode; // What is asked or answered. Codes: bisnp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } s2m_bisnp_t;

  // cxl256.s2m_ndr: CXL.mem answer without data, device to host.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int S2M_NDR_BITS = 40;
  localparam int S2M_NDR_VALID_LSB = 0;
  localparam int S2M_NDR_VALID_WIDTH = 1;
  localparam int S2M_NDR_OPCODE_LSB = 1;
  localparam int S2M_NDR_OPCODE_WIDTH = 3;
  localparam int S2M_NDR_META_FIELD_LSB = 4;
  localparam int S2M_NDR_META_FIELD_WIDTH = 2;
  localparam int S2M_NDR_META_VALUE_LSB = 6;
  localparam int S2M_NDR_META_VALUE_WIDTH = 2;
  localparam int S2M_NDR_TAG_LSB = 8;
  localparam int S2M_NDR_TAG_WIDTH = 16;
  localparam int S2M_NDR_LD_ID_LSB = 24;
  localparam int S2M_NDR_LD_ID_WIDTH = 4;
  localparam int S2M_NDR_DEVLOAD_LSB = 28;
  localparam int S2M_NDR_DEVLOAD_WIDTH = 2;
  localparam int S2M_NDR_RSVD_LSB = 30;
  localparam int S2M_NDR_RSVD_WIDTH = 10;
  typedef struct packed {
    logic [9:0] rsvd; // Reserved.
    logic [1:0] devload; // Load of the device. Codes: dev_load_e.
    logic [3:0] ld_id; // Logical device.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] opcode; // What is asked or answered. Codes: ndr_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } s2m_ndr_t;

  // cxl256.s2m_drs: Header of a CXL.mem answer with data, device to host.
  // Source: cxl-256b section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int S2M_DRS_BITS = 40;
  localparam int S2M_DRS_VALID_LSB = 0;
  localparam int S2M_DRS_VALID_WIDTH = 1;
  localparam int S2M_DRS_OPCODE_LSB = 1;
  localparam int S2M_DRS_OPCODE_WIDTH = 3;
  localparam int S2M_DRS_META_FIELD_LSB = 4;
  localparam int S2M_DRS_META_FIELD_WIDTH = 2;
  localparam int S2M_DRS_META_VALUE_LSB = 6;
  localparam int S2M_DRS_META_VALUE_WIDTH = 2;
  localparam int S2M_DRS_TAG_LSB = 8;
  localparam int S2M_DRS_TAG_WIDTH = 16;
  localparam int S2M_DRS_POISON_LSB = 24;
  localparam int S2M_DRS_POISON_WIDTH = 1;
  localparam int S2M_DRS_DEVLOAD_LSB = 25;
  localparam int S2M_DRS_DEVLOAD_WIDTH = 2;
  localparam int S2M_DRS_LD_ID_LSB = 27;
  localparam int S2M_DRS_LD_ID_WIDTH = 4;
  localparam int S2M_DRS_TRP_LSB = 31;
  localparam int S2M_DRS_TRP_WIDTH = 1;
  localparam int S2M_DRS_RSVD_LSB = 32;
  localparam int S2M_DRS_RSVD_WIDTH = 8;
  typedef struct packed {
    logic [7:0] rsvd; // Reserved.
    logic [0:0] trp; // A trailer follows the data.
    logic [3:0] ld_id; // Logical device.
    logic [1:0] devload; // Load of the device. Codes: dev_load_e.
    logic [0:0] poison; // The data is known to be wrong.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] opcode; // What is asked or answered. Codes: drs_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } s2m_drs_t;

  // cxl256.flit_header: Flit header, flit bytes 0 and 1, high byte first: example `A1 23`.
  // Source: cxl-256b section 1.3 (A). Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int FLIT_HEADER_BITS = 16;
  localparam int FLIT_HEADER_SEQ_LSB = 0;
  localparam int FLIT_HEADER_SEQ_WIDTH = 10;
  localparam int FLIT_HEADER_COMMAND_LSB = 10;
  localparam int FLIT_HEADER_COMMAND_WIDTH = 2;
  localparam int FLIT_HEADER_DLLP_TYPE_LSB = 12;
  localparam int FLIT_HEADER_DLLP_TYPE_WIDTH = 1;
  localparam int FLIT_HEADER_PRIOR_LSB = 13;
  localparam int FLIT_HEADER_PRIOR_WIDTH = 1;
  localparam int FLIT_HEADER_FLIT_TYPE_LSB = 14;
  localparam int FLIT_HEADER_FLIT_TYPE_WIDTH = 2;
  typedef struct packed {
    logic [1:0] flit_type; // What the flit carries. Codes: flit_type_e.
    logic [0:0] prior; // 1: the flit before was payload, 0: it was NOP or IDLE.
    logic [0:0] dllp_type; // 1: the DLLP field holds Optimized_Update_FC or Flit_Marker; 0 in flits other than CXL.io.
    logic [1:0] command; // What `seq` means. Codes: replay_command_e.
    logic [9:0] seq; // Sequence number, this flit's or the one that the command names.
  } flit_header_t;

  // cxl256.crd: Credit return, flit bytes 240 and 241.
  // Source: cxl-256b section 1.6. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int CRD_BITS = 16;
  localparam int CRD_REQUEST_LSB = 0;
  localparam int CRD_REQUEST_WIDTH = 5;
  localparam int CRD_DATA_LSB = 5;
  localparam int CRD_DATA_WIDTH = 5;
  localparam int CRD_RESPONSE_LSB = 10;
  localparam int CRD_RESPONSE_WIDTH = 5;
  localparam int CRD_RSVD_LSB = 15;
  localparam int CRD_RSVD_WIDTH = 1;
  typedef struct packed {
    logic [0:0] rsvd; // Reserved.
    logic [4:0] response; // Response channels. Codes: response_credit_e.
    logic [4:0] data; // Data channels. Codes: data_credit_e.
    logic [4:0] request; // Request channels, or the mark of an Empty flit. Codes: request_credit_e.
  } crd_t;

  // cxl256.ide: IDE slot.
  // Source: cxl-256b section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int IDE_BITS = 112;
  localparam int IDE_SLOT_FMT_LSB = 0;
  localparam int IDE_SLOT_FMT_WIDTH = 4;
  localparam int IDE_LLCTRL_LSB = 4;
  localparam int IDE_LLCTRL_WIDTH = 4;
  localparam int IDE_SUB_TYPE_LSB = 8;
  localparam int IDE_SUB_TYPE_WIDTH = 4;
  localparam int IDE_RSVD_LSB = 12;
  localparam int IDE_RSVD_WIDTH = 4;
  localparam int IDE_MAC_LSB = 16;
  localparam int IDE_MAC_WIDTH = 96;
  typedef struct packed {
    logic [95:0] mac; // MAC of TMAC and MAC, else 0.
    logic [3:0] rsvd; // Reserved.
    logic [3:0] sub_type; // Kind within the class: 0 Idle, 1 Start, 2 TMAC, 3 MAC, 4 Stop.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [3:0] slot_fmt; // Slot format, 8.
  } ide_t;

  // cxl256.viral: Viral slot.
  // Source: cxl-256b section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int VIRAL_BITS = 112;
  localparam int VIRAL_SLOT_FMT_LSB = 0;
  localparam int VIRAL_SLOT_FMT_WIDTH = 4;
  localparam int VIRAL_LLCTRL_LSB = 4;
  localparam int VIRAL_LLCTRL_WIDTH = 4;
  localparam int VIRAL_SUB_TYPE_LSB = 8;
  localparam int VIRAL_SUB_TYPE_WIDTH = 4;
  localparam int VIRAL_RSVD_LSB = 12;
  localparam int VIRAL_RSVD_WIDTH = 4;
  localparam int VIRAL_LD_IDS_LSB = 16;
  localparam int VIRAL_LD_IDS_WIDTH = 16;
  localparam int VIRAL_RSVD1_LSB = 32;
  localparam int VIRAL_RSVD1_WIDTH = 80;
  typedef struct packed {
    logic [79:0] rsvd1; // Reserved.
    logic [15:0] ld_ids; // Logical devices in viral, one bit each.
    logic [3:0] rsvd; // Reserved.
    logic [3:0] sub_type; // Kind within the class, 0 Viral.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [3:0] slot_fmt; // Slot format, 8.
  } viral_t;

  // cxl256.poison: Poison slot.
  // Source: cxl-256b section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int POISON_BITS = 112;
  localparam int POISON_SLOT_FMT_LSB = 0;
  localparam int POISON_SLOT_FMT_WIDTH = 4;
  localparam int POISON_LLCTRL_LSB = 4;
  localparam int POISON_LLCTRL_WIDTH = 4;
  localparam int POISON_SUB_TYPE_LSB = 8;
  localparam int POISON_SUB_TYPE_WIDTH = 4;
  localparam int POISON_RSVD_LSB = 12;
  localparam int POISON_RSVD_WIDTH = 4;
  localparam int POISON_MESSAGE_LSB = 16;
  localparam int POISON_MESSAGE_WIDTH = 4;
  localparam int POISON_RSVD1_LSB = 20;
  localparam int POISON_RSVD1_WIDTH = 92;
  typedef struct packed {
    logic [91:0] rsvd1; // Reserved.
    logic [3:0] message; // Data message that is affected: 0 the one whose data is coming, then those behind it; 0 to 7.
    logic [3:0] rsvd; // Reserved.
    logic [3:0] sub_type; // Kind within the class, 1 Poison.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [3:0] slot_fmt; // Slot format, 8.
  } poison_t;

  // cxl256.init_param: INIT.Param slot.
  // Source: cxl-256b section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int INIT_PARAM_BITS = 112;
  localparam int INIT_PARAM_SLOT_FMT_LSB = 0;
  localparam int INIT_PARAM_SLOT_FMT_WIDTH = 4;
  localparam int INIT_PARAM_LLCTRL_LSB = 4;
  localparam int INIT_PARAM_LLCTRL_WIDTH = 4;
  localparam int INIT_PARAM_SUB_TYPE_LSB = 8;
  localparam int INIT_PARAM_SUB_TYPE_WIDTH = 4;
  localparam int INIT_PARAM_RSVD_LSB = 12;
  localparam int INIT_PARAM_RSVD_WIDTH = 4;
  localparam int INIT_PARAM_DIRECT_P2P_LSB = 16;
  localparam int INIT_PARAM_DIRECT_P2P_WIDTH = 1;
  localparam int INIT_PARAM_RSVD1_LSB = 17;
  localparam int INIT_PARAM_RSVD1_WIDTH = 95;
  typedef struct packed {
    logic [94:0] rsvd1; // Reserved.
    logic [0:0] direct_p2p; // Capable of direct peer-to-peer CXL.mem.
    logic [3:0] rsvd; // Reserved.
    logic [3:0] sub_type; // Kind within the class, 8 Param.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [3:0] slot_fmt; // Slot format, 8.
  } init_param_t;

  // cxl256.almp: Request or Status of a virtual link state machine.
  // Source: cxl-256b section 6 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int ALMP_BITS = 32;
  localparam int ALMP_RSVD_LSB = 0;
  localparam int ALMP_RSVD_WIDTH = 8;
  localparam int ALMP_CODE_LSB = 8;
  localparam int ALMP_CODE_WIDTH = 8;
  localparam int ALMP_STATE_LSB = 16;
  localparam int ALMP_STATE_WIDTH = 4;
  localparam int ALMP_RSVD1_LSB = 20;
  localparam int ALMP_RSVD1_WIDTH = 3;
  localparam int ALMP_REQUEST_LSB = 23;
  localparam int ALMP_REQUEST_WIDTH = 1;
  localparam int ALMP_INSTANCE_ID_LSB = 24;
  localparam int ALMP_INSTANCE_ID_WIDTH = 4;
  localparam int ALMP_RSVD2_LSB = 28;
  localparam int ALMP_RSVD2_WIDTH = 4;
  typedef struct packed {
    logic [3:0] rsvd2; // Reserved.
    logic [3:0] instance_id; // Which vLSM. Codes: vlsm_instance_e.
    logic [0:0] request; // 1 Request, 0 Status.
    logic [2:0] rsvd1; // Reserved.
    logic [3:0] state; // vLSM state. Codes: vlsm_state_e.
    logic [7:0] code; // Message code, 8: vLSM.
    logic [7:0] rsvd; // Reserved.
  } almp_t;

  // cxl256.almp_l0p: Request or answer about the width of the link (L0p).
  // Source: cxl-256b section 6 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int ALMP_L0P_BITS = 32;
  localparam int ALMP_L0P_RSVD_LSB = 0;
  localparam int ALMP_L0P_RSVD_WIDTH = 8;
  localparam int ALMP_L0P_CODE_LSB = 8;
  localparam int ALMP_L0P_CODE_WIDTH = 8;
  localparam int ALMP_L0P_RSVD1_LSB = 16;
  localparam int ALMP_L0P_RSVD1_WIDTH = 6;
  localparam int ALMP_L0P_PRIO_LSB = 22;
  localparam int ALMP_L0P_PRIO_WIDTH = 1;
  localparam int ALMP_L0P_REQUEST_LSB = 23;
  localparam int ALMP_L0P_REQUEST_WIDTH = 1;
  localparam int ALMP_L0P_INSTANCE_ID_LSB = 24;
  localparam int ALMP_L0P_INSTANCE_ID_WIDTH = 4;
  localparam int ALMP_L0P_WIDTH_LSB = 28;
  localparam int ALMP_L0P_WIDTH_WIDTH = 4;
  typedef struct packed {
    logic [3:0] width; // Width that is asked or answered. Codes: l0p_width_e.
    logic [3:0] instance_id; // 4: the link.
    logic [0:0] request; // 1 Request, 0 Status.
    logic [0:0] prio; // Priority of the request.
    logic [5:0] rsvd1; // Reserved.
    logic [7:0] code; // Message code, 1: L0p.
    logic [7:0] rsvd; // Reserved.
  } almp_l0p_t;

  // Slot formats: format code, then first bit and width of each message in the slot.
  localparam logic [3:0] SLOT_G0_CODE = 4'h0;
  localparam int SLOT_G0_0_H2D_REQ_LSB = 4;
  localparam int SLOT_G0_0_H2D_REQ_WIDTH = 72;
  localparam int SLOT_G0_1_H2D_RSP_LSB = 76;
  localparam int SLOT_G0_1_H2D_RSP_WIDTH = 40;
  localparam logic [3:0] SLOT_G1_CODE = 4'h1;
  localparam int SLOT_G1_0_H2D_RSP_LSB = 4;
  localparam int SLOT_G1_0_H2D_RSP_WIDTH = 40;
  localparam int SLOT_G1_1_H2D_RSP_LSB = 44;
  localparam int SLOT_G1_1_H2D_RSP_WIDTH = 40;
  localparam int SLOT_G1_2_H2D_RSP_LSB = 84;
  localparam int SLOT_G1_2_H2D_RSP_WIDTH = 40;
  localparam logic [3:0] SLOT_G2_CODE = 4'h2;
  localparam int SLOT_G2_0_D2H_REQ_LSB = 4;
  localparam int SLOT_G2_0_D2H_REQ_WIDTH = 76;
  localparam int SLOT_G2_1_D2H_RSP_LSB = 80;
  localparam int SLOT_G2_1_D2H_RSP_WIDTH = 24;
  localparam int SLOT_G2_2_D2H_RSP_LSB = 104;
  localparam int SLOT_G2_2_D2H_RSP_WIDTH = 24;
  localparam logic [3:0] SLOT_G3_CODE = 4'h3;
  localparam int SLOT_G3_0_D2H_RSP_LSB = 4;
  localparam int SLOT_G3_0_D2H_RSP_WIDTH = 24;
  localparam int SLOT_G3_1_D2H_RSP_LSB = 28;
  localparam int SLOT_G3_1_D2H_RSP_WIDTH = 24;
  localparam int SLOT_G3_2_D2H_RSP_LSB = 52;
  localparam int SLOT_G3_2_D2H_RSP_WIDTH = 24;
  localparam int SLOT_G3_3_D2H_RSP_LSB = 76;
  localparam int SLOT_G3_3_D2H_RSP_WIDTH = 24;
  localparam logic [3:0] SLOT_G4_CODE = 4'h4;
  localparam int SLOT_G4_0_M2S_REQ_LSB = 4;
  localparam int SLOT_G4_0_M2S_REQ_WIDTH = 100;
  localparam logic [3:0] SLOT_G5_CODE = 4'h5;
  localparam int SLOT_G5_0_M2S_BIRSP_LSB = 4;
  localparam int SLOT_G5_0_M2S_BIRSP_WIDTH = 40;
  localparam int SLOT_G5_1_M2S_BIRSP_LSB = 44;
  localparam int SLOT_G5_1_M2S_BIRSP_WIDTH = 40;
  localparam int SLOT_G5_2_M2S_BIRSP_LSB = 84;
  localparam int SLOT_G5_2_M2S_BIRSP_WIDTH = 40;
  localparam logic [3:0] SLOT_G6_CODE = 4'h6;
  localparam int SLOT_G6_0_S2M_BISNP_LSB = 4;
  localparam int SLOT_G6_0_S2M_BISNP_WIDTH = 84;
  localparam int SLOT_G6_1_S2M_NDR_LSB = 88;
  localparam int SLOT_G6_1_S2M_NDR_WIDTH = 40;
  localparam logic [3:0] SLOT_G7_CODE = 4'h7;
  localparam int SLOT_G7_0_S2M_NDR_LSB = 4;
  localparam int SLOT_G7_0_S2M_NDR_WIDTH = 40;
  localparam int SLOT_G7_1_S2M_NDR_LSB = 44;
  localparam int SLOT_G7_1_S2M_NDR_WIDTH = 40;
  localparam int SLOT_G7_2_S2M_NDR_LSB = 84;
  localparam int SLOT_G7_2_S2M_NDR_WIDTH = 40;
  localparam logic [3:0] SLOT_G12_CODE = 4'hc;
  localparam int SLOT_G12_0_H2D_DATA_LSB = 4;
  localparam int SLOT_G12_0_H2D_DATA_WIDTH = 28;
  localparam int SLOT_G12_1_H2D_DATA_LSB = 32;
  localparam int SLOT_G12_1_H2D_DATA_WIDTH = 28;
  localparam int SLOT_G12_2_H2D_DATA_LSB = 60;
  localparam int SLOT_G12_2_H2D_DATA_WIDTH = 28;
  localparam int SLOT_G12_3_H2D_DATA_LSB = 88;
  localparam int SLOT_G12_3_H2D_DATA_WIDTH = 28;
  localparam logic [3:0] SLOT_G13_CODE = 4'hd;
  localparam int SLOT_G13_0_D2H_DATA_LSB = 4;
  localparam int SLOT_G13_0_D2H_DATA_WIDTH = 24;
  localparam int SLOT_G13_1_D2H_DATA_LSB = 28;
  localparam int SLOT_G13_1_D2H_DATA_WIDTH = 24;
  localparam int SLOT_G13_2_D2H_DATA_LSB = 52;
  localparam int SLOT_G13_2_D2H_DATA_WIDTH = 24;
  localparam int SLOT_G13_3_D2H_DATA_LSB = 76;
  localparam int SLOT_G13_3_D2H_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_G14_CODE = 4'he;
  localparam int SLOT_G14_0_M2S_RWD_LSB = 4;
  localparam int SLOT_G14_0_M2S_RWD_WIDTH = 104;
  localparam logic [3:0] SLOT_G15_CODE = 4'hf;
  localparam int SLOT_G15_0_S2M_DRS_LSB = 4;
  localparam int SLOT_G15_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_G15_1_S2M_DRS_LSB = 44;
  localparam int SLOT_G15_1_S2M_DRS_WIDTH = 40;
  localparam int SLOT_G15_2_S2M_DRS_LSB = 84;
  localparam int SLOT_G15_2_S2M_DRS_WIDTH = 40;
  localparam logic [3:0] SLOT_H0_CODE = 4'h0;
  localparam int SLOT_H0_0_H2D_REQ_LSB = 4;
  localparam int SLOT_H0_0_H2D_REQ_WIDTH = 72;
  localparam logic [3:0] SLOT_H1_CODE = 4'h1;
  localparam int SLOT_H1_0_H2D_RSP_LSB = 4;
  localparam int SLOT_H1_0_H2D_RSP_WIDTH = 40;
  localparam int SLOT_H1_1_H2D_RSP_LSB = 44;
  localparam int SLOT_H1_1_H2D_RSP_WIDTH = 40;
  localparam logic [3:0] SLOT_H2_CODE = 4'h2;
  localparam int SLOT_H2_0_D2H_REQ_LSB = 4;
  localparam int SLOT_H2_0_D2H_REQ_WIDTH = 76;
  localparam int SLOT_H2_1_D2H_RSP_LSB = 80;
  localparam int SLOT_H2_1_D2H_RSP_WIDTH = 24;
  localparam logic [3:0] SLOT_H3_CODE = 4'h3;
  localparam int SLOT_H3_0_D2H_RSP_LSB = 4;
  localparam int SLOT_H3_0_D2H_RSP_WIDTH = 24;
  localparam int SLOT_H3_1_D2H_RSP_LSB = 28;
  localparam int SLOT_H3_1_D2H_RSP_WIDTH = 24;
  localparam int SLOT_H3_2_D2H_RSP_LSB = 52;
  localparam int SLOT_H3_2_D2H_RSP_WIDTH = 24;
  localparam int SLOT_H3_3_D2H_RSP_LSB = 76;
  localparam int SLOT_H3_3_D2H_RSP_WIDTH = 24;
  localparam logic [3:0] SLOT_H4_CODE = 4'h4;
  localparam int SLOT_H4_0_M2S_REQ_LSB = 4;
  localparam int SLOT_H4_0_M2S_REQ_WIDTH = 100;
  localparam logic [3:0] SLOT_H5_CODE = 4'h5;
  localparam int SLOT_H5_0_M2S_BIRSP_LSB = 4;
  localparam int SLOT_H5_0_M2S_BIRSP_WIDTH = 40;
  localparam int SLOT_H5_1_M2S_BIRSP_LSB = 44;
  localparam int SLOT_H5_1_M2S_BIRSP_WIDTH = 40;
  localparam logic [3:0] SLOT_H6_CODE = 4'h6;
  localparam int SLOT_H6_0_S2M_BISNP_LSB = 4;
  localparam int SLOT_H6_0_S2M_BISNP_WIDTH = 84;
  localparam logic [3:0] SLOT_H7_CODE = 4'h7;
  localparam int SLOT_H7_0_S2M_NDR_LSB = 4;
  localparam int SLOT_H7_0_S2M_NDR_WIDTH = 40;
  localparam int SLOT_H7_1_S2M_NDR_LSB = 44;
  localparam int SLOT_H7_1_S2M_NDR_WIDTH = 40;
  localparam logic [3:0] SLOT_H8_CODE = 4'h8;
  localparam int SLOT_H8_0_CONTROL_LSB = 4;
  localparam int SLOT_H8_0_CONTROL_WIDTH = 108;
  localparam logic [3:0] SLOT_H12_CODE = 4'hc;
  localparam int SLOT_H12_0_H2D_DATA_LSB = 4;
  localparam int SLOT_H12_0_H2D_DATA_WIDTH = 28;
  localparam int SLOT_H12_1_H2D_DATA_LSB = 32;
  localparam int SLOT_H12_1_H2D_DATA_WIDTH = 28;
  localparam int SLOT_H12_2_H2D_DATA_LSB = 60;
  localparam int SLOT_H12_2_H2D_DATA_WIDTH = 28;
  localparam logic [3:0] SLOT_H13_CODE = 4'hd;
  localparam int SLOT_H13_0_D2H_DATA_LSB = 4;
  localparam int SLOT_H13_0_D2H_DATA_WIDTH = 24;
  localparam int SLOT_H13_1_D2H_DATA_LSB = 28;
  localparam int SLOT_H13_1_D2H_DATA_WIDTH = 24;
  localparam int SLOT_H13_2_D2H_DATA_LSB = 52;
  localparam int SLOT_H13_2_D2H_DATA_WIDTH = 24;
  localparam int SLOT_H13_3_D2H_DATA_LSB = 76;
  localparam int SLOT_H13_3_D2H_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_H14_CODE = 4'he;
  localparam int SLOT_H14_0_M2S_RWD_LSB = 4;
  localparam int SLOT_H14_0_M2S_RWD_WIDTH = 104;
  localparam logic [3:0] SLOT_H15_CODE = 4'hf;
  localparam int SLOT_H15_0_S2M_DRS_LSB = 4;
  localparam int SLOT_H15_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_H15_1_S2M_DRS_LSB = 44;
  localparam int SLOT_H15_1_S2M_DRS_WIDTH = 40;
  localparam logic [3:0] SLOT_HS0_CODE = 4'h0;
  localparam int SLOT_HS0_0_H2D_REQ_LSB = 4;
  localparam int SLOT_HS0_0_H2D_REQ_WIDTH = 72;
  localparam logic [3:0] SLOT_HS1_CODE = 4'h1;
  localparam int SLOT_HS1_0_H2D_RSP_LSB = 4;
  localparam int SLOT_HS1_0_H2D_RSP_WIDTH = 40;
  localparam int SLOT_HS1_1_H2D_RSP_LSB = 44;
  localparam int SLOT_HS1_1_H2D_RSP_WIDTH = 40;
  localparam logic [3:0] SLOT_HS2_CODE = 4'h2;
  localparam int SLOT_HS2_0_D2H_REQ_LSB = 4;
  localparam int SLOT_HS2_0_D2H_REQ_WIDTH = 76;
  localparam logic [3:0] SLOT_HS3_CODE = 4'h3;
  localparam int SLOT_HS3_0_D2H_RSP_LSB = 4;
  localparam int SLOT_HS3_0_D2H_RSP_WIDTH = 24;
  localparam int SLOT_HS3_1_D2H_RSP_LSB = 28;
  localparam int SLOT_HS3_1_D2H_RSP_WIDTH = 24;
  localparam int SLOT_HS3_2_D2H_RSP_LSB = 52;
  localparam int SLOT_HS3_2_D2H_RSP_WIDTH = 24;
  localparam logic [3:0] SLOT_HS4_CODE = 4'h4;
  localparam int SLOT_HS4_0_M2S_REQ_LSB = 4;
  localparam int SLOT_HS4_0_M2S_REQ_WIDTH = 92;
  localparam logic [3:0] SLOT_HS5_CODE = 4'h5;
  localparam int SLOT_HS5_0_M2S_BIRSP_LSB = 4;
  localparam int SLOT_HS5_0_M2S_BIRSP_WIDTH = 40;
  localparam int SLOT_HS5_1_M2S_BIRSP_LSB = 44;
  localparam int SLOT_HS5_1_M2S_BIRSP_WIDTH = 40;
  localparam logic [3:0] SLOT_HS6_CODE = 4'h6;
  localparam int SLOT_HS6_0_S2M_BISNP_LSB = 4;
  localparam int SLOT_HS6_0_S2M_BISNP_WIDTH = 84;
  localparam logic [3:0] SLOT_HS7_CODE = 4'h7;
  localparam int SLOT_HS7_0_S2M_NDR_LSB = 4;
  localparam int SLOT_HS7_0_S2M_NDR_WIDTH = 40;
  localparam int SLOT_HS7_1_S2M_NDR_LSB = 44;
  localparam int SLOT_HS7_1_S2M_NDR_WIDTH = 40;
  localparam logic [3:0] SLOT_HS8_CODE = 4'h8;
  localparam int SLOT_HS8_0_CONTROL_LSB = 4;
  localparam int SLOT_HS8_0_CONTROL_WIDTH = 92;
  localparam logic [3:0] SLOT_HS12_CODE = 4'hc;
  localparam int SLOT_HS12_0_H2D_DATA_LSB = 4;
  localparam int SLOT_HS12_0_H2D_DATA_WIDTH = 28;
  localparam int SLOT_HS12_1_H2D_DATA_LSB = 32;
  localparam int SLOT_HS12_1_H2D_DATA_WIDTH = 28;
  localparam int SLOT_HS12_2_H2D_DATA_LSB = 60;
  localparam int SLOT_HS12_2_H2D_DATA_WIDTH = 28;
  localparam logic [3:0] SLOT_HS13_CODE = 4'hd;
  localparam int SLOT_HS13_0_D2H_DATA_LSB = 4;
  localparam int SLOT_HS13_0_D2H_DATA_WIDTH = 24;
  localparam int SLOT_HS13_1_D2H_DATA_LSB = 28;
  localparam int SLOT_HS13_1_D2H_DATA_WIDTH = 24;
  localparam int SLOT_HS13_2_D2H_DATA_LSB = 52;
  localparam int SLOT_HS13_2_D2H_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_HS14_CODE = 4'he;
  localparam int SLOT_HS14_0_M2S_RWD_LSB = 4;
  localparam int SLOT_HS14_0_M2S_RWD_WIDTH = 92;
  localparam logic [3:0] SLOT_HS15_CODE = 4'hf;
  localparam int SLOT_HS15_0_S2M_DRS_LSB = 4;
  localparam int SLOT_HS15_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_HS15_1_S2M_DRS_LSB = 44;
  localparam int SLOT_HS15_1_S2M_DRS_WIDTH = 40;

endpackage : scalepool_cxl256_pkg
