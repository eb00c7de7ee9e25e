// Made by `scalepool export sv` from the layout tables; do not edit.
package scalepool_cxl68_pkg;

  // M2sReqOpcode (cxl-68b section 4.1).
  typedef enum logic [3:0] {
    M2S_REQ_OPCODE_MEM_INV = 4'h0,
    M2S_REQ_OPCODE_MEM_RD = 4'h1,
    M2S_REQ_OPCODE_MEM_RD_DATA = 4'h2,
    M2S_REQ_OPCODE_MEM_RD_FWD = 4'h3,
    M2S_REQ_OPCODE_MEM_WR_FWD = 4'h4,
    M2S_REQ_OPCODE_MEM_SPEC_RD = 4'h8,
    M2S_REQ_OPCODE_MEM_INV_NT = 4'h9
  } m2s_req_opcode_e;

  // SnpType (cxl-68b section 4.3).
  typedef enum logic [2:0] {
    SNP_TYPE_NO_OP = 3'h0,
    SNP_TYPE_SNP_DATA = 3'h1,
    SNP_TYPE_SNP_CUR = 3'h2,
    SNP_TYPE_SNP_INV = 3'h3
  } snp_type_e;

  // MetaField (cxl-68b section 4.4).
  typedef enum logic [1:0] {
    META_FIELD_META0_STATE = 2'h0,
    META_FIELD_NO_OP = 2'h3
  } meta_field_e;

  // MetaValue (cxl-68b section 4.4).
  typedef enum logic [1:0] {
    META_VALUE_INVALID = 2'h0,
    META_VALUE_ANY = 2'h2,
    META_VALUE_SHARED = 2'h3
  } meta_value_e;

  // M2sRwdOpcode (cxl-68b section 4.2).
  typedef enum logic [3:0] {
    M2S_RWD_OPCODE_MEM_WR = 4'h1,
    M2S_RWD_OPCODE_MEM_WR_PTL = 4'h2
  } m2s_rwd_opcode_e;

  // NdrOpcode (cxl-68b section 4.5).
  typedef enum logic [2:0] {
    NDR_OPCODE_CMP = 3'h0,
    NDR_OPCODE_CMP_S = 3'h1,
    NDR_OPCODE_CMP_E = 3'h2
  } ndr_opcode_e;

  // DevLoad (cxl-68b section 4.7).
  typedef enum logic [1:0] {
    DEV_LOAD_LIGHT = 2'h0,
    DEV_LOAD_OPTIMAL = 2'h1,
    DEV_LOAD_MODERATE = 2'h2,
    DEV_LOAD_SEVERE = 2'h3
  } dev_load_e;

  // DrsOpcode (cxl-68b section 4.6).
  typedef enum logic [2:0] {
    DRS_OPCODE_MEM_DATA = 3'h0,
    DRS_OPCODE_MEM_DATA_NXM = 3'h1
  } drs_opcode_e;

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

  // H2dReqOpcode (cxl-68b section 4.10).
  typedef enum logic [2:0] {
    H2D_REQ_OPCODE_SNP_DATA = 3'h1,
    H2D_REQ_OPCODE_SNP_INV = 3'h2,
    H2D_REQ_OPCODE_SNP_CUR = 3'h3
  } h2d_req_opcode_e;

  // H2dRspOpcode (cxl-68b section 4.11).
  typedef enum logic [3:0] {
    H2D_RSP_OPCODE_WRITE_PULL = 4'h1,
    H2D_RSP_OPCODE_GO = 4'h4,
    H2D_RSP_OPCODE_GO_WRITE_PULL = 4'h5,
    H2D_RSP_OPCODE_EXT_CMP = 4'h6,
    H2D_RSP_OPCODE_GO_WRITE_PULL_DROP = 4'h8,
    H2D_RSP_OPCODE_FAST_GO = 4'hc,
    H2D_RSP_OPCODE_FAST_GO_WRITE_PULL = 4'hd,
    H2D_RSP_OPCODE_GO_ERR_WRITE_PULL = 4'hf
  } h2d_rsp_opcode_e;

  // RspPre (cxl-68b section 4.11).
  typedef enum logic [1:0] {
    RSP_PRE_MISS_LOCAL = 2'h0,
    RSP_PRE_HIT = 2'h1,
    RSP_PRE_MISS_REMOTE = 2'h2
  } rsp_pre_e;

  // LlCtrl (cxl-68b section 6.2).
  typedef enum logic [3:0] {
    LL_CTRL_LLCRD = 4'h0,
    LL_CTRL_RETRY = 4'h1,
    LL_CTRL_IDE = 4'h2,
    LL_CTRL_INIT = 4'hc
  } ll_ctrl_e;

  // VlsmState (cxl-68b section 8.1).
  typedef enum logic [3:0] {
    VLSM_STATE_RESET = 4'h0,
    VLSM_STATE_ACTIVE = 4'h1,
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

  // cxl68.m2s_req: CXL.mem request without data, host to device.
  // Source: cxl-68b section 2.1. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int M2S_REQ_BITS = 87;
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
  localparam int M2S_REQ_ADDRESS_WIDTH = 47;
  localparam int M2S_REQ_TC_LSB = 75;
  localparam int M2S_REQ_TC_WIDTH = 2;
  localparam int M2S_REQ_LD_ID_LSB = 77;
  localparam int M2S_REQ_LD_ID_WIDTH = 4;
  localparam int M2S_REQ_RSVD_LSB = 81;
  localparam int M2S_REQ_RSVD_WIDTH = 6;
  typedef struct packed {
    logic [5:0] rsvd; // Reserved.
    logic [3:0] ld_id; // Logical device; reserved in 1.1.
    logic [1:0] tc; // Traffic class.
    logic [46:0] address; // Host physical byte address; bits 51:5 travel. Bit 5 exists in 68B mode only and is reserved use (our choice). Byte address from bit 5 up.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] snp_type; // Snoop asked of the device. Codes: snp_type_e.
    logic [3:0] opcode; // What is asked. Codes: m2s_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } m2s_req_t;

  // cxl68.m2s_rwd: Header of a CXL.mem request with data, host to device.
  // Source: cxl-68b section 2.2. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int M2S_RWD_BITS = 87;
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
  localparam int M2S_RWD_TC_LSB = 75;
  localparam int M2S_RWD_TC_WIDTH = 2;
  localparam int M2S_RWD_LD_ID_LSB = 77;
  localparam int M2S_RWD_LD_ID_WIDTH = 4;
  localparam int M2S_RWD_RSVD_LSB = 81;
  localparam int M2S_RWD_RSVD_WIDTH = 6;
  typedef struct packed {
    logic [5:0] rsvd; // Reserved.
    logic [3:0] ld_id; // Logical device; reserved in 1.1.
    logic [1:0] tc; // Traffic class.
    logic [0:0] poison; // The data is known to be wrong.
    logic [45:0] address; // Host physical byte address of the line; bits 51:6 travel. Byte address from bit 6 up.
    logic [15:0] tag; // Names the transaction; the answer carries it back.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] snp_type; // Snoop asked of the device. Codes: snp_type_e.
    logic [3:0] opcode; // What is asked. Codes: m2s_rwd_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } m2s_rwd_t;

  // cxl68.s2m_ndr: CXL.mem answer without data, device to host. 28 bits in 1.1; DevLoad is split off in some slots (section 3.3).
  // Source: cxl-68b section 2.3. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int S2M_NDR_BITS = 30;
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
  typedef struct packed {
    logic [1:0] devload; // Load of the device; absent in 1.1. Codes: dev_load_e.
    logic [3:0] ld_id; // Logical device; reserved in 1.1.
    logic [15:0] tag; // Tag of the request.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] opcode; // What is answered. Codes: ndr_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } s2m_ndr_t;

  // cxl68.s2m_drs: Header of a CXL.mem answer with data, device to host.
  // Source: cxl-68b section 2.4. Basis: spec. On the wire byte 0 holds bits 7:0.
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
  localparam int S2M_DRS_LD_ID_LSB = 25;
  localparam int S2M_DRS_LD_ID_WIDTH = 4;
  localparam int S2M_DRS_DEVLOAD_LSB = 29;
  localparam int S2M_DRS_DEVLOAD_WIDTH = 2;
  localparam int S2M_DRS_RSVD_LSB = 31;
  localparam int S2M_DRS_RSVD_WIDTH = 9;
  typedef struct packed {
    logic [8:0] rsvd; // Reserved.
    logic [1:0] devload; // Load of the device; reserved in 1.1. Codes: dev_load_e.
    logic [3:0] ld_id; // Logical device; reserved in 1.1.
    logic [0:0] poison; // The data is known to be wrong.
    logic [15:0] tag; // Tag of the request.
    logic [1:0] meta_value; // Value of the meta field. Codes: meta_value_e.
    logic [1:0] meta_field; // Meta field concerned. Codes: meta_field_e.
    logic [2:0] opcode; // What is answered. Codes: drs_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } s2m_drs_t;

  // cxl68.d2h_req: CXL.cache request, device to host.
  // Source: cxl-68b section 2.5. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_REQ_BITS = 79;
  localparam int D2H_REQ_VALID_LSB = 0;
  localparam int D2H_REQ_VALID_WIDTH = 1;
  localparam int D2H_REQ_OPCODE_LSB = 1;
  localparam int D2H_REQ_OPCODE_WIDTH = 5;
  localparam int D2H_REQ_CQID_LSB = 6;
  localparam int D2H_REQ_CQID_WIDTH = 12;
  localparam int D2H_REQ_NT_LSB = 18;
  localparam int D2H_REQ_NT_WIDTH = 1;
  localparam int D2H_REQ_RSVD_LSB = 19;
  localparam int D2H_REQ_RSVD_WIDTH = 7;
  localparam int D2H_REQ_ADDRESS_LSB = 26;
  localparam int D2H_REQ_ADDRESS_WIDTH = 46;
  localparam int D2H_REQ_RSVD1_LSB = 72;
  localparam int D2H_REQ_RSVD1_WIDTH = 7;
  typedef struct packed {
    logic [6:0] rsvd1; // Reserved.
    logic [45:0] address; // Host physical byte address of the line; bits 51:6 travel. Byte address from bit 6 up.
    logic [6:0] rsvd; // Reserved.
    logic [0:0] nt; // 1: place the line in LRU position.
    logic [11:0] cqid; // Names the transaction at the device.
    logic [4:0] opcode; // What is asked. Codes: d2h_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } d2h_req_t;

  // cxl68.d2h_rsp: CXL.cache snoop answer, device to host.
  // Source: cxl-68b section 2.6. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_RSP_BITS = 20;
  localparam int D2H_RSP_VALID_LSB = 0;
  localparam int D2H_RSP_VALID_WIDTH = 1;
  localparam int D2H_RSP_OPCODE_LSB = 1;
  localparam int D2H_RSP_OPCODE_WIDTH = 5;
  localparam int D2H_RSP_UQID_LSB = 6;
  localparam int D2H_RSP_UQID_WIDTH = 12;
  localparam int D2H_RSP_RSVD_LSB = 18;
  localparam int D2H_RSP_RSVD_WIDTH = 2;
  typedef struct packed {
    logic [1:0] rsvd; // Reserved.
    logic [11:0] uqid; // UQID of the snoop.
    logic [4:0] opcode; // What is answered. Codes: d2h_rsp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } d2h_rsp_t;

  // cxl68.d2h_data: Header of CXL.cache data, device to host.
  // Source: cxl-68b section 2.7. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int D2H_DATA_BITS = 17;
  localparam int D2H_DATA_VALID_LSB = 0;
  localparam int D2H_DATA_VALID_WIDTH = 1;
  localparam int D2H_DATA_UQID_LSB = 1;
  localparam int D2H_DATA_UQID_WIDTH = 12;
  localparam int D2H_DATA_CHUNK_VALID_LSB = 13;
  localparam int D2H_DATA_CHUNK_VALID_WIDTH = 1;
  localparam int D2H_DATA_BOGUS_LSB = 14;
  localparam int D2H_DATA_BOGUS_WIDTH = 1;
  localparam int D2H_DATA_POISON_LSB = 15;
  localparam int D2H_DATA_POISON_WIDTH = 1;
  localparam int D2H_DATA_RSVD_LSB = 16;
  localparam int D2H_DATA_RSVD_WIDTH = 1;
  typedef struct packed {
    logic [0:0] rsvd; // Reserved.
    logic [0:0] poison; // The data is known to be wrong.
    logic [0:0] bogus; // The line was taken away meanwhile; the data means nothing.
    logic [0:0] chunk_valid; // Half of the line in a 32 B transfer: 0 lower, 1 upper; ignored for 64 B.
    logic [11:0] uqid; // UQID that the host gave.
    logic [0:0] valid; // 1: the message is present.
  } d2h_data_t;

  // cxl68.h2d_req: CXL.cache snoop, host to device.
  // Source: cxl-68b section 2.8. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_REQ_BITS = 64;
  localparam int H2D_REQ_VALID_LSB = 0;
  localparam int H2D_REQ_VALID_WIDTH = 1;
  localparam int H2D_REQ_OPCODE_LSB = 1;
  localparam int H2D_REQ_OPCODE_WIDTH = 3;
  localparam int H2D_REQ_ADDRESS_LSB = 4;
  localparam int H2D_REQ_ADDRESS_WIDTH = 46;
  localparam int H2D_REQ_UQID_LSB = 50;
  localparam int H2D_REQ_UQID_WIDTH = 12;
  localparam int H2D_REQ_RSVD_LSB = 62;
  localparam int H2D_REQ_RSVD_WIDTH = 2;
  typedef struct packed {
    logic [1:0] rsvd; // Reserved.
    logic [11:0] uqid; // Names the snoop at the host.
    logic [45:0] address; // Host physical byte address of the line; bits 51:6 travel. Byte address from bit 6 up.
    logic [2:0] opcode; // What is asked. Codes: h2d_req_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } h2d_req_t;

  // cxl68.h2d_rsp: CXL.cache answer, host to device.
  // Source: cxl-68b section 2.9. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_RSP_BITS = 32;
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
  localparam int H2D_RSP_RSVD_LSB = 31;
  localparam int H2D_RSP_RSVD_WIDTH = 1;
  typedef struct packed {
    logic [0:0] rsvd; // Reserved.
    logic [11:0] cqid; // CQID of the request.
    logic [1:0] rsp_pre; // Where the host found the line. Codes: rsp_pre_e.
    logic [11:0] rsp_data; // UQID, or the state of a GO in bits 3:0, by opcode.
    logic [3:0] opcode; // What is answered. Codes: h2d_rsp_opcode_e.
    logic [0:0] valid; // 1: the message is present.
  } h2d_rsp_t;

  // cxl68.h2d_data: Header of CXL.cache data, host to device.
  // Source: cxl-68b section 2.10. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int H2D_DATA_BITS = 24;
  localparam int H2D_DATA_VALID_LSB = 0;
  localparam int H2D_DATA_VALID_WIDTH = 1;
  localparam int H2D_DATA_CQID_LSB = 1;
  localparam int H2D_DATA_CQID_WIDTH = 12;
  localparam int H2D_DATA_CHUNK_VALID_LSB = 13;
  localparam int H2D_DATA_CHUNK_VALID_WIDTH = 1;
  localparam int H2D_DATA_POISON_LSB = 14;
  localparam int H2D_DATA_POISON_WIDTH = 1;
  localparam int H2D_DATA_GO_ERR_LSB = 15;
  localparam int H2D_DATA_GO_ERR_WIDTH = 1;
  localparam int H2D_DATA_RSVD_LSB = 16;
  localparam int H2D_DATA_RSVD_WIDTH = 8;
  typedef struct packed {
    logic [7:0] rsvd; // Reserved.
    logic [0:0] go_err; // The read failed; the data means nothing.
    logic [0:0] poison; // The data is known to be wrong.
    logic [0:0] chunk_valid; // Half of the line in a 32 B transfer: 0 lower, 1 upper; ignored for 64 B.
    logic [11:0] cqid; // CQID of the request.
    logic [0:0] valid; // 1: the message is present.
  } h2d_data_t;

  // cxl68.flit_header: Flit header, flit bits 31:0. Credits stand in the order Rsp, Req, Data.
  // Source: cxl-68b section 1.5. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int FLIT_HEADER_BITS = 32;
  localparam int FLIT_HEADER_FLIT_TYPE_LSB = 0;
  localparam int FLIT_HEADER_FLIT_TYPE_WIDTH = 1;
  localparam int FLIT_HEADER_RSVD_LSB = 1;
  localparam int FLIT_HEADER_RSVD_WIDTH = 1;
  localparam int FLIT_HEADER_AK_LSB = 2;
  localparam int FLIT_HEADER_AK_WIDTH = 1;
  localparam int FLIT_HEADER_BE_LSB = 3;
  localparam int FLIT_HEADER_BE_WIDTH = 1;
  localparam int FLIT_HEADER_SZ_LSB = 4;
  localparam int FLIT_HEADER_SZ_WIDTH = 1;
  localparam int FLIT_HEADER_SLOT0_LSB = 5;
  localparam int FLIT_HEADER_SLOT0_WIDTH = 3;
  localparam int FLIT_HEADER_SLOT1_LSB = 8;
  localparam int FLIT_HEADER_SLOT1_WIDTH = 3;
  localparam int FLIT_HEADER_SLOT2_LSB = 11;
  localparam int FLIT_HEADER_SLOT2_WIDTH = 3;
  localparam int FLIT_HEADER_SLOT3_LSB = 14;
  localparam int FLIT_HEADER_SLOT3_WIDTH = 3;
  localparam int FLIT_HEADER_RSVD1_LSB = 17;
  localparam int FLIT_HEADER_RSVD1_WIDTH = 3;
  localparam int FLIT_HEADER_RSP_CRD_LSB = 20;
  localparam int FLIT_HEADER_RSP_CRD_WIDTH = 4;
  localparam int FLIT_HEADER_REQ_CRD_LSB = 24;
  localparam int FLIT_HEADER_REQ_CRD_WIDTH = 4;
  localparam int FLIT_HEADER_DATA_CRD_LSB = 28;
  localparam int FLIT_HEADER_DATA_CRD_WIDTH = 4;
  typedef struct packed {
    logic [3:0] data_crd; // Data credits returned: for D2H Data and S2M DRS in a flit that travels down, for H2D Data and M2S RwD in one up.
    logic [3:0] req_crd; // Request credits returned: for D2H Req in a flit that travels down, for H2D Req and M2S Req in one up.
    logic [3:0] rsp_crd; // Response credits returned: for D2H Rsp and S2M NDR in a flit that travels down, for H2D Rsp in one up.
    logic [2:0] rsvd1; // Reserved.
    logic [2:0] slot3; // G format of slot 3.
    logic [2:0] slot2; // G format of slot 2.
    logic [2:0] slot1; // G format of slot 1.
    logic [2:0] slot0; // H format of slot 0.
    logic [0:0] sz; // 1: 64 B of data (4 chunks), 0: 32 B (2 chunks).
    logic [0:0] be; // A byte-enable chunk follows the data of the message that begins here.
    logic [0:0] ak; // Acknowledges 8 received flits.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 0 protocol, 1 control.
  } flit_header_t;

  // cxl68.llcrd: LLCRD slot: credits and acknowledgements. Full_Ack is {ack_high, ak, ack_low}.
  // Source: cxl-68b section 6.1. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int LLCRD_BITS = 128;
  localparam int LLCRD_FLIT_TYPE_LSB = 0;
  localparam int LLCRD_FLIT_TYPE_WIDTH = 1;
  localparam int LLCRD_RSVD_LSB = 1;
  localparam int LLCRD_RSVD_WIDTH = 1;
  localparam int LLCRD_AK_LSB = 2;
  localparam int LLCRD_AK_WIDTH = 1;
  localparam int LLCRD_RSVD1_LSB = 3;
  localparam int LLCRD_RSVD1_WIDTH = 2;
  localparam int LLCRD_CTL_FMT_LSB = 5;
  localparam int LLCRD_CTL_FMT_WIDTH = 3;
  localparam int LLCRD_RSVD2_LSB = 8;
  localparam int LLCRD_RSVD2_WIDTH = 12;
  localparam int LLCRD_RSP_CRD_LSB = 20;
  localparam int LLCRD_RSP_CRD_WIDTH = 4;
  localparam int LLCRD_REQ_CRD_LSB = 24;
  localparam int LLCRD_REQ_CRD_WIDTH = 4;
  localparam int LLCRD_DATA_CRD_LSB = 28;
  localparam int LLCRD_DATA_CRD_WIDTH = 4;
  localparam int LLCRD_LLCTRL_LSB = 32;
  localparam int LLCRD_LLCTRL_WIDTH = 4;
  localparam int LLCRD_SUB_TYPE_LSB = 36;
  localparam int LLCRD_SUB_TYPE_WIDTH = 4;
  localparam int LLCRD_STATIC0_LSB = 40;
  localparam int LLCRD_STATIC0_WIDTH = 24;
  localparam int LLCRD_ACK_LOW_LSB = 64;
  localparam int LLCRD_ACK_LOW_WIDTH = 3;
  localparam int LLCRD_RSVD3_LSB = 67;
  localparam int LLCRD_RSVD3_WIDTH = 1;
  localparam int LLCRD_ACK_HIGH_LSB = 68;
  localparam int LLCRD_ACK_HIGH_WIDTH = 4;
  localparam int LLCRD_RSVD4_LSB = 72;
  localparam int LLCRD_RSVD4_WIDTH = 56;
  typedef struct packed {
    logic [55:0] rsvd4; // Reserved.
    logic [3:0] ack_high; // Full_Ack bits 7:4.
    logic [0:0] rsvd3; // Reserved.
    logic [2:0] ack_low; // Full_Ack bits 2:0.
    logic [23:0] static0; // Static zero, checked by the receiver.
    logic [3:0] sub_type; // Kind within the class, 1 Acknowledge.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [3:0] data_crd; // Data credits returned: for D2H Data and S2M DRS in a flit that travels down, for H2D Data and M2S RwD in one up.
    logic [3:0] req_crd; // Request credits returned: for D2H Req in a flit that travels down, for H2D Req and M2S Req in one up.
    logic [3:0] rsp_crd; // Response credits returned: for D2H Rsp and S2M NDR in a flit that travels down, for H2D Rsp in one up.
    logic [11:0] rsvd2; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 0.
    logic [1:0] rsvd1; // Reserved.
    logic [0:0] ak; // Bit 3 of Full_Ack.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } llcrd_t;

  // cxl68.retry_req: RETRY.Req slot: ask the peer to resend.
  // Source: cxl-68b section 6.3. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int RETRY_REQ_BITS = 128;
  localparam int RETRY_REQ_FLIT_TYPE_LSB = 0;
  localparam int RETRY_REQ_FLIT_TYPE_WIDTH = 1;
  localparam int RETRY_REQ_RSVD_LSB = 1;
  localparam int RETRY_REQ_RSVD_WIDTH = 4;
  localparam int RETRY_REQ_CTL_FMT_LSB = 5;
  localparam int RETRY_REQ_CTL_FMT_WIDTH = 3;
  localparam int RETRY_REQ_RSVD1_LSB = 8;
  localparam int RETRY_REQ_RSVD1_WIDTH = 24;
  localparam int RETRY_REQ_LLCTRL_LSB = 32;
  localparam int RETRY_REQ_LLCTRL_WIDTH = 4;
  localparam int RETRY_REQ_SUB_TYPE_LSB = 36;
  localparam int RETRY_REQ_SUB_TYPE_WIDTH = 4;
  localparam int RETRY_REQ_STATIC0_LSB = 40;
  localparam int RETRY_REQ_STATIC0_WIDTH = 24;
  localparam int RETRY_REQ_ESEQ_LSB = 64;
  localparam int RETRY_REQ_ESEQ_WIDTH = 8;
  localparam int RETRY_REQ_RSVD2_LSB = 72;
  localparam int RETRY_REQ_RSVD2_WIDTH = 8;
  localparam int RETRY_REQ_NUM_RETRY_LSB = 80;
  localparam int RETRY_REQ_NUM_RETRY_WIDTH = 5;
  localparam int RETRY_REQ_NUM_PHY_REINIT_LSB = 85;
  localparam int RETRY_REQ_NUM_PHY_REINIT_WIDTH = 5;
  localparam int RETRY_REQ_RSVD3_LSB = 90;
  localparam int RETRY_REQ_RSVD3_WIDTH = 38;
  typedef struct packed {
    logic [37:0] rsvd3; // Reserved.
    logic [4:0] num_phy_reinit; // PHY reinitialisations so far (debug).
    logic [4:0] num_retry; // Tries so far.
    logic [7:0] rsvd2; // Reserved.
    logic [7:0] eseq; // Sequence number of the flit to resend from.
    logic [23:0] static0; // Static zero, checked by the receiver.
    logic [3:0] sub_type; // Kind within the class, 1 Req.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [23:0] rsvd1; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 0.
    logic [3:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } retry_req_t;

  // cxl68.retry_ack: RETRY.Ack slot: the resent flits follow.
  // Source: cxl-68b section 6.3. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int RETRY_ACK_BITS = 128;
  localparam int RETRY_ACK_FLIT_TYPE_LSB = 0;
  localparam int RETRY_ACK_FLIT_TYPE_WIDTH = 1;
  localparam int RETRY_ACK_RSVD_LSB = 1;
  localparam int RETRY_ACK_RSVD_WIDTH = 4;
  localparam int RETRY_ACK_CTL_FMT_LSB = 5;
  localparam int RETRY_ACK_CTL_FMT_WIDTH = 3;
  localparam int RETRY_ACK_RSVD1_LSB = 8;
  localparam int RETRY_ACK_RSVD1_WIDTH = 24;
  localparam int RETRY_ACK_LLCTRL_LSB = 32;
  localparam int RETRY_ACK_LLCTRL_WIDTH = 4;
  localparam int RETRY_ACK_SUB_TYPE_LSB = 36;
  localparam int RETRY_ACK_SUB_TYPE_WIDTH = 4;
  localparam int RETRY_ACK_STATIC0_LSB = 40;
  localparam int RETRY_ACK_STATIC0_WIDTH = 24;
  localparam int RETRY_ACK_EMPTY_LSB = 64;
  localparam int RETRY_ACK_EMPTY_WIDTH = 1;
  localparam int RETRY_ACK_VIRAL_LSB = 65;
  localparam int RETRY_ACK_VIRAL_WIDTH = 1;
  localparam int RETRY_ACK_RSVD2_LSB = 66;
  localparam int RETRY_ACK_RSVD2_WIDTH = 1;
  localparam int RETRY_ACK_NUM_RETRY_LSB = 67;
  localparam int RETRY_ACK_NUM_RETRY_WIDTH = 5;
  localparam int RETRY_ACK_WR_PTR_LSB = 72;
  localparam int RETRY_ACK_WR_PTR_WIDTH = 8;
  localparam int RETRY_ACK_ESEQ_LSB = 80;
  localparam int RETRY_ACK_ESEQ_WIDTH = 8;
  localparam int RETRY_ACK_NUM_FREE_BUF_LSB = 88;
  localparam int RETRY_ACK_NUM_FREE_BUF_WIDTH = 8;
  localparam int RETRY_ACK_VIRAL_LD_ID_LSB = 96;
  localparam int RETRY_ACK_VIRAL_LD_ID_WIDTH = 16;
  localparam int RETRY_ACK_RSVD3_LSB = 112;
  localparam int RETRY_ACK_RSVD3_WIDTH = 16;
  typedef struct packed {
    logic [15:0] rsvd3; // Reserved.
    logic [15:0] viral_ld_id; // Logical devices in viral, one bit each; 0 is all.
    logic [7:0] num_free_buf; // Free entries of the retry buffer (debug).
    logic [7:0] eseq; // Echo of the request.
    logic [7:0] wr_ptr; // Write pointer of the retry buffer (debug).
    logic [4:0] num_retry; // Echo of the request.
    logic [0:0] rsvd2; // Reserved.
    logic [0:0] viral; // The sender is in viral.
    logic [0:0] empty; // Nothing to resend.
    logic [23:0] static0; // Static zero, checked by the receiver.
    logic [3:0] sub_type; // Kind within the class, 2 Ack.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [23:0] rsvd1; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 0.
    logic [3:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } retry_ack_t;

  // cxl68.retry: RETRY slot without payload: Idle and Frame.
  // Source: cxl-68b section 6.1. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int RETRY_BITS = 128;
  localparam int RETRY_FLIT_TYPE_LSB = 0;
  localparam int RETRY_FLIT_TYPE_WIDTH = 1;
  localparam int RETRY_RSVD_LSB = 1;
  localparam int RETRY_RSVD_WIDTH = 4;
  localparam int RETRY_CTL_FMT_LSB = 5;
  localparam int RETRY_CTL_FMT_WIDTH = 3;
  localparam int RETRY_RSVD1_LSB = 8;
  localparam int RETRY_RSVD1_WIDTH = 24;
  localparam int RETRY_LLCTRL_LSB = 32;
  localparam int RETRY_LLCTRL_WIDTH = 4;
  localparam int RETRY_SUB_TYPE_LSB = 36;
  localparam int RETRY_SUB_TYPE_WIDTH = 4;
  localparam int RETRY_STATIC0_LSB = 40;
  localparam int RETRY_STATIC0_WIDTH = 24;
  localparam int RETRY_RSVD2_LSB = 64;
  localparam int RETRY_RSVD2_WIDTH = 64;
  typedef struct packed {
    logic [63:0] rsvd2; // Reserved.
    logic [23:0] static0; // Static zero, checked by the receiver.
    logic [3:0] sub_type; // Kind within the class: 0 Idle, 3 Frame.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [23:0] rsvd1; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 0.
    logic [3:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } retry_t;

  // cxl68.init_param: INIT.Param slot: link-layer parameters.
  // Source: cxl-68b section 6.3. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int INIT_PARAM_BITS = 128;
  localparam int INIT_PARAM_FLIT_TYPE_LSB = 0;
  localparam int INIT_PARAM_FLIT_TYPE_WIDTH = 1;
  localparam int INIT_PARAM_RSVD_LSB = 1;
  localparam int INIT_PARAM_RSVD_WIDTH = 4;
  localparam int INIT_PARAM_CTL_FMT_LSB = 5;
  localparam int INIT_PARAM_CTL_FMT_WIDTH = 3;
  localparam int INIT_PARAM_RSVD1_LSB = 8;
  localparam int INIT_PARAM_RSVD1_WIDTH = 24;
  localparam int INIT_PARAM_LLCTRL_LSB = 32;
  localparam int INIT_PARAM_LLCTRL_WIDTH = 4;
  localparam int INIT_PARAM_SUB_TYPE_LSB = 36;
  localparam int INIT_PARAM_SUB_TYPE_WIDTH = 4;
  localparam int INIT_PARAM_STATIC0_LSB = 40;
  localparam int INIT_PARAM_STATIC0_WIDTH = 24;
  localparam int INIT_PARAM_VERSION_LSB = 64;
  localparam int INIT_PARAM_VERSION_WIDTH = 4;
  localparam int INIT_PARAM_RSVD2_LSB = 68;
  localparam int INIT_PARAM_RSVD2_WIDTH = 20;
  localparam int INIT_PARAM_WRAP_LSB = 88;
  localparam int INIT_PARAM_WRAP_WIDTH = 8;
  localparam int INIT_PARAM_RSVD3_LSB = 96;
  localparam int INIT_PARAM_RSVD3_WIDTH = 32;
  typedef struct packed {
    logic [31:0] rsvd3; // Reserved.
    logic [7:0] wrap; // LLR wrap value: highest sequence number before 0 (our choice).
    logic [19:0] rsvd2; // Reserved.
    logic [3:0] version; // Link-layer version: 1 is 1.0 and 1.1, 2 is 2.0 and later.
    logic [23:0] static0; // Static zero, checked by the receiver.
    logic [3:0] sub_type; // Kind within the class, 8 Param.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [23:0] rsvd1; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 0.
    logic [3:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } init_param_t;

  // cxl68.ide: IDE slot, content opaque. The payload is {payload_high, payload_mid, payload_low}.
  // Source: cxl-68b section 6.1. Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int IDE_BITS = 128;
  localparam int IDE_FLIT_TYPE_LSB = 0;
  localparam int IDE_FLIT_TYPE_WIDTH = 1;
  localparam int IDE_RSVD_LSB = 1;
  localparam int IDE_RSVD_WIDTH = 4;
  localparam int IDE_CTL_FMT_LSB = 5;
  localparam int IDE_CTL_FMT_WIDTH = 3;
  localparam int IDE_RSVD1_LSB = 8;
  localparam int IDE_RSVD1_WIDTH = 16;
  localparam int IDE_PAYLOAD_LOW_LSB = 24;
  localparam int IDE_PAYLOAD_LOW_WIDTH = 8;
  localparam int IDE_LLCTRL_LSB = 32;
  localparam int IDE_LLCTRL_WIDTH = 4;
  localparam int IDE_SUB_TYPE_LSB = 36;
  localparam int IDE_SUB_TYPE_WIDTH = 4;
  localparam int IDE_PAYLOAD_MID_LSB = 40;
  localparam int IDE_PAYLOAD_MID_WIDTH = 24;
  localparam int IDE_PAYLOAD_HIGH_LSB = 64;
  localparam int IDE_PAYLOAD_HIGH_WIDTH = 64;
  typedef struct packed {
    logic [63:0] payload_high; // Payload bits 95:32.
    logic [23:0] payload_mid; // Payload bits 31:8.
    logic [3:0] sub_type; // Kind within the class: 0 Idle, 1 Start, 2 TMAC.
    logic [3:0] llctrl; // Control class. Codes: ll_ctrl_e.
    logic [7:0] payload_low; // Payload bits 7:0.
    logic [15:0] rsvd1; // Reserved.
    logic [2:0] ctl_fmt; // Format of the control slot, 1.
    logic [3:0] rsvd; // Reserved.
    logic [0:0] flit_type; // 1: control.
  } ide_t;

  // cxl68.almp: One DWORD of an ARB/MUX link management packet; it stands four times in flit bytes 0 to 15.
  // Source: cxl-68b section 8.1. Basis: spec. On the wire byte 0 holds bits 7:0.
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

  // Slot formats: format code, then first bit and width of each message in the slot.
  localparam logic [3:0] SLOT_DOWN_H0_CODE = 4'h0;
  localparam int SLOT_DOWN_H0_0_H2D_REQ_LSB = 32;
  localparam int SLOT_DOWN_H0_0_H2D_REQ_WIDTH = 64;
  localparam int SLOT_DOWN_H0_1_H2D_RSP_LSB = 96;
  localparam int SLOT_DOWN_H0_1_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_DOWN_H1_CODE = 4'h1;
  localparam int SLOT_DOWN_H1_0_H2D_DATA_LSB = 32;
  localparam int SLOT_DOWN_H1_0_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_H1_1_H2D_RSP_LSB = 56;
  localparam int SLOT_DOWN_H1_1_H2D_RSP_WIDTH = 32;
  localparam int SLOT_DOWN_H1_2_H2D_RSP_LSB = 88;
  localparam int SLOT_DOWN_H1_2_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_DOWN_H2_CODE = 4'h2;
  localparam int SLOT_DOWN_H2_0_H2D_REQ_LSB = 32;
  localparam int SLOT_DOWN_H2_0_H2D_REQ_WIDTH = 64;
  localparam int SLOT_DOWN_H2_1_H2D_DATA_LSB = 96;
  localparam int SLOT_DOWN_H2_1_H2D_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_DOWN_H3_CODE = 4'h3;
  localparam int SLOT_DOWN_H3_0_H2D_DATA_LSB = 32;
  localparam int SLOT_DOWN_H3_0_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_H3_1_H2D_DATA_LSB = 56;
  localparam int SLOT_DOWN_H3_1_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_H3_2_H2D_DATA_LSB = 80;
  localparam int SLOT_DOWN_H3_2_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_H3_3_H2D_DATA_LSB = 104;
  localparam int SLOT_DOWN_H3_3_H2D_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_DOWN_H4_CODE = 4'h4;
  localparam int SLOT_DOWN_H4_0_M2S_RWD_LSB = 32;
  localparam int SLOT_DOWN_H4_0_M2S_RWD_WIDTH = 87;
  localparam logic [3:0] SLOT_DOWN_H5_CODE = 4'h5;
  localparam int SLOT_DOWN_H5_0_M2S_REQ_LSB = 32;
  localparam int SLOT_DOWN_H5_0_M2S_REQ_WIDTH = 87;
  localparam logic [3:0] SLOT_DOWN_H6_CODE = 4'h6;
  localparam int SLOT_DOWN_H6_0_MAC_LSB = 32;
  localparam int SLOT_DOWN_H6_0_MAC_WIDTH = 96;
  localparam logic [3:0] SLOT_DOWN_G0_CODE = 4'h0;
  localparam int SLOT_DOWN_G0_0_DATA_LSB = 0;
  localparam int SLOT_DOWN_G0_0_DATA_WIDTH = 128;
  localparam logic [3:0] SLOT_DOWN_G1_CODE = 4'h1;
  localparam int SLOT_DOWN_G1_0_H2D_RSP_LSB = 0;
  localparam int SLOT_DOWN_G1_0_H2D_RSP_WIDTH = 32;
  localparam int SLOT_DOWN_G1_1_H2D_RSP_LSB = 32;
  localparam int SLOT_DOWN_G1_1_H2D_RSP_WIDTH = 32;
  localparam int SLOT_DOWN_G1_2_H2D_RSP_LSB = 64;
  localparam int SLOT_DOWN_G1_2_H2D_RSP_WIDTH = 32;
  localparam int SLOT_DOWN_G1_3_H2D_RSP_LSB = 96;
  localparam int SLOT_DOWN_G1_3_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_DOWN_G2_CODE = 4'h2;
  localparam int SLOT_DOWN_G2_0_H2D_REQ_LSB = 0;
  localparam int SLOT_DOWN_G2_0_H2D_REQ_WIDTH = 64;
  localparam int SLOT_DOWN_G2_1_H2D_DATA_LSB = 64;
  localparam int SLOT_DOWN_G2_1_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_G2_2_H2D_RSP_LSB = 88;
  localparam int SLOT_DOWN_G2_2_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_DOWN_G3_CODE = 4'h3;
  localparam int SLOT_DOWN_G3_0_H2D_DATA_LSB = 0;
  localparam int SLOT_DOWN_G3_0_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_G3_1_H2D_DATA_LSB = 24;
  localparam int SLOT_DOWN_G3_1_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_G3_2_H2D_DATA_LSB = 48;
  localparam int SLOT_DOWN_G3_2_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_G3_3_H2D_DATA_LSB = 72;
  localparam int SLOT_DOWN_G3_3_H2D_DATA_WIDTH = 24;
  localparam int SLOT_DOWN_G3_4_H2D_RSP_LSB = 96;
  localparam int SLOT_DOWN_G3_4_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_DOWN_G4_CODE = 4'h4;
  localparam int SLOT_DOWN_G4_0_M2S_REQ_LSB = 0;
  localparam int SLOT_DOWN_G4_0_M2S_REQ_WIDTH = 87;
  localparam int SLOT_DOWN_G4_1_H2D_DATA_LSB = 88;
  localparam int SLOT_DOWN_G4_1_H2D_DATA_WIDTH = 24;
  localparam logic [3:0] SLOT_DOWN_G5_CODE = 4'h5;
  localparam int SLOT_DOWN_G5_0_M2S_RWD_LSB = 0;
  localparam int SLOT_DOWN_G5_0_M2S_RWD_WIDTH = 87;
  localparam int SLOT_DOWN_G5_1_H2D_RSP_LSB = 88;
  localparam int SLOT_DOWN_G5_1_H2D_RSP_WIDTH = 32;
  localparam logic [3:0] SLOT_UP_H0_CODE = 4'h0;
  localparam int SLOT_UP_H0_0_D2H_DATA_LSB = 32;
  localparam int SLOT_UP_H0_0_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_H0_1_D2H_RSP_LSB = 49;
  localparam int SLOT_UP_H0_1_D2H_RSP_WIDTH = 20;
  localparam int SLOT_UP_H0_2_D2H_RSP_LSB = 69;
  localparam int SLOT_UP_H0_2_D2H_RSP_WIDTH = 20;
  localparam int SLOT_UP_H0_3_S2M_NDR_LSB = 89;
  localparam int SLOT_UP_H0_3_S2M_NDR_WIDTH = 30;
  localparam logic [3:0] SLOT_UP_H1_CODE = 4'h1;
  localparam int SLOT_UP_H1_0_D2H_REQ_LSB = 32;
  localparam int SLOT_UP_H1_0_D2H_REQ_WIDTH = 79;
  localparam int SLOT_UP_H1_1_D2H_DATA_LSB = 111;
  localparam int SLOT_UP_H1_1_D2H_DATA_WIDTH = 17;
  localparam logic [3:0] SLOT_UP_H2_CODE = 4'h2;
  localparam int SLOT_UP_H2_0_D2H_DATA_LSB = 32;
  localparam int SLOT_UP_H2_0_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_H2_1_D2H_DATA_LSB = 49;
  localparam int SLOT_UP_H2_1_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_H2_2_D2H_DATA_LSB = 66;
  localparam int SLOT_UP_H2_2_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_H2_3_D2H_DATA_LSB = 83;
  localparam int SLOT_UP_H2_3_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_H2_4_D2H_RSP_LSB = 100;
  localparam int SLOT_UP_H2_4_D2H_RSP_WIDTH = 20;
  localparam logic [3:0] SLOT_UP_H3_CODE = 4'h3;
  localparam int SLOT_UP_H3_0_S2M_DRS_LSB = 32;
  localparam int SLOT_UP_H3_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_UP_H3_1_S2M_NDR_LSB = 72;
  localparam int SLOT_UP_H3_1_S2M_NDR_WIDTH = 30;
  localparam logic [3:0] SLOT_UP_H4_CODE = 4'h4;
  localparam int SLOT_UP_H4_0_S2M_NDR_LSB = 32;
  localparam int SLOT_UP_H4_0_S2M_NDR_WIDTH = 28;
  localparam int SLOT_UP_H4_1_S2M_NDR_DEV_LOAD_LSB = 90;
  localparam int SLOT_UP_H4_1_S2M_NDR_DEV_LOAD_WIDTH = 2;
  localparam int SLOT_UP_H4_2_S2M_NDR_LSB = 60;
  localparam int SLOT_UP_H4_2_S2M_NDR_WIDTH = 30;
  localparam logic [3:0] SLOT_UP_H5_CODE = 4'h5;
  localparam int SLOT_UP_H5_0_S2M_DRS_LSB = 32;
  localparam int SLOT_UP_H5_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_UP_H5_1_S2M_DRS_LSB = 72;
  localparam int SLOT_UP_H5_1_S2M_DRS_WIDTH = 40;
  localparam logic [3:0] SLOT_UP_H6_CODE = 4'h6;
  localparam int SLOT_UP_H6_0_MAC_LSB = 32;
  localparam int SLOT_UP_H6_0_MAC_WIDTH = 96;
  localparam logic [3:0] SLOT_UP_G0_CODE = 4'h0;
  localparam int SLOT_UP_G0_0_DATA_LSB = 0;
  localparam int SLOT_UP_G0_0_DATA_WIDTH = 128;
  localparam logic [3:0] SLOT_UP_G1_CODE = 4'h1;
  localparam int SLOT_UP_G1_0_D2H_REQ_LSB = 0;
  localparam int SLOT_UP_G1_0_D2H_REQ_WIDTH = 79;
  localparam int SLOT_UP_G1_1_D2H_RSP_LSB = 79;
  localparam int SLOT_UP_G1_1_D2H_RSP_WIDTH = 20;
  localparam int SLOT_UP_G1_2_D2H_RSP_LSB = 99;
  localparam int SLOT_UP_G1_2_D2H_RSP_WIDTH = 20;
  localparam logic [3:0] SLOT_UP_G2_CODE = 4'h2;
  localparam int SLOT_UP_G2_0_D2H_REQ_LSB = 0;
  localparam int SLOT_UP_G2_0_D2H_REQ_WIDTH = 79;
  localparam int SLOT_UP_G2_1_D2H_DATA_LSB = 79;
  localparam int SLOT_UP_G2_1_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_G2_2_D2H_RSP_LSB = 96;
  localparam int SLOT_UP_G2_2_D2H_RSP_WIDTH = 20;
  localparam logic [3:0] SLOT_UP_G3_CODE = 4'h3;
  localparam int SLOT_UP_G3_0_D2H_DATA_LSB = 0;
  localparam int SLOT_UP_G3_0_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_G3_1_D2H_DATA_LSB = 17;
  localparam int SLOT_UP_G3_1_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_G3_2_D2H_DATA_LSB = 34;
  localparam int SLOT_UP_G3_2_D2H_DATA_WIDTH = 17;
  localparam int SLOT_UP_G3_3_D2H_DATA_LSB = 51;
  localparam int SLOT_UP_G3_3_D2H_DATA_WIDTH = 17;
  localparam logic [3:0] SLOT_UP_G4_CODE = 4'h4;
  localparam int SLOT_UP_G4_0_S2M_DRS_LSB = 0;
  localparam int SLOT_UP_G4_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_UP_G4_1_S2M_NDR_LSB = 40;
  localparam int SLOT_UP_G4_1_S2M_NDR_WIDTH = 28;
  localparam int SLOT_UP_G4_2_S2M_NDR_DEV_LOAD_LSB = 98;
  localparam int SLOT_UP_G4_2_S2M_NDR_DEV_LOAD_WIDTH = 2;
  localparam int SLOT_UP_G4_3_S2M_NDR_LSB = 68;
  localparam int SLOT_UP_G4_3_S2M_NDR_WIDTH = 30;
  localparam logic [3:0] SLOT_UP_G5_CODE = 4'h5;
  localparam int SLOT_UP_G5_0_S2M_NDR_LSB = 0;
  localparam int SLOT_UP_G5_0_S2M_NDR_WIDTH = 28;
  localparam int SLOT_UP_G5_1_S2M_NDR_DEV_LOAD_LSB = 58;
  localparam int SLOT_UP_G5_1_S2M_NDR_DEV_LOAD_WIDTH = 2;
  localparam int SLOT_UP_G5_2_S2M_NDR_LSB = 28;
  localparam int SLOT_UP_G5_2_S2M_NDR_WIDTH = 30;
  localparam logic [3:0] SLOT_UP_G6_CODE = 4'h6;
  localparam int SLOT_UP_G6_0_S2M_DRS_LSB = 0;
  localparam int SLOT_UP_G6_0_S2M_DRS_WIDTH = 40;
  localparam int SLOT_UP_G6_1_S2M_DRS_LSB = 40;
  localparam int SLOT_UP_G6_1_S2M_DRS_WIDTH = 40;
  localparam int SLOT_UP_G6_2_S2M_DRS_LSB = 80;
  localparam int SLOT_UP_G6_2_S2M_DRS_WIDTH = 40;

endpackage : scalepool_cxl68_pkg
