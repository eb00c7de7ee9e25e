// Made by `scalepool export sv` from the layout tables; do not edit.
package scalepool_nvlink_pkg;

  // Vc (nvlink section 3 (A)).
  typedef enum logic [2:0] {
    VC_CREQ0 = 3'h0,
    VC_DNGRD = 3'h1,
    VC_ATR = 3'h2,
    VC_ATSD = 3'h3,
    VC_PROBE = 3'h4,
    VC_RSP0 = 3'h5,
    VC_CREQ1 = 3'h6,
    VC_RSP1 = 3'h7
  } vc_e;

  // Op (nvlink section 6.1 (D)).
  typedef enum logic [5:0] {
    OP_IDLE = 6'h0,
    OP_READ = 6'h1,
    OP_WRITE_POSTED = 6'h2,
    OP_WRITE_NONPOSTED = 6'h3,
    OP_ATOMIC_RETURN = 6'h4,
    OP_ATOMIC_POSTED = 6'h5,
    OP_FLUSH = 6'h6,
    OP_MULTICAST_WRITE = 6'h7,
    OP_REDUCE_READ = 6'h8,
    OP_RSP_DATA = 6'h10,
    OP_RSP_DONE = 6'h11,
    OP_RSP_ERROR = 6'h12,
    OP_REPLAY_INIT = 6'h3e,
    OP_CREDIT_INIT = 6'h3f
  } op_e;

  // nvlink.header: Header flit of an NVL-M1 packet: CRC, transaction part (bits 102 to 20), link part (19 to 0). Model, no product.
  // Source: nvlink section 6.1 (D). Basis: model. On the wire byte 0 holds bits 7:0.
  localparam int HEADER_BITS = 128;
  localparam int HEADER_ACKID_LSB = 0;
  localparam int HEADER_ACKID_WIDTH = 12;
  localparam int HEADER_ACKV_LSB = 12;
  localparam int HEADER_ACKV_WIDTH = 1;
  localparam int HEADER_ATAG_LSB = 13;
  localparam int HEADER_ATAG_WIDTH = 2;
  localparam int HEADER_LEN_LSB = 15;
  localparam int HEADER_LEN_WIDTH = 5;
  localparam int HEADER_RSVD_LSB = 20;
  localparam int HEADER_RSVD_WIDTH = 2;
  localparam int HEADER_CRD_LSB = 22;
  localparam int HEADER_CRD_WIDTH = 5;
  localparam int HEADER_CRH_LSB = 27;
  localparam int HEADER_CRH_WIDTH = 4;
  localparam int HEADER_CRVC_LSB = 31;
  localparam int HEADER_CRVC_WIDTH = 3;
  localparam int HEADER_EP_LSB = 34;
  localparam int HEADER_EP_WIDTH = 1;
  localparam int HEADER_BE_LSB = 35;
  localparam int HEADER_BE_WIDTH = 1;
  localparam int HEADER_AE_LSB = 36;
  localparam int HEADER_AE_WIDTH = 1;
  localparam int HEADER_SIZE_LSB = 37;
  localparam int HEADER_SIZE_WIDTH = 4;
  localparam int HEADER_ADDRESS_LSB = 41;
  localparam int HEADER_ADDRESS_WIDTH = 34;
  localparam int HEADER_RID_LSB = 75;
  localparam int HEADER_RID_WIDTH = 9;
  localparam int HEADER_TAG_LSB = 84;
  localparam int HEADER_TAG_WIDTH = 10;
  localparam int HEADER_VC_LSB = 94;
  localparam int HEADER_VC_WIDTH = 3;
  localparam int HEADER_OP_LSB = 97;
  localparam int HEADER_OP_WIDTH = 6;
  localparam int HEADER_CRC_LSB = 103;
  localparam int HEADER_CRC_WIDTH = 25;
  typedef struct packed {
    logic [24:0] crc; // CRC over the payload of the packet before and the bits below.
    logic [5:0] op; // Operation. Codes: op_e.
    logic [2:0] vc; // Virtual channel. Codes: vc_e.
    logic [9:0] tag; // Names the request; the answer carries it back.
    logic [8:0] rid; // Requester: link or endpoint.
    logic [33:0] address; // Byte address bits 37:0; those above are in the AE. Byte address from bit 4 up.
    logic [3:0] size; // Units of 16 bytes asked for or carried, minus 1; in RSP_ERROR the error.
    logic [0:0] ae; // An AE flit follows.
    logic [0:0] be; // A BE flit follows.
    logic [0:0] ep; // The data is wrong (poison).
    logic [2:0] crvc; // Channel of the credits returned. Codes: vc_e.
    logic [3:0] crh; // Header credits returned, one a packet.
    logic [4:0] crd; // Data credits returned, one a data flit.
    logic [1:0] rsvd; // Reserved.
    logic [4:0] len; // Flits behind the header, 0 to 17.
    logic [1:0] atag; // Application tag.
    logic [0:0] ackv; // `ackid` acknowledges.
    logic [11:0] ackid; // Identifier of the last flit that was received in order, modulo 4096; in REPLAY_INIT the first of the replay.
  } header_t;

  // nvlink.ae: Address extension: sent when it differs from the last one of the channel. Model, no product.
  // Source: nvlink section 6.1 (D). Basis: model. On the wire byte 0 holds bits 7:0.
  localparam int AE_BITS = 128;
  localparam int AE_RSVD_LSB = 0;
  localparam int AE_RSVD_WIDTH = 64;
  localparam int AE_ROUTE_LSB = 64;
  localparam int AE_ROUTE_WIDTH = 32;
  localparam int AE_ATTR_LSB = 96;
  localparam int AE_ATTR_WIDTH = 6;
  localparam int AE_ADDRESS_LSB = 102;
  localparam int AE_ADDRESS_WIDTH = 26;
  typedef struct packed {
    logic [25:0] address; // Byte address bits 63:38. Byte address from bit 38 up.
    logic [5:0] attr; // Attributes; operation of an atomic.
    logic [31:0] route; // Hint for routing.
    logic [63:0] rsvd; // Reserved.
  } ae_t;

endpackage : scalepool_nvlink_pkg
