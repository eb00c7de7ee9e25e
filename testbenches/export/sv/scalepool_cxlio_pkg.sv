// Made by `scalepool export sv` from the layout tables; do not edit.
package scalepool_cxlio_pkg;

  // CplStatus (cxl-io section 1.3).
  typedef enum logic [2:0] {
    CPL_STATUS_SC = 3'h0,
    CPL_STATUS_UR = 3'h1,
    CPL_STATUS_CRS = 3'h2,
    CPL_STATUS_CA = 3'h4
  } cpl_status_e;

  // DllpType (cxl-io section 2.1).
  typedef enum logic [7:0] {
    DLLP_TYPE_ACK = 8'h0,
    DLLP_TYPE_MR_INIT = 8'h1,
    DLLP_TYPE_FEATURE = 8'h2,
    DLLP_TYPE_NAK = 8'h10,
    DLLP_TYPE_PM_ENTER_L1 = 8'h20,
    DLLP_TYPE_PM_ENTER_L23 = 8'h21,
    DLLP_TYPE_PM_ACTIVE_STATE_REQUEST_L1 = 8'h23,
    DLLP_TYPE_PM_REQUEST_ACK = 8'h24,
    DLLP_TYPE_VENDOR = 8'h30,
    DLLP_TYPE_NOP = 8'h31
  } dllp_type_e;

  // FcType (cxl-io section 2.1).
  typedef enum logic [3:0] {
    FC_TYPE_INIT_FC1_P = 4'h4,
    FC_TYPE_INIT_FC1_NP = 4'h5,
    FC_TYPE_INIT_FC1_CPL = 4'h6,
    FC_TYPE_UPDATE_FC_P = 4'h8,
    FC_TYPE_UPDATE_FC_NP = 4'h9,
    FC_TYPE_UPDATE_FC_CPL = 4'ha,
    FC_TYPE_INIT_FC2_P = 4'hc,
    FC_TYPE_INIT_FC2_NP = 4'hd,
    FC_TYPE_INIT_FC2_CPL = 4'he
  } fc_type_e;

  // LastTlp (cxl-io section 2.5).
  typedef enum logic [1:0] {
    LAST_TLP_PLAIN = 2'h0,
    LAST_TLP_NULLIFIED = 2'h1,
    LAST_TLP_POISONED = 2'h2
  } last_tlp_e;

  // FmType (cxl-io section 3.3).
  typedef enum logic [7:0] {
    FM_TYPE_NOP = 8'h0,
    FM_TYPE_M_RD_LK32 = 8'h1,
    FM_TYPE_IO_RD = 8'h2,
    FM_TYPE_M_RD32 = 8'h3,
    FM_TYPE_CFG_RD0 = 8'h4,
    FM_TYPE_CFG_RD1 = 8'h5,
    FM_TYPE_CPL = 8'ha,
    FM_TYPE_CPL_LK = 8'hb,
    FM_TYPE_UIO_WR_CPL = 8'hc,
    FM_TYPE_UIO_RD_CPL = 8'hd,
    FM_TYPE_M_RD64 = 8'h20,
    FM_TYPE_M_RD_LK64 = 8'h21,
    FM_TYPE_UIOM_RD = 8'h22,
    FM_TYPE_MSG_TO_RC = 8'h30,
    FM_TYPE_MSG_BY_ADDRESS = 8'h31,
    FM_TYPE_MSG_BY_ID = 8'h32,
    FM_TYPE_MSG_BROADCAST = 8'h33,
    FM_TYPE_MSG_LOCAL = 8'h34,
    FM_TYPE_MSG_GATHERED = 8'h35,
    FM_TYPE_M_WR32 = 8'h40,
    FM_TYPE_IO_WR = 8'h42,
    FM_TYPE_CFG_WR0 = 8'h44,
    FM_TYPE_CFG_WR1 = 8'h45,
    FM_TYPE_UIO_RD_CPL_D = 8'h48,
    FM_TYPE_CPL_D = 8'h4a,
    FM_TYPE_CPL_D_LK = 8'h4b,
    FM_TYPE_FETCH_ADD32 = 8'h4c,
    FM_TYPE_SWAP32 = 8'h4d,
    FM_TYPE_CAS32 = 8'h4e,
    FM_TYPE_DM_WR32 = 8'h5b,
    FM_TYPE_M_WR64 = 8'h60,
    FM_TYPE_UIOM_WR = 8'h61,
    FM_TYPE_FETCH_ADD64 = 8'h6c,
    FM_TYPE_SWAP64 = 8'h6d,
    FM_TYPE_CAS64 = 8'h6e,
    FM_TYPE_MSG_D_TO_RC = 8'h70,
    FM_TYPE_MSG_D_BY_ADDRESS = 8'h71,
    FM_TYPE_MSG_D_BY_ID = 8'h72,
    FM_TYPE_MSG_D_BROADCAST = 8'h73,
    FM_TYPE_MSG_D_LOCAL = 8'h74,
    FM_TYPE_MSG_D_GATHERED = 8'h75,
    FM_TYPE_DM_WR64 = 8'h7b,
    FM_TYPE_FLIT_MODE_PREFIX = 8'h8d,
    FM_TYPE_VENDOR_PREFIX0 = 8'h8e,
    FM_TYPE_VENDOR_PREFIX1 = 8'h8f
  } fm_type_e;

  // cxlio.nfm_mem32: Memory request with a 32-bit address, or I/O request, non-flit mode.
  // Source: cxl-io section 1.1 section 1.3. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int NFM_MEM32_BITS = 96;
  localparam int NFM_MEM32_PH_LSB = 0;
  localparam int NFM_MEM32_PH_WIDTH = 2;
  localparam int NFM_MEM32_ADDRESS_LSB = 2;
  localparam int NFM_MEM32_ADDRESS_WIDTH = 30;
  localparam int NFM_MEM32_FIRST_BE_LSB = 32;
  localparam int NFM_MEM32_FIRST_BE_WIDTH = 4;
  localparam int NFM_MEM32_LAST_BE_LSB = 36;
  localparam int NFM_MEM32_LAST_BE_WIDTH = 4;
  localparam int NFM_MEM32_TAG_LSB = 40;
  localparam int NFM_MEM32_TAG_WIDTH = 8;
  localparam int NFM_MEM32_REQUESTER_LSB = 48;
  localparam int NFM_MEM32_REQUESTER_WIDTH = 16;
  localparam int NFM_MEM32_LENGTH_LSB = 64;
  localparam int NFM_MEM32_LENGTH_WIDTH = 10;
  localparam int NFM_MEM32_AT_LSB = 74;
  localparam int NFM_MEM32_AT_WIDTH = 2;
  localparam int NFM_MEM32_ATTR_LSB = 76;
  localparam int NFM_MEM32_ATTR_WIDTH = 2;
  localparam int NFM_MEM32_EP_LSB = 78;
  localparam int NFM_MEM32_EP_WIDTH = 1;
  localparam int NFM_MEM32_TD_LSB = 79;
  localparam int NFM_MEM32_TD_WIDTH = 1;
  localparam int NFM_MEM32_TH_LSB = 80;
  localparam int NFM_MEM32_TH_WIDTH = 1;
  localparam int NFM_MEM32_RSVD_LSB = 81;
  localparam int NFM_MEM32_RSVD_WIDTH = 1;
  localparam int NFM_MEM32_ATTR_2_LSB = 82;
  localparam int NFM_MEM32_ATTR_2_WIDTH = 1;
  localparam int NFM_MEM32_TAG_8_LSB = 83;
  localparam int NFM_MEM32_TAG_8_WIDTH = 1;
  localparam int NFM_MEM32_TC_LSB = 84;
  localparam int NFM_MEM32_TC_WIDTH = 3;
  localparam int NFM_MEM32_TAG_9_LSB = 87;
  localparam int NFM_MEM32_TAG_9_WIDTH = 1;
  localparam int NFM_MEM32_TLP_TYPE_LSB = 88;
  localparam int NFM_MEM32_TLP_TYPE_WIDTH = 5;
  localparam int NFM_MEM32_FMT_LSB = 93;
  localparam int NFM_MEM32_FMT_WIDTH = 3;
  typedef struct packed {
    logic [2:0] fmt; // Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
    logic [4:0] tlp_type; // Kind of TLP, together with Fmt.
    logic [0:0] tag_9; // Tag bit 9.
    logic [2:0] tc; // Traffic class.
    logic [0:0] tag_8; // Tag bit 8.
    logic [0:0] attr_2; // Attribute 2: ordering by ID.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] th; // A processing hint is present.
    logic [0:0] td; // 1: an ECRC follows.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [1:0] attr; // Attributes: 1 relaxed ordering, 0 no snoop.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [7:0] tag; // Tag bits 7:0.
    logic [3:0] last_be; // Byte enables of the last DW.
    logic [3:0] first_be; // Byte enables of the first DW.
    logic [29:0] address; // Byte address of the first DW. Byte address from bit 2 up.
    logic [1:0] ph; // Processing hint.
  } nfm_mem32_t;

  // cxlio.nfm_mem64: Memory request with a 64-bit address, non-flit mode.
  // Source: cxl-io section 1.1 section 1.3. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int NFM_MEM64_BITS = 128;
  localparam int NFM_MEM64_PH_LSB = 0;
  localparam int NFM_MEM64_PH_WIDTH = 2;
  localparam int NFM_MEM64_ADDRESS_LSB = 2;
  localparam int NFM_MEM64_ADDRESS_WIDTH = 62;
  localparam int NFM_MEM64_FIRST_BE_LSB = 64;
  localparam int NFM_MEM64_FIRST_BE_WIDTH = 4;
  localparam int NFM_MEM64_LAST_BE_LSB = 68;
  localparam int NFM_MEM64_LAST_BE_WIDTH = 4;
  localparam int NFM_MEM64_TAG_LSB = 72;
  localparam int NFM_MEM64_TAG_WIDTH = 8;
  localparam int NFM_MEM64_REQUESTER_LSB = 80;
  localparam int NFM_MEM64_REQUESTER_WIDTH = 16;
  localparam int NFM_MEM64_LENGTH_LSB = 96;
  localparam int NFM_MEM64_LENGTH_WIDTH = 10;
  localparam int NFM_MEM64_AT_LSB = 106;
  localparam int NFM_MEM64_AT_WIDTH = 2;
  localparam int NFM_MEM64_ATTR_LSB = 108;
  localparam int NFM_MEM64_ATTR_WIDTH = 2;
  localparam int NFM_MEM64_EP_LSB = 110;
  localparam int NFM_MEM64_EP_WIDTH = 1;
  localparam int NFM_MEM64_TD_LSB = 111;
  localparam int NFM_MEM64_TD_WIDTH = 1;
  localparam int NFM_MEM64_TH_LSB = 112;
  localparam int NFM_MEM64_TH_WIDTH = 1;
  localparam int NFM_MEM64_RSVD_LSB = 113;
  localparam int NFM_MEM64_RSVD_WIDTH = 1;
  localparam int NFM_MEM64_ATTR_2_LSB = 114;
  localparam int NFM_MEM64_ATTR_2_WIDTH = 1;
  localparam int NFM_MEM64_TAG_8_LSB = 115;
  localparam int NFM_MEM64_TAG_8_WIDTH = 1;
  localparam int NFM_MEM64_TC_LSB = 116;
  localparam int NFM_MEM64_TC_WIDTH = 3;
  localparam int NFM_MEM64_TAG_9_LSB = 119;
  localparam int NFM_MEM64_TAG_9_WIDTH = 1;
  localparam int NFM_MEM64_TLP_TYPE_LSB = 120;
  localparam int NFM_MEM64_TLP_TYPE_WIDTH = 5;
  localparam int NFM_MEM64_FMT_LSB = 125;
  localparam int NFM_MEM64_FMT_WIDTH = 3;
  typedef struct packed {
    logic [2:0] fmt; // Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
    logic [4:0] tlp_type; // Kind of TLP, together with Fmt.
    logic [0:0] tag_9; // Tag bit 9.
    logic [2:0] tc; // Traffic class.
    logic [0:0] tag_8; // Tag bit 8.
    logic [0:0] attr_2; // Attribute 2: ordering by ID.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] th; // A processing hint is present.
    logic [0:0] td; // 1: an ECRC follows.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [1:0] attr; // Attributes: 1 relaxed ordering, 0 no snoop.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [7:0] tag; // Tag bits 7:0.
    logic [3:0] last_be; // Byte enables of the last DW.
    logic [3:0] first_be; // Byte enables of the first DW.
    logic [61:0] address; // Byte address of the first DW. Byte address from bit 2 up.
    logic [1:0] ph; // Processing hint.
  } nfm_mem64_t;

  // cxlio.nfm_cfg: Configuration request, non-flit mode.
  // Source: cxl-io section 1.1 section 1.3. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int NFM_CFG_BITS = 96;
  localparam int NFM_CFG_RSVD2_LSB = 0;
  localparam int NFM_CFG_RSVD2_WIDTH = 2;
  localparam int NFM_CFG_REG_DW_LSB = 2;
  localparam int NFM_CFG_REG_DW_WIDTH = 6;
  localparam int NFM_CFG_EXT_REG_LSB = 8;
  localparam int NFM_CFG_EXT_REG_WIDTH = 4;
  localparam int NFM_CFG_RSVD1_LSB = 12;
  localparam int NFM_CFG_RSVD1_WIDTH = 4;
  localparam int NFM_CFG_COMPLETER_LSB = 16;
  localparam int NFM_CFG_COMPLETER_WIDTH = 16;
  localparam int NFM_CFG_FIRST_BE_LSB = 32;
  localparam int NFM_CFG_FIRST_BE_WIDTH = 4;
  localparam int NFM_CFG_LAST_BE_LSB = 36;
  localparam int NFM_CFG_LAST_BE_WIDTH = 4;
  localparam int NFM_CFG_TAG_LSB = 40;
  localparam int NFM_CFG_TAG_WIDTH = 8;
  localparam int NFM_CFG_REQUESTER_LSB = 48;
  localparam int NFM_CFG_REQUESTER_WIDTH = 16;
  localparam int NFM_CFG_LENGTH_LSB = 64;
  localparam int NFM_CFG_LENGTH_WIDTH = 10;
  localparam int NFM_CFG_AT_LSB = 74;
  localparam int NFM_CFG_AT_WIDTH = 2;
  localparam int NFM_CFG_ATTR_LSB = 76;
  localparam int NFM_CFG_ATTR_WIDTH = 2;
  localparam int NFM_CFG_EP_LSB = 78;
  localparam int NFM_CFG_EP_WIDTH = 1;
  localparam int NFM_CFG_TD_LSB = 79;
  localparam int NFM_CFG_TD_WIDTH = 1;
  localparam int NFM_CFG_TH_LSB = 80;
  localparam int NFM_CFG_TH_WIDTH = 1;
  localparam int NFM_CFG_RSVD_LSB = 81;
  localparam int NFM_CFG_RSVD_WIDTH = 1;
  localparam int NFM_CFG_ATTR_2_LSB = 82;
  localparam int NFM_CFG_ATTR_2_WIDTH = 1;
  localparam int NFM_CFG_TAG_8_LSB = 83;
  localparam int NFM_CFG_TAG_8_WIDTH = 1;
  localparam int NFM_CFG_TC_LSB = 84;
  localparam int NFM_CFG_TC_WIDTH = 3;
  localparam int NFM_CFG_TAG_9_LSB = 87;
  localparam int NFM_CFG_TAG_9_WIDTH = 1;
  localparam int NFM_CFG_TLP_TYPE_LSB = 88;
  localparam int NFM_CFG_TLP_TYPE_WIDTH = 5;
  localparam int NFM_CFG_FMT_LSB = 93;
  localparam int NFM_CFG_FMT_WIDTH = 3;
  typedef struct packed {
    logic [2:0] fmt; // Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
    logic [4:0] tlp_type; // Kind of TLP, together with Fmt.
    logic [0:0] tag_9; // Tag bit 9.
    logic [2:0] tc; // Traffic class.
    logic [0:0] tag_8; // Tag bit 8.
    logic [0:0] attr_2; // Attribute 2: ordering by ID.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] th; // A processing hint is present.
    logic [0:0] td; // 1: an ECRC follows.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [1:0] attr; // Attributes: 1 relaxed ordering, 0 no snoop.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [7:0] tag; // Tag bits 7:0.
    logic [3:0] last_be; // Byte enables of the last DW.
    logic [3:0] first_be; // Byte enables of the first DW.
    logic [15:0] completer; // Bus, device and function that is addressed.
    logic [3:0] rsvd1; // Reserved.
    logic [3:0] ext_reg; // Register DW number bits 9:6.
    logic [5:0] reg_dw; // Register DW number bits 5:0.
    logic [1:0] rsvd2; // Reserved.
  } nfm_cfg_t;

  // cxlio.nfm_cpl: Completion, non-flit mode.
  // Source: cxl-io section 1.1 section 1.3. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int NFM_CPL_BITS = 96;
  localparam int NFM_CPL_LOWER_ADDR_LSB = 0;
  localparam int NFM_CPL_LOWER_ADDR_WIDTH = 7;
  localparam int NFM_CPL_RSVD1_LSB = 7;
  localparam int NFM_CPL_RSVD1_WIDTH = 1;
  localparam int NFM_CPL_TAG_LSB = 8;
  localparam int NFM_CPL_TAG_WIDTH = 8;
  localparam int NFM_CPL_REQUESTER_LSB = 16;
  localparam int NFM_CPL_REQUESTER_WIDTH = 16;
  localparam int NFM_CPL_BYTE_COUNT_LSB = 32;
  localparam int NFM_CPL_BYTE_COUNT_WIDTH = 12;
  localparam int NFM_CPL_BCM_LSB = 44;
  localparam int NFM_CPL_BCM_WIDTH = 1;
  localparam int NFM_CPL_STATUS_LSB = 45;
  localparam int NFM_CPL_STATUS_WIDTH = 3;
  localparam int NFM_CPL_COMPLETER_LSB = 48;
  localparam int NFM_CPL_COMPLETER_WIDTH = 16;
  localparam int NFM_CPL_LENGTH_LSB = 64;
  localparam int NFM_CPL_LENGTH_WIDTH = 10;
  localparam int NFM_CPL_AT_LSB = 74;
  localparam int NFM_CPL_AT_WIDTH = 2;
  localparam int NFM_CPL_ATTR_LSB = 76;
  localparam int NFM_CPL_ATTR_WIDTH = 2;
  localparam int NFM_CPL_EP_LSB = 78;
  localparam int NFM_CPL_EP_WIDTH = 1;
  localparam int NFM_CPL_TD_LSB = 79;
  localparam int NFM_CPL_TD_WIDTH = 1;
  localparam int NFM_CPL_TH_LSB = 80;
  localparam int NFM_CPL_TH_WIDTH = 1;
  localparam int NFM_CPL_RSVD_LSB = 81;
  localparam int NFM_CPL_RSVD_WIDTH = 1;
  localparam int NFM_CPL_ATTR_2_LSB = 82;
  localparam int NFM_CPL_ATTR_2_WIDTH = 1;
  localparam int NFM_CPL_TAG_8_LSB = 83;
  localparam int NFM_CPL_TAG_8_WIDTH = 1;
  localparam int NFM_CPL_TC_LSB = 84;
  localparam int NFM_CPL_TC_WIDTH = 3;
  localparam int NFM_CPL_TAG_9_LSB = 87;
  localparam int NFM_CPL_TAG_9_WIDTH = 1;
  localparam int NFM_CPL_TLP_TYPE_LSB = 88;
  localparam int NFM_CPL_TLP_TYPE_WIDTH = 5;
  localparam int NFM_CPL_FMT_LSB = 93;
  localparam int NFM_CPL_FMT_WIDTH = 3;
  typedef struct packed {
    logic [2:0] fmt; // Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
    logic [4:0] tlp_type; // Kind of TLP, together with Fmt.
    logic [0:0] tag_9; // Tag bit 9.
    logic [2:0] tc; // Traffic class.
    logic [0:0] tag_8; // Tag bit 8.
    logic [0:0] attr_2; // Attribute 2: ordering by ID.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] th; // A processing hint is present.
    logic [0:0] td; // 1: an ECRC follows.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [1:0] attr; // Attributes: 1 relaxed ordering, 0 no snoop.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] completer; // Bus, device and function of the completer.
    logic [2:0] status; // How the request ended. Codes: cpl_status_e.
    logic [0:0] bcm; // Byte count was modified by a bridge.
    logic [11:0] byte_count; // Bytes still to come, this completion included; 0 stands for 4096.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [7:0] tag; // Tag bits 7:0.
    logic [0:0] rsvd1; // Reserved.
    logic [6:0] lower_addr; // Byte address bits 6:0 of the first byte that comes.
  } nfm_cpl_t;

  // cxlio.nfm_msg: Message, non-flit mode.
  // Source: cxl-io section 1.1 section 1.3. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int NFM_MSG_BITS = 128;
  localparam int NFM_MSG_DW3_LSB = 0;
  localparam int NFM_MSG_DW3_WIDTH = 32;
  localparam int NFM_MSG_DW2_LSB = 32;
  localparam int NFM_MSG_DW2_WIDTH = 32;
  localparam int NFM_MSG_MESSAGE_CODE_LSB = 64;
  localparam int NFM_MSG_MESSAGE_CODE_WIDTH = 8;
  localparam int NFM_MSG_TAG_LSB = 72;
  localparam int NFM_MSG_TAG_WIDTH = 8;
  localparam int NFM_MSG_REQUESTER_LSB = 80;
  localparam int NFM_MSG_REQUESTER_WIDTH = 16;
  localparam int NFM_MSG_LENGTH_LSB = 96;
  localparam int NFM_MSG_LENGTH_WIDTH = 10;
  localparam int NFM_MSG_AT_LSB = 106;
  localparam int NFM_MSG_AT_WIDTH = 2;
  localparam int NFM_MSG_ATTR_LSB = 108;
  localparam int NFM_MSG_ATTR_WIDTH = 2;
  localparam int NFM_MSG_EP_LSB = 110;
  localparam int NFM_MSG_EP_WIDTH = 1;
  localparam int NFM_MSG_TD_LSB = 111;
  localparam int NFM_MSG_TD_WIDTH = 1;
  localparam int NFM_MSG_TH_LSB = 112;
  localparam int NFM_MSG_TH_WIDTH = 1;
  localparam int NFM_MSG_RSVD_LSB = 113;
  localparam int NFM_MSG_RSVD_WIDTH = 1;
  localparam int NFM_MSG_ATTR_2_LSB = 114;
  localparam int NFM_MSG_ATTR_2_WIDTH = 1;
  localparam int NFM_MSG_TAG_8_LSB = 115;
  localparam int NFM_MSG_TAG_8_WIDTH = 1;
  localparam int NFM_MSG_TC_LSB = 116;
  localparam int NFM_MSG_TC_WIDTH = 3;
  localparam int NFM_MSG_TAG_9_LSB = 119;
  localparam int NFM_MSG_TAG_9_WIDTH = 1;
  localparam int NFM_MSG_TLP_TYPE_LSB = 120;
  localparam int NFM_MSG_TLP_TYPE_WIDTH = 5;
  localparam int NFM_MSG_FMT_LSB = 125;
  localparam int NFM_MSG_FMT_WIDTH = 3;
  typedef struct packed {
    logic [2:0] fmt; // Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
    logic [4:0] tlp_type; // Kind of TLP, together with Fmt.
    logic [0:0] tag_9; // Tag bit 9.
    logic [2:0] tc; // Traffic class.
    logic [0:0] tag_8; // Tag bit 8.
    logic [0:0] attr_2; // Attribute 2: ordering by ID.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] th; // A processing hint is present.
    logic [0:0] td; // 1: an ECRC follows.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [1:0] attr; // Attributes: 1 relaxed ordering, 0 no snoop.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [7:0] tag; // Tag bits 7:0.
    logic [7:0] message_code; // Which message.
    logic [31:0] dw2; // Third DW; its meaning depends on the message code.
    logic [31:0] dw3; // Fourth DW; its meaning depends on the message code.
  } nfm_msg_t;

  // cxlio.dllp_ack_nak: Ack or Nak; not used in 256B mode, where the flit header has them.
  // Source: cxl-io section 2.1. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int DLLP_ACK_NAK_BITS = 32;
  localparam int DLLP_ACK_NAK_SEQ_LSB = 0;
  localparam int DLLP_ACK_NAK_SEQ_WIDTH = 12;
  localparam int DLLP_ACK_NAK_RSVD_LSB = 12;
  localparam int DLLP_ACK_NAK_RSVD_WIDTH = 12;
  localparam int DLLP_ACK_NAK_DLLP_TYPE_LSB = 24;
  localparam int DLLP_ACK_NAK_DLLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] dllp_type; // Ack or Nak. Codes: dllp_type_e.
    logic [11:0] rsvd; // Reserved.
    logic [11:0] seq; // Sequence number of the last good TLP.
  } dllp_ack_nak_t;

  // cxlio.dllp_feature: Data link features.
  // Source: cxl-io section 2.1. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int DLLP_FEATURE_BITS = 32;
  localparam int DLLP_FEATURE_FEATURE_LSB = 0;
  localparam int DLLP_FEATURE_FEATURE_WIDTH = 23;
  localparam int DLLP_FEATURE_FEATURE_ACK_LSB = 23;
  localparam int DLLP_FEATURE_FEATURE_ACK_WIDTH = 1;
  localparam int DLLP_FEATURE_DLLP_TYPE_LSB = 24;
  localparam int DLLP_FEATURE_DLLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] dllp_type; // Feature. Codes: dllp_type_e.
    logic [0:0] feature_ack; // The features of the peer have been seen.
    logic [22:0] feature; // Features supported; bit 0 scaled flow control.
  } dllp_feature_t;

  // cxlio.dllp_fc: InitFC1, InitFC2 or UpdateFC of one credit type.
  // Source: cxl-io section 2.2. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int DLLP_FC_BITS = 32;
  localparam int DLLP_FC_DATA_FC_LSB = 0;
  localparam int DLLP_FC_DATA_FC_WIDTH = 12;
  localparam int DLLP_FC_DATA_SCALE_LSB = 12;
  localparam int DLLP_FC_DATA_SCALE_WIDTH = 2;
  localparam int DLLP_FC_HDR_FC_LSB = 14;
  localparam int DLLP_FC_HDR_FC_WIDTH = 8;
  localparam int DLLP_FC_HDR_SCALE_LSB = 22;
  localparam int DLLP_FC_HDR_SCALE_WIDTH = 2;
  localparam int DLLP_FC_VC_LSB = 24;
  localparam int DLLP_FC_VC_WIDTH = 3;
  localparam int DLLP_FC_SHARED_LSB = 27;
  localparam int DLLP_FC_SHARED_WIDTH = 1;
  localparam int DLLP_FC_FC_TYPE_LSB = 28;
  localparam int DLLP_FC_FC_TYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] fc_type; // Step and credit type. Codes: fc_type_e.
    logic [0:0] shared; // 1: shared credits (flit mode), 0: dedicated.
    logic [2:0] vc; // Virtual channel.
    logic [1:0] hdr_scale; // Scale of the header credits: 0 none, else x1, x4, x16.
    logic [7:0] hdr_fc; // Header credits; the unit is one header.
    logic [1:0] data_scale; // Scale of the data credits: 0 none, else x1, x4, x16.
    logic [11:0] data_fc; // Data credits; the unit is 4 DW.
  } dllp_fc_t;

  // cxlio.dllp_optimized_update_fc: Credits of one virtual channel in a flit whose header bit 4 is set.
  // Source: cxl-io section 2.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int DLLP_OPTIMIZED_UPDATE_FC_BITS = 32;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_P_DATA_LSB = 0;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_P_DATA_WIDTH = 12;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_P_HDR_LSB = 12;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_P_HDR_WIDTH = 8;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_NP_HDR_LSB = 20;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_NP_HDR_WIDTH = 8;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_VC_LSB = 28;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_VC_WIDTH = 3;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_MARKER_LSB = 31;
  localparam int DLLP_OPTIMIZED_UPDATE_FC_MARKER_WIDTH = 1;
  typedef struct packed {
    logic [0:0] marker; // 0: this is no flit marker.
    logic [2:0] vc; // Virtual channel.
    logic [7:0] np_hdr; // Shared non-posted header credits.
    logic [7:0] p_hdr; // Shared posted header credits.
    logic [11:0] p_data; // Shared posted data credits.
  } dllp_optimized_update_fc_t;

  // cxlio.dllp_flit_marker: Marker of a flit whose header bit 4 is set.
  // Source: cxl-io section 2.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int DLLP_FLIT_MARKER_BITS = 32;
  localparam int DLLP_FLIT_MARKER_RSVD_LSB = 0;
  localparam int DLLP_FLIT_MARKER_RSVD_WIDTH = 28;
  localparam int DLLP_FLIT_MARKER_PTM_LSB = 28;
  localparam int DLLP_FLIT_MARKER_PTM_WIDTH = 1;
  localparam int DLLP_FLIT_MARKER_LAST_TLP_LSB = 29;
  localparam int DLLP_FLIT_MARKER_LAST_TLP_WIDTH = 2;
  localparam int DLLP_FLIT_MARKER_MARKER_LSB = 31;
  localparam int DLLP_FLIT_MARKER_MARKER_WIDTH = 1;
  typedef struct packed {
    logic [0:0] marker; // 1: this is a flit marker.
    logic [1:0] last_tlp; // State of the last TLP of the flit. Codes: last_tlp_e.
    logic [0:0] ptm; // Precision time measurement marker.
    logic [27:0] rsvd; // Reserved.
  } dllp_flit_marker_t;

  // cxlio.fm_mem32: Memory request with a 32-bit address, or I/O request, flit mode.
  // Source: cxl-io section 3.2 section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int FM_MEM32_BITS = 96;
  localparam int FM_MEM32_AT_LSB = 0;
  localparam int FM_MEM32_AT_WIDTH = 2;
  localparam int FM_MEM32_ADDRESS_LSB = 2;
  localparam int FM_MEM32_ADDRESS_WIDTH = 30;
  localparam int FM_MEM32_TAG_LSB = 32;
  localparam int FM_MEM32_TAG_WIDTH = 14;
  localparam int FM_MEM32_RSVD_LSB = 46;
  localparam int FM_MEM32_RSVD_WIDTH = 1;
  localparam int FM_MEM32_EP_LSB = 47;
  localparam int FM_MEM32_EP_WIDTH = 1;
  localparam int FM_MEM32_REQUESTER_LSB = 48;
  localparam int FM_MEM32_REQUESTER_WIDTH = 16;
  localparam int FM_MEM32_LENGTH_LSB = 64;
  localparam int FM_MEM32_LENGTH_WIDTH = 10;
  localparam int FM_MEM32_ATTR_LSB = 74;
  localparam int FM_MEM32_ATTR_WIDTH = 3;
  localparam int FM_MEM32_TS_LSB = 77;
  localparam int FM_MEM32_TS_WIDTH = 3;
  localparam int FM_MEM32_OHC_LSB = 80;
  localparam int FM_MEM32_OHC_WIDTH = 5;
  localparam int FM_MEM32_TC_LSB = 85;
  localparam int FM_MEM32_TC_WIDTH = 3;
  localparam int FM_MEM32_TLP_TYPE_LSB = 88;
  localparam int FM_MEM32_TLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] tlp_type; // Kind of TLP. Codes: fm_type_e.
    logic [2:0] tc; // Traffic class.
    logic [4:0] ohc; // Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
    logic [2:0] ts; // Size code of the trailer.
    logic [2:0] attr; // Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [0:0] rsvd; // Reserved.
    logic [13:0] tag; // Names the transaction; the completion carries it back.
    logic [29:0] address; // Byte address of the first DW. Byte address from bit 2 up.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
  } fm_mem32_t;

  // cxlio.fm_mem64: Memory request with a 64-bit address, flit mode.
  // Source: cxl-io section 3.2 section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int FM_MEM64_BITS = 128;
  localparam int FM_MEM64_AT_LSB = 0;
  localparam int FM_MEM64_AT_WIDTH = 2;
  localparam int FM_MEM64_ADDRESS_LSB = 2;
  localparam int FM_MEM64_ADDRESS_WIDTH = 62;
  localparam int FM_MEM64_TAG_LSB = 64;
  localparam int FM_MEM64_TAG_WIDTH = 14;
  localparam int FM_MEM64_RSVD_LSB = 78;
  localparam int FM_MEM64_RSVD_WIDTH = 1;
  localparam int FM_MEM64_EP_LSB = 79;
  localparam int FM_MEM64_EP_WIDTH = 1;
  localparam int FM_MEM64_REQUESTER_LSB = 80;
  localparam int FM_MEM64_REQUESTER_WIDTH = 16;
  localparam int FM_MEM64_LENGTH_LSB = 96;
  localparam int FM_MEM64_LENGTH_WIDTH = 10;
  localparam int FM_MEM64_ATTR_LSB = 106;
  localparam int FM_MEM64_ATTR_WIDTH = 3;
  localparam int FM_MEM64_TS_LSB = 109;
  localparam int FM_MEM64_TS_WIDTH = 3;
  localparam int FM_MEM64_OHC_LSB = 112;
  localparam int FM_MEM64_OHC_WIDTH = 5;
  localparam int FM_MEM64_TC_LSB = 117;
  localparam int FM_MEM64_TC_WIDTH = 3;
  localparam int FM_MEM64_TLP_TYPE_LSB = 120;
  localparam int FM_MEM64_TLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] tlp_type; // Kind of TLP. Codes: fm_type_e.
    logic [2:0] tc; // Traffic class.
    logic [4:0] ohc; // Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
    logic [2:0] ts; // Size code of the trailer.
    logic [2:0] attr; // Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [0:0] rsvd; // Reserved.
    logic [13:0] tag; // Names the transaction; the completion carries it back.
    logic [61:0] address; // Byte address of the first DW. Byte address from bit 2 up.
    logic [1:0] at; // Address type: 0 untranslated, 1 translation request, 2 translated.
  } fm_mem64_t;

  // cxlio.fm_cfg: Configuration request, flit mode.
  // Source: cxl-io section 3.2 section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int FM_CFG_BITS = 96;
  localparam int FM_CFG_RSVD2_LSB = 0;
  localparam int FM_CFG_RSVD2_WIDTH = 2;
  localparam int FM_CFG_REG_DW_LSB = 2;
  localparam int FM_CFG_REG_DW_WIDTH = 10;
  localparam int FM_CFG_RSVD1_LSB = 12;
  localparam int FM_CFG_RSVD1_WIDTH = 4;
  localparam int FM_CFG_COMPLETER_LSB = 16;
  localparam int FM_CFG_COMPLETER_WIDTH = 16;
  localparam int FM_CFG_TAG_LSB = 32;
  localparam int FM_CFG_TAG_WIDTH = 14;
  localparam int FM_CFG_RSVD_LSB = 46;
  localparam int FM_CFG_RSVD_WIDTH = 1;
  localparam int FM_CFG_EP_LSB = 47;
  localparam int FM_CFG_EP_WIDTH = 1;
  localparam int FM_CFG_REQUESTER_LSB = 48;
  localparam int FM_CFG_REQUESTER_WIDTH = 16;
  localparam int FM_CFG_LENGTH_LSB = 64;
  localparam int FM_CFG_LENGTH_WIDTH = 10;
  localparam int FM_CFG_ATTR_LSB = 74;
  localparam int FM_CFG_ATTR_WIDTH = 3;
  localparam int FM_CFG_TS_LSB = 77;
  localparam int FM_CFG_TS_WIDTH = 3;
  localparam int FM_CFG_OHC_LSB = 80;
  localparam int FM_CFG_OHC_WIDTH = 5;
  localparam int FM_CFG_TC_LSB = 85;
  localparam int FM_CFG_TC_WIDTH = 3;
  localparam int FM_CFG_TLP_TYPE_LSB = 88;
  localparam int FM_CFG_TLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] tlp_type; // Kind of TLP. Codes: fm_type_e.
    logic [2:0] tc; // Traffic class.
    logic [4:0] ohc; // Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
    logic [2:0] ts; // Size code of the trailer.
    logic [2:0] attr; // Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [0:0] rsvd; // Reserved.
    logic [13:0] tag; // Names the transaction; the completion carries it back.
    logic [15:0] completer; // Bus, device and function that is addressed.
    logic [3:0] rsvd1; // Reserved.
    logic [9:0] reg_dw; // Register DW number.
    logic [1:0] rsvd2; // Reserved.
  } fm_cfg_t;

  // cxlio.fm_cpl: Completion, flit mode.
  // Source: cxl-io section 3.2 section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int FM_CPL_BITS = 96;
  localparam int FM_CPL_BYTE_COUNT_LSB = 0;
  localparam int FM_CPL_BYTE_COUNT_WIDTH = 12;
  localparam int FM_CPL_LOWER_ADDR_LSB = 12;
  localparam int FM_CPL_LOWER_ADDR_WIDTH = 4;
  localparam int FM_CPL_REQUESTER_LSB = 16;
  localparam int FM_CPL_REQUESTER_WIDTH = 16;
  localparam int FM_CPL_TAG_LSB = 32;
  localparam int FM_CPL_TAG_WIDTH = 14;
  localparam int FM_CPL_LOWER_ADDR_6_LSB = 46;
  localparam int FM_CPL_LOWER_ADDR_6_WIDTH = 1;
  localparam int FM_CPL_EP_LSB = 47;
  localparam int FM_CPL_EP_WIDTH = 1;
  localparam int FM_CPL_COMPLETER_LSB = 48;
  localparam int FM_CPL_COMPLETER_WIDTH = 16;
  localparam int FM_CPL_LENGTH_LSB = 64;
  localparam int FM_CPL_LENGTH_WIDTH = 10;
  localparam int FM_CPL_ATTR_LSB = 74;
  localparam int FM_CPL_ATTR_WIDTH = 3;
  localparam int FM_CPL_TS_LSB = 77;
  localparam int FM_CPL_TS_WIDTH = 3;
  localparam int FM_CPL_OHC_LSB = 80;
  localparam int FM_CPL_OHC_WIDTH = 5;
  localparam int FM_CPL_TC_LSB = 85;
  localparam int FM_CPL_TC_WIDTH = 3;
  localparam int FM_CPL_TLP_TYPE_LSB = 88;
  localparam int FM_CPL_TLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] tlp_type; // Kind of TLP. Codes: fm_type_e.
    logic [2:0] tc; // Traffic class.
    logic [4:0] ohc; // Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
    logic [2:0] ts; // Size code of the trailer.
    logic [2:0] attr; // Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] completer; // Bus, device and function of the completer.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [0:0] lower_addr_6; // Byte address bit 6 of the first byte that comes.
    logic [13:0] tag; // Names the transaction; the completion carries it back.
    logic [15:0] requester; // Bus, device and function that the completion goes to.
    logic [3:0] lower_addr; // Byte address bits 5:2 of the first byte that comes.
    logic [11:0] byte_count; // Bytes still to come, this completion included; 0 stands for 4096.
  } fm_cpl_t;

  // cxlio.fm_msg: Message, flit mode.
  // Source: cxl-io section 3.2 section 3.5. Basis: inferred. On the wire the last byte holds bits 7:0.
  localparam int FM_MSG_BITS = 128;
  localparam int FM_MSG_DW3_LSB = 0;
  localparam int FM_MSG_DW3_WIDTH = 32;
  localparam int FM_MSG_DW2_LSB = 32;
  localparam int FM_MSG_DW2_WIDTH = 32;
  localparam int FM_MSG_MESSAGE_CODE_LSB = 64;
  localparam int FM_MSG_MESSAGE_CODE_WIDTH = 8;
  localparam int FM_MSG_RSVD_LSB = 72;
  localparam int FM_MSG_RSVD_WIDTH = 7;
  localparam int FM_MSG_EP_LSB = 79;
  localparam int FM_MSG_EP_WIDTH = 1;
  localparam int FM_MSG_REQUESTER_LSB = 80;
  localparam int FM_MSG_REQUESTER_WIDTH = 16;
  localparam int FM_MSG_LENGTH_LSB = 96;
  localparam int FM_MSG_LENGTH_WIDTH = 10;
  localparam int FM_MSG_ATTR_LSB = 106;
  localparam int FM_MSG_ATTR_WIDTH = 3;
  localparam int FM_MSG_TS_LSB = 109;
  localparam int FM_MSG_TS_WIDTH = 3;
  localparam int FM_MSG_OHC_LSB = 112;
  localparam int FM_MSG_OHC_WIDTH = 5;
  localparam int FM_MSG_TC_LSB = 117;
  localparam int FM_MSG_TC_WIDTH = 3;
  localparam int FM_MSG_TLP_TYPE_LSB = 120;
  localparam int FM_MSG_TLP_TYPE_WIDTH = 8;
  typedef struct packed {
    logic [7:0] tlp_type; // Kind of TLP. Codes: fm_type_e.
    logic [2:0] tc; // Traffic class.
    logic [4:0] ohc; // Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
    logic [2:0] ts; // Size code of the trailer.
    logic [2:0] attr; // Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    logic [9:0] length; // Payload in DW; 0 stands for 1024.
    logic [15:0] requester; // Bus, device and function of the requester.
    logic [0:0] ep; // 1: the data is poisoned.
    logic [6:0] rsvd; // Reserved.
    logic [7:0] message_code; // Which message.
    logic [31:0] dw2; // Third DW; its meaning depends on the message code.
    logic [31:0] dw3; // Fourth DW; its meaning depends on the message code.
  } fm_msg_t;

  // cxlio.ohc_a1: OHC-A of memory requests, atomics and messages: PASID and byte enables.
  // Source: cxl-io section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int OHC_A1_BITS = 32;
  localparam int OHC_A1_FIRST_BE_LSB = 0;
  localparam int OHC_A1_FIRST_BE_WIDTH = 4;
  localparam int OHC_A1_LAST_BE_LSB = 4;
  localparam int OHC_A1_LAST_BE_WIDTH = 4;
  localparam int OHC_A1_PASID_LSB = 8;
  localparam int OHC_A1_PASID_WIDTH = 20;
  localparam int OHC_A1_ER_LSB = 28;
  localparam int OHC_A1_ER_WIDTH = 1;
  localparam int OHC_A1_PMR_LSB = 29;
  localparam int OHC_A1_PMR_WIDTH = 1;
  localparam int OHC_A1_PV_LSB = 30;
  localparam int OHC_A1_PV_WIDTH = 1;
  localparam int OHC_A1_NW_LSB = 31;
  localparam int OHC_A1_NW_WIDTH = 1;
  typedef struct packed {
    logic [0:0] nw; // No write: translation requests only.
    logic [0:0] pv; // The PASID is valid.
    logic [0:0] pmr; // Privileged mode requested.
    logic [0:0] er; // Execute requested.
    logic [19:0] pasid; // Process address space.
    logic [3:0] last_be; // Byte enables of the last DW.
    logic [3:0] first_be; // Byte enables of the first DW.
  } ohc_a1_t;

  // cxlio.ohc_a2: OHC-A of I/O requests: byte enables.
  // Source: cxl-io section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int OHC_A2_BITS = 32;
  localparam int OHC_A2_FIRST_BE_LSB = 0;
  localparam int OHC_A2_FIRST_BE_WIDTH = 4;
  localparam int OHC_A2_LAST_BE_LSB = 4;
  localparam int OHC_A2_LAST_BE_WIDTH = 4;
  localparam int OHC_A2_RSVD_LSB = 8;
  localparam int OHC_A2_RSVD_WIDTH = 24;
  typedef struct packed {
    logic [23:0] rsvd; // Reserved.
    logic [3:0] last_be; // Byte enables of the last DW; 0, as an I/O request has one DW.
    logic [3:0] first_be; // Byte enables of the first DW.
  } ohc_a2_t;

  // cxlio.ohc_a3: OHC-A of configuration requests: segment and byte enables.
  // Source: cxl-io section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int OHC_A3_BITS = 32;
  localparam int OHC_A3_FIRST_BE_LSB = 0;
  localparam int OHC_A3_FIRST_BE_WIDTH = 4;
  localparam int OHC_A3_LAST_BE_LSB = 4;
  localparam int OHC_A3_LAST_BE_WIDTH = 4;
  localparam int OHC_A3_RSVD1_LSB = 8;
  localparam int OHC_A3_RSVD1_WIDTH = 7;
  localparam int OHC_A3_DSV_LSB = 15;
  localparam int OHC_A3_DSV_WIDTH = 1;
  localparam int OHC_A3_RSVD_LSB = 16;
  localparam int OHC_A3_RSVD_WIDTH = 8;
  localparam int OHC_A3_DEST_SEGMENT_LSB = 24;
  localparam int OHC_A3_DEST_SEGMENT_WIDTH = 8;
  typedef struct packed {
    logic [7:0] dest_segment; // Segment that is addressed.
    logic [7:0] rsvd; // Reserved.
    logic [0:0] dsv; // The destination segment is valid.
    logic [6:0] rsvd1; // Reserved.
    logic [3:0] last_be; // Byte enables of the last DW; 0, as a configuration request has one DW.
    logic [3:0] first_be; // Byte enables of the first DW.
  } ohc_a3_t;

  // cxlio.ohc_a5: OHC-A of completions: segments, low address bits, status.
  // Source: cxl-io section 3.5. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int OHC_A5_BITS = 32;
  localparam int OHC_A5_STATUS_LSB = 0;
  localparam int OHC_A5_STATUS_WIDTH = 3;
  localparam int OHC_A5_LOWER_ADDR_LSB = 3;
  localparam int OHC_A5_LOWER_ADDR_WIDTH = 2;
  localparam int OHC_A5_RSVD_LSB = 5;
  localparam int OHC_A5_RSVD_WIDTH = 10;
  localparam int OHC_A5_DSV_LSB = 15;
  localparam int OHC_A5_DSV_WIDTH = 1;
  localparam int OHC_A5_COMPLETER_SEGMENT_LSB = 16;
  localparam int OHC_A5_COMPLETER_SEGMENT_WIDTH = 8;
  localparam int OHC_A5_DEST_SEGMENT_LSB = 24;
  localparam int OHC_A5_DEST_SEGMENT_WIDTH = 8;
  typedef struct packed {
    logic [7:0] dest_segment; // Segment of the requester.
    logic [7:0] completer_segment; // Segment of the completer.
    logic [0:0] dsv; // The destination segment is valid.
    logic [9:0] rsvd; // Reserved.
    logic [1:0] lower_addr; // Byte address bits 1:0 of the first byte that comes.
    logic [2:0] status; // How the request ended. Codes: cpl_status_e.
  } ohc_a5_t;

  // cxlio.ohc_c: OHC-C: requester segment and IDE.
  // Source: cxl-io section 3.5. Basis: inferred. On the wire the last byte holds bits 7:0.
  localparam int OHC_C_BITS = 32;
  localparam int OHC_C_T_LSB = 0;
  localparam int OHC_C_T_WIDTH = 1;
  localparam int OHC_C_K_LSB = 1;
  localparam int OHC_C_K_WIDTH = 1;
  localparam int OHC_C_RSVD_LSB = 2;
  localparam int OHC_C_RSVD_WIDTH = 2;
  localparam int OHC_C_SUB_STREAM_LSB = 4;
  localparam int OHC_C_SUB_STREAM_WIDTH = 4;
  localparam int OHC_C_STREAM_ID_LSB = 8;
  localparam int OHC_C_STREAM_ID_WIDTH = 8;
  localparam int OHC_C_PR_SENT_LSB = 16;
  localparam int OHC_C_PR_SENT_WIDTH = 8;
  localparam int OHC_C_REQUESTER_SEGMENT_LSB = 24;
  localparam int OHC_C_REQUESTER_SEGMENT_WIDTH = 8;
  typedef struct packed {
    logic [7:0] requester_segment; // Segment of the requester.
    logic [7:0] pr_sent; // Posted requests sent, counted for IDE.
    logic [7:0] stream_id; // IDE stream.
    logic [3:0] sub_stream; // IDE sub-stream.
    logic [1:0] rsvd; // Reserved.
    logic [0:0] k; // IDE key set.
    logic [0:0] t; // The TLP comes from a trusted environment.
  } ohc_c_t;

  // cxlio.pth: PBR header: one DW before the header base of every TLP but NOP on a PBR link.
  // Source: cxl-io section 3.8. Basis: spec. On the wire the last byte holds bits 7:0.
  localparam int PTH_BITS = 32;
  localparam int PTH_DPID_LSB = 0;
  localparam int PTH_DPID_WIDTH = 12;
  localparam int PTH_SPID_LSB = 12;
  localparam int PTH_SPID_WIDTH = 12;
  localparam int PTH_PIF_LSB = 24;
  localparam int PTH_PIF_WIDTH = 1;
  localparam int PTH_DSAR_LSB = 25;
  localparam int PTH_DSAR_WIDTH = 1;
  localparam int PTH_HIE_LSB = 26;
  localparam int PTH_HIE_WIDTH = 1;
  localparam int PTH_RSVD_LSB = 27;
  localparam int PTH_RSVD_WIDTH = 3;
  localparam int PTH_MARKER_LSB = 30;
  localparam int PTH_MARKER_WIDTH = 2;
  typedef struct packed {
    logic [1:0] marker; // 3: this is a PBR header.
    logic [2:0] rsvd; // Reserved.
    logic [0:0] hie; // Hie flag.
    logic [0:0] dsar; // DSAR flag.
    logic [0:0] pif; // PIF flag.
    logic [11:0] spid; // Source port.
    logic [11:0] dpid; // Destination port.
  } pth_t;

endpackage : scalepool_cxlio_pkg
