// Made by `scalepool export sv` from the layout tables; do not edit.
package scalepool_ualink_pkg;

  // FlitOp (ualink section 3).
  typedef enum logic [2:0] {
    FLIT_OP_ORIGINAL = 3'h0,
    FLIT_OP_REPLAYED = 3'h1,
    FLIT_OP_ACK = 3'h2,
    FLIT_OP_REPLAY_REQUEST = 3'h3
  } flit_op_e;

  // MsgClass (ualink section 6).
  typedef enum logic [3:0] {
    MSG_CLASS_BASIC = 4'h0,
    MSG_CLASS_UART = 4'h1,
    MSG_CLASS_CONTROL = 4'h8
  } msg_class_e;

  // DeviceType (ualink section 6).
  typedef enum logic [1:0] {
    DEVICE_TYPE_SWITCH = 2'h0,
    DEVICE_TYPE_ACCELERATOR = 2'h1
  } device_type_e;

  // ChannelCommand (ualink section 6).
  typedef enum logic [3:0] {
    CHANNEL_COMMAND_REQUEST = 4'h4,
    CHANNEL_COMMAND_ACK = 4'h6,
    CHANNEL_COMMAND_NACK = 4'h7,
    CHANNEL_COMMAND_PENDING = 4'h8
  } channel_command_e;

  // ReqCmd (ualink section 12).
  typedef enum logic [5:0] {
    REQ_CMD_READ = 6'h3,
    REQ_CMD_VENDOR_READ0 = 6'h8,
    REQ_CMD_VENDOR_READ1 = 6'h9,
    REQ_CMD_VENDOR_READ2 = 6'ha,
    REQ_CMD_VENDOR_READ3 = 6'hb,
    REQ_CMD_VENDOR_READ4 = 6'hc,
    REQ_CMD_VENDOR_READ5 = 6'hd,
    REQ_CMD_VENDOR_READ6 = 6'he,
    REQ_CMD_VENDOR_READ7 = 6'hf,
    REQ_CMD_WRITE = 6'h28,
    REQ_CMD_WRITE_FULL = 6'h29,
    REQ_CMD_WRITE_MESSAGE = 6'h2a,
    REQ_CMD_VENDOR_WRITE0 = 6'h2c,
    REQ_CMD_VENDOR_WRITE1 = 6'h2d,
    REQ_CMD_VENDOR_WRITE2 = 6'h2e,
    REQ_CMD_VENDOR_WRITE3 = 6'h2f,
    REQ_CMD_ATOMIC_R = 6'h30,
    REQ_CMD_ATOMIC_NR = 6'h32,
    REQ_CMD_VENDOR_ATOMIC0 = 6'h3c,
    REQ_CMD_VENDOR_ATOMIC1 = 6'h3d,
    REQ_CMD_VENDOR_ATOMIC2 = 6'h3e,
    REQ_CMD_VENDOR_ATOMIC3 = 6'h3f
  } req_cmd_e;

  // FieldType (ualink section 9).
  typedef enum logic [3:0] {
    FIELD_TYPE_FLOW_CONTROL = 4'h0,
    FIELD_TYPE_REQUEST = 4'h1,
    FIELD_TYPE_RESPONSE = 4'h2,
    FIELD_TYPE_COMPRESSED_REQUEST = 4'h3,
    FIELD_TYPE_COMPRESSED_SINGLE = 4'h4,
    FIELD_TYPE_COMPRESSED_MULTI = 4'h5
  } field_type_e;

  // RdWr (ualink section 10).
  typedef enum logic [0:0] {
    RD_WR_WRITE = 1'h0,
    RD_WR_READ = 1'h1
  } rd_wr_e;

  // Status (ualink section 12).
  typedef enum logic [3:0] {
    STATUS_OKAY = 4'h0,
    STATUS_TARGET_ABORT = 4'h2,
    STATUS_DECODE_ERROR = 4'h3,
    STATUS_PROTECTION_VIOLATION = 4'h6,
    STATUS_COMPLETION_TIMEOUT = 4'h8,
    STATUS_ISOLATE = 4'hf
  } status_e;

  // CompressedCmd (ualink section 10).
  typedef enum logic [2:0] {
    COMPRESSED_CMD_READ = 3'h0,
    COMPRESSED_CMD_WRITE = 3'h4,
    COMPRESSED_CMD_WRITE_FULL = 3'h6
  } compressed_cmd_e;

  // CreditTarget (ualink section 10).
  typedef enum logic [0:0] {
    CREDIT_TARGET_POOL = 1'h0,
    CREDIT_TARGET_VC = 1'h1
  } credit_target_e;

  // AtomicSize (ualink section 12).
  typedef enum logic [1:0] {
    ATOMIC_SIZE_BITS32 = 2'h0,
    ATOMIC_SIZE_BITS64 = 2'h1,
    ATOMIC_SIZE_BITS16 = 2'h2,
    ATOMIC_SIZE_BITS8 = 2'h3
  } atomic_size_e;

  // ualink.fh_explicit: Flit header with the flit's whole sequence number.
  // Source: ualink section 3.1 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int FH_EXPLICIT_BITS = 24;
  localparam int FH_EXPLICIT_RSVD_LSB = 0;
  localparam int FH_EXPLICIT_RSVD_WIDTH = 8;
  localparam int FH_EXPLICIT_SEQ_LSB = 8;
  localparam int FH_EXPLICIT_SEQ_WIDTH = 9;
  localparam int FH_EXPLICIT_RSVD1_LSB = 17;
  localparam int FH_EXPLICIT_RSVD1_WIDTH = 3;
  localparam int FH_EXPLICIT_PAYLOAD_LSB = 20;
  localparam int FH_EXPLICIT_PAYLOAD_WIDTH = 1;
  localparam int FH_EXPLICIT_OP_LSB = 21;
  localparam int FH_EXPLICIT_OP_WIDTH = 3;
  typedef struct packed {
    logic [2:0] op; // Format and meaning. Codes: flit_op_e.
    logic [0:0] payload; // 1: the flit has payload and a number of its own.
    logic [2:0] rsvd1; // Reserved.
    logic [8:0] seq; // Sequence number, 1 to 511; of a NOP the last one sent.
    logic [7:0] rsvd; // Reserved.
  } fh_explicit_t;

  // ualink.fh_command: Flit header with an acknowledgement or a replay request.
  // Source: ualink section 3.2 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int FH_COMMAND_BITS = 24;
  localparam int FH_COMMAND_RSVD_LSB = 0;
  localparam int FH_COMMAND_RSVD_WIDTH = 8;
  localparam int FH_COMMAND_SEQ_LO_LSB = 8;
  localparam int FH_COMMAND_SEQ_LO_WIDTH = 3;
  localparam int FH_COMMAND_ACK_REQ_SEQ_LSB = 11;
  localparam int FH_COMMAND_ACK_REQ_SEQ_WIDTH = 9;
  localparam int FH_COMMAND_PAYLOAD_LSB = 20;
  localparam int FH_COMMAND_PAYLOAD_WIDTH = 1;
  localparam int FH_COMMAND_OP_LSB = 21;
  localparam int FH_COMMAND_OP_WIDTH = 3;
  typedef struct packed {
    logic [2:0] op; // Format and meaning. Codes: flit_op_e.
    logic [0:0] payload; // 1: the flit has payload and a number of its own.
    logic [8:0] ack_req_seq; // Number that is acknowledged, or from which on is asked for.
    logic [2:0] seq_lo; // Low bits of the flit's own sequence number.
    logic [7:0] rsvd; // Reserved.
  } fh_command_t;

  // ualink.sh: Segment header: what begins in 128 bytes of a flit.
  // Source: ualink section 4 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int SH_BITS = 8;
  localparam int SH_ALT_LSB = 0;
  localparam int SH_ALT_WIDTH = 1;
  localparam int SH_RSVD_LSB = 1;
  localparam int SH_RSVD_WIDTH = 1;
  localparam int SH_MESSAGE0_LSB = 2;
  localparam int SH_MESSAGE0_WIDTH = 2;
  localparam int SH_START0_LSB = 4;
  localparam int SH_START0_WIDTH = 1;
  localparam int SH_MESSAGE1_LSB = 5;
  localparam int SH_MESSAGE1_WIDTH = 2;
  localparam int SH_START1_LSB = 7;
  localparam int SH_START1_WIDTH = 1;
  typedef struct packed {
    logic [0:0] start1; // TL Flit 1 starts here.
    logic [1:0] message1; // Message indicators of TL Flit 1.
    logic [0:0] start0; // TL Flit 0 starts here.
    logic [1:0] message0; // Message indicators of TL Flit 0: bit 0 its lower half, bit 1 its upper half.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] alt; // The first sector holds a DL message DWord.
  } sh_t;

  // ualink.dl_noop: Does nothing.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_NOOP_BITS = 32;
  localparam int DL_NOOP_COMPRESSED_LSB = 0;
  localparam int DL_NOOP_COMPRESSED_WIDTH = 1;
  localparam int DL_NOOP_RSVD_LSB = 1;
  localparam int DL_NOOP_RSVD_WIDTH = 1;
  localparam int DL_NOOP_MCLASS_LSB = 2;
  localparam int DL_NOOP_MCLASS_WIDTH = 4;
  localparam int DL_NOOP_MTYPE_LSB = 6;
  localparam int DL_NOOP_MTYPE_WIDTH = 3;
  localparam int DL_NOOP_RSVD1_LSB = 9;
  localparam int DL_NOOP_RSVD1_WIDTH = 23;
  typedef struct packed {
    logic [22:0] rsvd1; // Reserved.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_noop_t;

  // ualink.dl_tl_rate: Announces the rate of the transaction layer, or acknowledges one.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_TL_RATE_BITS = 32;
  localparam int DL_TL_RATE_COMPRESSED_LSB = 0;
  localparam int DL_TL_RATE_COMPRESSED_WIDTH = 1;
  localparam int DL_TL_RATE_RSVD_LSB = 1;
  localparam int DL_TL_RATE_RSVD_WIDTH = 1;
  localparam int DL_TL_RATE_MCLASS_LSB = 2;
  localparam int DL_TL_RATE_MCLASS_WIDTH = 4;
  localparam int DL_TL_RATE_MTYPE_LSB = 6;
  localparam int DL_TL_RATE_MTYPE_WIDTH = 3;
  localparam int DL_TL_RATE_RSVD1_LSB = 9;
  localparam int DL_TL_RATE_RSVD1_WIDTH = 3;
  localparam int DL_TL_RATE_ACK_LSB = 12;
  localparam int DL_TL_RATE_ACK_WIDTH = 1;
  localparam int DL_TL_RATE_RSVD2_LSB = 13;
  localparam int DL_TL_RATE_RSVD2_WIDTH = 3;
  localparam int DL_TL_RATE_RATE_LSB = 16;
  localparam int DL_TL_RATE_RATE_WIDTH = 16;
  typedef struct packed {
    logic [15:0] rate; // Rate in units of 50 kHz; means something in requests only.
    logic [2:0] rsvd2; // Reserved.
    logic [0:0] ack; // 1: acknowledges a request.
    logic [2:0] rsvd1; // Reserved.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_tl_rate_t;

  // ualink.dl_device_id: Asks for or tells the identity of a device.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_DEVICE_ID_BITS = 32;
  localparam int DL_DEVICE_ID_COMPRESSED_LSB = 0;
  localparam int DL_DEVICE_ID_COMPRESSED_WIDTH = 1;
  localparam int DL_DEVICE_ID_RSVD_LSB = 1;
  localparam int DL_DEVICE_ID_RSVD_WIDTH = 1;
  localparam int DL_DEVICE_ID_MCLASS_LSB = 2;
  localparam int DL_DEVICE_ID_MCLASS_WIDTH = 4;
  localparam int DL_DEVICE_ID_MTYPE_LSB = 6;
  localparam int DL_DEVICE_ID_MTYPE_WIDTH = 3;
  localparam int DL_DEVICE_ID_RSVD1_LSB = 9;
  localparam int DL_DEVICE_ID_RSVD1_WIDTH = 3;
  localparam int DL_DEVICE_ID_ACK_LSB = 12;
  localparam int DL_DEVICE_ID_ACK_WIDTH = 1;
  localparam int DL_DEVICE_ID_RSVD2_LSB = 13;
  localparam int DL_DEVICE_ID_RSVD2_WIDTH = 3;
  localparam int DL_DEVICE_ID_ID_LSB = 16;
  localparam int DL_DEVICE_ID_ID_WIDTH = 10;
  localparam int DL_DEVICE_ID_RSVD3_LSB = 26;
  localparam int DL_DEVICE_ID_RSVD3_WIDTH = 3;
  localparam int DL_DEVICE_ID_DEVICE_TYPE_LSB = 29;
  localparam int DL_DEVICE_ID_DEVICE_TYPE_WIDTH = 2;
  localparam int DL_DEVICE_ID_VALID_LSB = 31;
  localparam int DL_DEVICE_ID_VALID_WIDTH = 1;
  typedef struct packed {
    logic [0:0] valid; // Identity and type mean something.
    logic [1:0] device_type; // What the device is. Codes: device_type_e.
    logic [2:0] rsvd3; // Reserved.
    logic [9:0] id; // Identity.
    logic [2:0] rsvd2; // Reserved.
    logic [0:0] ack; // 1: answers a request.
    logic [2:0] rsvd1; // Reserved.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_device_id_t;

  // ualink.dl_port_number: Asks for or tells the number of a port.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_PORT_NUMBER_BITS = 32;
  localparam int DL_PORT_NUMBER_COMPRESSED_LSB = 0;
  localparam int DL_PORT_NUMBER_COMPRESSED_WIDTH = 1;
  localparam int DL_PORT_NUMBER_RSVD_LSB = 1;
  localparam int DL_PORT_NUMBER_RSVD_WIDTH = 1;
  localparam int DL_PORT_NUMBER_MCLASS_LSB = 2;
  localparam int DL_PORT_NUMBER_MCLASS_WIDTH = 4;
  localparam int DL_PORT_NUMBER_MTYPE_LSB = 6;
  localparam int DL_PORT_NUMBER_MTYPE_WIDTH = 3;
  localparam int DL_PORT_NUMBER_RSVD1_LSB = 9;
  localparam int DL_PORT_NUMBER_RSVD1_WIDTH = 3;
  localparam int DL_PORT_NUMBER_ACK_LSB = 12;
  localparam int DL_PORT_NUMBER_ACK_WIDTH = 1;
  localparam int DL_PORT_NUMBER_RSVD2_LSB = 13;
  localparam int DL_PORT_NUMBER_RSVD2_WIDTH = 3;
  localparam int DL_PORT_NUMBER_PORT_LSB = 16;
  localparam int DL_PORT_NUMBER_PORT_WIDTH = 12;
  localparam int DL_PORT_NUMBER_RSVD3_LSB = 28;
  localparam int DL_PORT_NUMBER_RSVD3_WIDTH = 3;
  localparam int DL_PORT_NUMBER_VALID_LSB = 31;
  localparam int DL_PORT_NUMBER_VALID_WIDTH = 1;
  typedef struct packed {
    logic [0:0] valid; // The number means something.
    logic [2:0] rsvd3; // Reserved.
    logic [11:0] port; // Port number, 0 to 1023; the field is 12 bits wide (X5).
    logic [2:0] rsvd2; // Reserved.
    logic [0:0] ack; // 1: answers a request.
    logic [2:0] rsvd1; // Reserved.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_port_number_t;

  // ualink.dl_channel: Negotiates whether a channel is online.
  // Source: ualink section 6 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_CHANNEL_BITS = 32;
  localparam int DL_CHANNEL_COMPRESSED_LSB = 0;
  localparam int DL_CHANNEL_COMPRESSED_WIDTH = 1;
  localparam int DL_CHANNEL_RSVD_LSB = 1;
  localparam int DL_CHANNEL_RSVD_WIDTH = 1;
  localparam int DL_CHANNEL_MCLASS_LSB = 2;
  localparam int DL_CHANNEL_MCLASS_WIDTH = 4;
  localparam int DL_CHANNEL_MTYPE_LSB = 6;
  localparam int DL_CHANNEL_MTYPE_WIDTH = 3;
  localparam int DL_CHANNEL_RSVD1_LSB = 9;
  localparam int DL_CHANNEL_RSVD1_WIDTH = 7;
  localparam int DL_CHANNEL_TARGET_LSB = 16;
  localparam int DL_CHANNEL_TARGET_WIDTH = 4;
  localparam int DL_CHANNEL_COMMAND_LSB = 20;
  localparam int DL_CHANNEL_COMMAND_WIDTH = 4;
  localparam int DL_CHANNEL_RESPONSE_LSB = 24;
  localparam int DL_CHANNEL_RESPONSE_WIDTH = 4;
  localparam int DL_CHANNEL_RSVD2_LSB = 28;
  localparam int DL_CHANNEL_RSVD2_WIDTH = 4;
  typedef struct packed {
    logic [3:0] rsvd2; // Reserved.
    logic [3:0] response; // Answer.
    logic [3:0] command; // What is asked or answered. Codes: channel_command_e.
    logic [3:0] target; // State that is negotiated: bit 3 online, bits 2:0 the channel (0 TL flits, 4 UART).
    logic [6:0] rsvd1; // Reserved.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_channel_t;

  // ualink.dl_uart_transport: Head of a run of UART payload DWords.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_UART_TRANSPORT_BITS = 32;
  localparam int DL_UART_TRANSPORT_COMPRESSED_LSB = 0;
  localparam int DL_UART_TRANSPORT_COMPRESSED_WIDTH = 1;
  localparam int DL_UART_TRANSPORT_RSVD_LSB = 1;
  localparam int DL_UART_TRANSPORT_RSVD_WIDTH = 1;
  localparam int DL_UART_TRANSPORT_MCLASS_LSB = 2;
  localparam int DL_UART_TRANSPORT_MCLASS_WIDTH = 4;
  localparam int DL_UART_TRANSPORT_MTYPE_LSB = 6;
  localparam int DL_UART_TRANSPORT_MTYPE_WIDTH = 3;
  localparam int DL_UART_TRANSPORT_STREAM_LSB = 9;
  localparam int DL_UART_TRANSPORT_STREAM_WIDTH = 3;
  localparam int DL_UART_TRANSPORT_RSVD1_LSB = 12;
  localparam int DL_UART_TRANSPORT_RSVD1_WIDTH = 15;
  localparam int DL_UART_TRANSPORT_LENGTH_LSB = 27;
  localparam int DL_UART_TRANSPORT_LENGTH_WIDTH = 5;
  typedef struct packed {
    logic [4:0] length; // Payload DWords that follow, minus 1.
    logic [14:0] rsvd1; // Reserved.
    logic [2:0] stream; // Stream; 0 is the only one.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_uart_transport_t;

  // ualink.dl_uart_credit: Advertises UART buffers.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_UART_CREDIT_BITS = 32;
  localparam int DL_UART_CREDIT_COMPRESSED_LSB = 0;
  localparam int DL_UART_CREDIT_COMPRESSED_WIDTH = 1;
  localparam int DL_UART_CREDIT_RSVD_LSB = 1;
  localparam int DL_UART_CREDIT_RSVD_WIDTH = 1;
  localparam int DL_UART_CREDIT_MCLASS_LSB = 2;
  localparam int DL_UART_CREDIT_MCLASS_WIDTH = 4;
  localparam int DL_UART_CREDIT_MTYPE_LSB = 6;
  localparam int DL_UART_CREDIT_MTYPE_WIDTH = 3;
  localparam int DL_UART_CREDIT_STREAM_LSB = 9;
  localparam int DL_UART_CREDIT_STREAM_WIDTH = 3;
  localparam int DL_UART_CREDIT_RSVD1_LSB = 12;
  localparam int DL_UART_CREDIT_RSVD1_WIDTH = 8;
  localparam int DL_UART_CREDIT_DATA_FC_SEQ_LSB = 20;
  localparam int DL_UART_CREDIT_DATA_FC_SEQ_WIDTH = 12;
  typedef struct packed {
    logic [11:0] data_fc_seq; // Counter of buffers given so far, modulo 4096.
    logic [7:0] rsvd1; // Reserved.
    logic [2:0] stream; // Stream; 0 is the only one.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_uart_credit_t;

  // ualink.dl_uart_reset_req: Asks to reset UART streams.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_UART_RESET_REQ_BITS = 32;
  localparam int DL_UART_RESET_REQ_COMPRESSED_LSB = 0;
  localparam int DL_UART_RESET_REQ_COMPRESSED_WIDTH = 1;
  localparam int DL_UART_RESET_REQ_RSVD_LSB = 1;
  localparam int DL_UART_RESET_REQ_RSVD_WIDTH = 1;
  localparam int DL_UART_RESET_REQ_MCLASS_LSB = 2;
  localparam int DL_UART_RESET_REQ_MCLASS_WIDTH = 4;
  localparam int DL_UART_RESET_REQ_MTYPE_LSB = 6;
  localparam int DL_UART_RESET_REQ_MTYPE_WIDTH = 3;
  localparam int DL_UART_RESET_REQ_STREAM_LSB = 9;
  localparam int DL_UART_RESET_REQ_STREAM_WIDTH = 3;
  localparam int DL_UART_RESET_REQ_ALL_LSB = 12;
  localparam int DL_UART_RESET_REQ_ALL_WIDTH = 1;
  localparam int DL_UART_RESET_REQ_RSVD1_LSB = 13;
  localparam int DL_UART_RESET_REQ_RSVD1_WIDTH = 19;
  typedef struct packed {
    logic [18:0] rsvd1; // Reserved.
    logic [0:0] all; // All streams.
    logic [2:0] stream; // Stream; 0 is the only one.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_uart_reset_req_t;

  // ualink.dl_uart_reset_rsp: Answers a UART reset.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_UART_RESET_RSP_BITS = 32;
  localparam int DL_UART_RESET_RSP_COMPRESSED_LSB = 0;
  localparam int DL_UART_RESET_RSP_COMPRESSED_WIDTH = 1;
  localparam int DL_UART_RESET_RSP_RSVD_LSB = 1;
  localparam int DL_UART_RESET_RSP_RSVD_WIDTH = 1;
  localparam int DL_UART_RESET_RSP_MCLASS_LSB = 2;
  localparam int DL_UART_RESET_RSP_MCLASS_WIDTH = 4;
  localparam int DL_UART_RESET_RSP_MTYPE_LSB = 6;
  localparam int DL_UART_RESET_RSP_MTYPE_WIDTH = 3;
  localparam int DL_UART_RESET_RSP_STREAM_LSB = 9;
  localparam int DL_UART_RESET_RSP_STREAM_WIDTH = 3;
  localparam int DL_UART_RESET_RSP_ALL_LSB = 12;
  localparam int DL_UART_RESET_RSP_ALL_WIDTH = 1;
  localparam int DL_UART_RESET_RSP_STATUS_LSB = 13;
  localparam int DL_UART_RESET_RSP_STATUS_WIDTH = 3;
  localparam int DL_UART_RESET_RSP_RSVD1_LSB = 16;
  localparam int DL_UART_RESET_RSP_RSVD1_WIDTH = 16;
  typedef struct packed {
    logic [15:0] rsvd1; // Reserved.
    logic [2:0] status; // 0: success.
    logic [0:0] all; // All streams.
    logic [2:0] stream; // Stream; 0 is the only one.
    logic [2:0] mtype; // Type within the class.
    logic [3:0] mclass; // Class. Codes: msg_class_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] compressed; // 0; a receiver ignores a message with 1 (\[D\]).
  } dl_uart_reset_rsp_t;

  // ualink.dl_uart_vendor: First DWord of a vendor packet inside UART payload.
  // Source: ualink section 6 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int DL_UART_VENDOR_BITS = 32;
  localparam int DL_UART_VENDOR_LENGTH_LSB = 0;
  localparam int DL_UART_VENDOR_LENGTH_WIDTH = 8;
  localparam int DL_UART_VENDOR_PACKET_TYPE_LSB = 8;
  localparam int DL_UART_VENDOR_PACKET_TYPE_WIDTH = 8;
  localparam int DL_UART_VENDOR_VENDOR_LSB = 16;
  localparam int DL_UART_VENDOR_VENDOR_WIDTH = 16;
  typedef struct packed {
    logic [15:0] vendor; // PCI-SIG vendor; 0xFFFF: defined by the consortium.
    logic [7:0] packet_type; // Type, the vendor's own.
    logic [7:0] length; // DWords of the packet, minus 1.
  } dl_uart_vendor_t;

  // ualink.tl_req: Uncompressed request.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_REQ_BITS = 128;
  localparam int TL_REQ_NUMBEATS_LSB = 0;
  localparam int TL_REQ_NUMBEATS_WIDTH = 2;
  localparam int TL_REQ_CWAY_LSB = 2;
  localparam int TL_REQ_CWAY_WIDTH = 2;
  localparam int TL_REQ_CLOAD_LSB = 4;
  localparam int TL_REQ_CLOAD_WIDTH = 1;
  localparam int TL_REQ_DST_LSB = 5;
  localparam int TL_REQ_DST_WIDTH = 10;
  localparam int TL_REQ_SRC_LSB = 15;
  localparam int TL_REQ_SRC_WIDTH = 10;
  localparam int TL_REQ_ADDRESS_LSB = 25;
  localparam int TL_REQ_ADDRESS_WIDTH = 55;
  localparam int TL_REQ_METADATA_LSB = 80;
  localparam int TL_REQ_METADATA_WIDTH = 8;
  localparam int TL_REQ_LEN_LSB = 88;
  localparam int TL_REQ_LEN_WIDTH = 6;
  localparam int TL_REQ_ATTR_LSB = 94;
  localparam int TL_REQ_ATTR_WIDTH = 8;
  localparam int TL_REQ_POOL_LSB = 102;
  localparam int TL_REQ_POOL_WIDTH = 1;
  localparam int TL_REQ_TAG_LSB = 103;
  localparam int TL_REQ_TAG_WIDTH = 11;
  localparam int TL_REQ_ASI_LSB = 114;
  localparam int TL_REQ_ASI_WIDTH = 2;
  localparam int TL_REQ_VCHAN_LSB = 116;
  localparam int TL_REQ_VCHAN_WIDTH = 2;
  localparam int TL_REQ_CMD_LSB = 118;
  localparam int TL_REQ_CMD_WIDTH = 6;
  localparam int TL_REQ_FTYPE_LSB = 124;
  localparam int TL_REQ_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [5:0] cmd; // Command. Codes: req_cmd_e.
    logic [1:0] vchan; // Virtual channel.
    logic [1:0] asi; // Address space.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [7:0] attr; // Attributes: byte enables of a read, operation of an atomic.
    logic [5:0] len; // DWords, minus 1.
    logic [7:0] metadata; // Metadata.
    logic [54:0] address; // Byte address; bits 56:2 travel. Byte address from bit 2 up.
    logic [9:0] src; // Source accelerator.
    logic [9:0] dst; // Destination accelerator.
    logic [0:0] cload; // 1: the receiver loads the address into its cache.
    logic [1:0] cway; // Way of the address cache.
    logic [1:0] numbeats; // Data beats of 64 bytes, minus 1; means something where data follows.
  } tl_req_t;

  // ualink.tl_rsp: Uncompressed response.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_RSP_BITS = 64;
  localparam int TL_RSP_SPARE_LSB = 0;
  localparam int TL_RSP_SPARE_WIDTH = 16;
  localparam int TL_RSP_DST_LSB = 16;
  localparam int TL_RSP_DST_WIDTH = 10;
  localparam int TL_RSP_SRC_LSB = 26;
  localparam int TL_RSP_SRC_WIDTH = 10;
  localparam int TL_RSP_LAST_LSB = 36;
  localparam int TL_RSP_LAST_WIDTH = 1;
  localparam int TL_RSP_RDWR_LSB = 37;
  localparam int TL_RSP_RDWR_WIDTH = 1;
  localparam int TL_RSP_STATUS_LSB = 38;
  localparam int TL_RSP_STATUS_WIDTH = 4;
  localparam int TL_RSP_OFFSET_LSB = 42;
  localparam int TL_RSP_OFFSET_WIDTH = 2;
  localparam int TL_RSP_LEN_LSB = 44;
  localparam int TL_RSP_LEN_WIDTH = 2;
  localparam int TL_RSP_POOL_LSB = 46;
  localparam int TL_RSP_POOL_WIDTH = 1;
  localparam int TL_RSP_TAG_LSB = 47;
  localparam int TL_RSP_TAG_WIDTH = 11;
  localparam int TL_RSP_VCHAN_LSB = 58;
  localparam int TL_RSP_VCHAN_WIDTH = 2;
  localparam int TL_RSP_FTYPE_LSB = 60;
  localparam int TL_RSP_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [1:0] vchan; // Virtual channel.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] len; // Beats, minus 1, of a read response of all beats; else 0.
    logic [1:0] offset; // Beat, of a read response of one beat.
    logic [3:0] status; // Status. Codes: status_e.
    logic [0:0] rdwr; // What it answers. Codes: rd_wr_e.
    logic [0:0] last; // Last beat of a read; 0 for writes.
    logic [9:0] src; // Source accelerator, or 0.
    logic [9:0] dst; // Destination accelerator.
    logic [15:0] spare; // Spare, sent as 0.
  } tl_rsp_t;

  // ualink.tl_creq: Compressed request.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_CREQ_BITS = 64;
  localparam int TL_CREQ_CWAY_LSB = 0;
  localparam int TL_CREQ_CWAY_WIDTH = 2;
  localparam int TL_CREQ_DST_LSB = 2;
  localparam int TL_CREQ_DST_WIDTH = 10;
  localparam int TL_CREQ_SRC_LSB = 12;
  localparam int TL_CREQ_SRC_WIDTH = 10;
  localparam int TL_CREQ_ADDRESS_LSB = 22;
  localparam int TL_CREQ_ADDRESS_WIDTH = 14;
  localparam int TL_CREQ_METADATA_LSB = 36;
  localparam int TL_CREQ_METADATA_WIDTH = 3;
  localparam int TL_CREQ_LEN_LSB = 39;
  localparam int TL_CREQ_LEN_WIDTH = 2;
  localparam int TL_CREQ_POOL_LSB = 41;
  localparam int TL_CREQ_POOL_WIDTH = 1;
  localparam int TL_CREQ_TAG_LSB = 42;
  localparam int TL_CREQ_TAG_WIDTH = 11;
  localparam int TL_CREQ_ASI_LSB = 53;
  localparam int TL_CREQ_ASI_WIDTH = 2;
  localparam int TL_CREQ_VCHAN_LSB = 55;
  localparam int TL_CREQ_VCHAN_WIDTH = 2;
  localparam int TL_CREQ_CMD_LSB = 57;
  localparam int TL_CREQ_CMD_WIDTH = 3;
  localparam int TL_CREQ_FTYPE_LSB = 60;
  localparam int TL_CREQ_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [2:0] cmd; // Command. Codes: compressed_cmd_e.
    logic [1:0] vchan; // Virtual channel.
    logic [1:0] asi; // Address space.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] len; // Beats of 64 bytes, minus 1.
    logic [2:0] metadata; // Metadata bits 2:0.
    logic [13:0] address; // Low part of the byte address; bits 19:6 travel. Byte address from bit 6 up.
    logic [9:0] src; // Source accelerator.
    logic [9:0] dst; // Destination accelerator.
    logic [1:0] cway; // Way of the address cache that holds the high bits of the address.
  } tl_creq_t;

  // ualink.tl_crsp_single: Compressed read response of one beat.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_CRSP_SINGLE_BITS = 32;
  localparam int TL_CRSP_SINGLE_SPARE_LSB = 0;
  localparam int TL_CRSP_SINGLE_SPARE_WIDTH = 1;
  localparam int TL_CRSP_SINGLE_LAST_LSB = 1;
  localparam int TL_CRSP_SINGLE_LAST_WIDTH = 1;
  localparam int TL_CRSP_SINGLE_OFFSET_LSB = 2;
  localparam int TL_CRSP_SINGLE_OFFSET_WIDTH = 2;
  localparam int TL_CRSP_SINGLE_DST_LSB = 4;
  localparam int TL_CRSP_SINGLE_DST_WIDTH = 10;
  localparam int TL_CRSP_SINGLE_POOL_LSB = 14;
  localparam int TL_CRSP_SINGLE_POOL_WIDTH = 1;
  localparam int TL_CRSP_SINGLE_TAG_LSB = 15;
  localparam int TL_CRSP_SINGLE_TAG_WIDTH = 11;
  localparam int TL_CRSP_SINGLE_VCHAN_LSB = 26;
  localparam int TL_CRSP_SINGLE_VCHAN_WIDTH = 2;
  localparam int TL_CRSP_SINGLE_FTYPE_LSB = 28;
  localparam int TL_CRSP_SINGLE_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [1:0] vchan; // Virtual channel.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [9:0] dst; // Destination accelerator.
    logic [1:0] offset; // Beat.
    logic [0:0] last; // Last beat of the read.
    logic [0:0] spare; // Spare, sent as 0.
  } tl_crsp_single_t;

  // ualink.tl_crsp_multi: Compressed write response, or read response of all beats.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_CRSP_MULTI_BITS = 32;
  localparam int TL_CRSP_MULTI_SPARE_LSB = 0;
  localparam int TL_CRSP_MULTI_SPARE_WIDTH = 1;
  localparam int TL_CRSP_MULTI_RDWR_LSB = 1;
  localparam int TL_CRSP_MULTI_RDWR_WIDTH = 1;
  localparam int TL_CRSP_MULTI_LEN_LSB = 2;
  localparam int TL_CRSP_MULTI_LEN_WIDTH = 2;
  localparam int TL_CRSP_MULTI_DST_LSB = 4;
  localparam int TL_CRSP_MULTI_DST_WIDTH = 10;
  localparam int TL_CRSP_MULTI_POOL_LSB = 14;
  localparam int TL_CRSP_MULTI_POOL_WIDTH = 1;
  localparam int TL_CRSP_MULTI_TAG_LSB = 15;
  localparam int TL_CRSP_MULTI_TAG_WIDTH = 11;
  localparam int TL_CRSP_MULTI_VCHAN_LSB = 26;
  localparam int TL_CRSP_MULTI_VCHAN_WIDTH = 2;
  localparam int TL_CRSP_MULTI_FTYPE_LSB = 28;
  localparam int TL_CRSP_MULTI_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [1:0] vchan; // Virtual channel.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [9:0] dst; // Destination accelerator.
    logic [1:0] len; // Beats, minus 1; 0 for writes.
    logic [0:0] rdwr; // What it answers. Codes: rd_wr_e.
    logic [0:0] spare; // Spare, sent as 0.
  } tl_crsp_multi_t;

  // ualink.tl_fc: Returned credits; all zero: NOP.
  // Source: ualink section 10 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int TL_FC_BITS = 32;
  localparam int TL_FC_RSP_DATA_CNT_LSB = 0;
  localparam int TL_FC_RSP_DATA_CNT_WIDTH = 5;
  localparam int TL_FC_RSP_DATA_VC_LSB = 5;
  localparam int TL_FC_RSP_DATA_VC_WIDTH = 2;
  localparam int TL_FC_RSP_DATA_T_LSB = 7;
  localparam int TL_FC_RSP_DATA_T_WIDTH = 1;
  localparam int TL_FC_REQ_DATA_CNT_LSB = 8;
  localparam int TL_FC_REQ_DATA_CNT_WIDTH = 5;
  localparam int TL_FC_REQ_DATA_VC_LSB = 13;
  localparam int TL_FC_REQ_DATA_VC_WIDTH = 2;
  localparam int TL_FC_REQ_DATA_T_LSB = 15;
  localparam int TL_FC_REQ_DATA_T_WIDTH = 1;
  localparam int TL_FC_RSP_CMD_CNT_LSB = 16;
  localparam int TL_FC_RSP_CMD_CNT_WIDTH = 3;
  localparam int TL_FC_RSP_CMD_VC_LSB = 19;
  localparam int TL_FC_RSP_CMD_VC_WIDTH = 2;
  localparam int TL_FC_RSP_CMD_T_LSB = 21;
  localparam int TL_FC_RSP_CMD_T_WIDTH = 1;
  localparam int TL_FC_REQ_CMD_CNT_LSB = 22;
  localparam int TL_FC_REQ_CMD_CNT_WIDTH = 3;
  localparam int TL_FC_REQ_CMD_VC_LSB = 25;
  localparam int TL_FC_REQ_CMD_VC_WIDTH = 2;
  localparam int TL_FC_REQ_CMD_T_LSB = 27;
  localparam int TL_FC_REQ_CMD_T_WIDTH = 1;
  localparam int TL_FC_FTYPE_LSB = 28;
  localparam int TL_FC_FTYPE_WIDTH = 4;
  typedef struct packed {
    logic [3:0] ftype; // Kind of field. Codes: field_type_e.
    logic [0:0] req_cmd_t; // Where they belong. Codes: credit_target_e.
    logic [1:0] req_cmd_vc; // Their virtual channel, if they are not for the pool.
    logic [2:0] req_cmd_cnt; // Request command credits.
    logic [0:0] rsp_cmd_t; // Where they belong. Codes: credit_target_e.
    logic [1:0] rsp_cmd_vc; // Their virtual channel, if they are not for the pool.
    logic [2:0] rsp_cmd_cnt; // Response command credits.
    logic [0:0] req_data_t; // Where they belong. Codes: credit_target_e.
    logic [1:0] req_data_vc; // Their virtual channel, if they are not for the pool.
    logic [4:0] req_data_cnt; // Request data credits.
    logic [0:0] rsp_data_t; // Where they belong. Codes: credit_target_e.
    logic [1:0] rsp_data_vc; // Their virtual channel, if they are not for the pool.
    logic [4:0] rsp_data_cnt; // Response data credits.
  } tl_fc_t;

  // ualink.upli_req: Request channel, originator to completer.
  // Source: ualink section 12 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int UPLI_REQ_BITS = 127;
  localparam int UPLI_REQ_VALID_LSB = 0;
  localparam int UPLI_REQ_VALID_WIDTH = 1;
  localparam int UPLI_REQ_PORT_LSB = 1;
  localparam int UPLI_REQ_PORT_WIDTH = 2;
  localparam int UPLI_REQ_VC_LSB = 3;
  localparam int UPLI_REQ_VC_WIDTH = 2;
  localparam int UPLI_REQ_POOL_LSB = 5;
  localparam int UPLI_REQ_POOL_WIDTH = 1;
  localparam int UPLI_REQ_TAG_LSB = 6;
  localparam int UPLI_REQ_TAG_WIDTH = 11;
  localparam int UPLI_REQ_SRC_LSB = 17;
  localparam int UPLI_REQ_SRC_WIDTH = 10;
  localparam int UPLI_REQ_DST_LSB = 27;
  localparam int UPLI_REQ_DST_WIDTH = 10;
  localparam int UPLI_REQ_ADDRESS_LSB = 37;
  localparam int UPLI_REQ_ADDRESS_WIDTH = 57;
  localparam int UPLI_REQ_CMD_LSB = 94;
  localparam int UPLI_REQ_CMD_WIDTH = 6;
  localparam int UPLI_REQ_LEN_LSB = 100;
  localparam int UPLI_REQ_LEN_WIDTH = 6;
  localparam int UPLI_REQ_ATTR_LSB = 106;
  localparam int UPLI_REQ_ATTR_WIDTH = 8;
  localparam int UPLI_REQ_METADATA_LSB = 114;
  localparam int UPLI_REQ_METADATA_WIDTH = 8;
  localparam int UPLI_REQ_ASI_LSB = 122;
  localparam int UPLI_REQ_ASI_WIDTH = 2;
  localparam int UPLI_REQ_NUMBEATS_LSB = 124;
  localparam int UPLI_REQ_NUMBEATS_WIDTH = 2;
  localparam int UPLI_REQ_PARITY_LSB = 126;
  localparam int UPLI_REQ_PARITY_WIDTH = 1;
  typedef struct packed {
    logic [0:0] parity; // Even parity of the other bits.
    logic [1:0] numbeats; // Data beats, minus 1.
    logic [1:0] asi; // Address space.
    logic [7:0] metadata; // Metadata.
    logic [7:0] attr; // Attributes.
    logic [5:0] len; // DWords, minus 1.
    logic [5:0] cmd; // Command. Codes: req_cmd_e.
    logic [56:0] address; // Byte address.
    logic [9:0] dst; // Destination accelerator.
    logic [9:0] src; // Source accelerator.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] vc; // Virtual channel.
    logic [1:0] port; // Port of the station.
    logic [0:0] valid; // The cycle has a request.
  } upli_req_t;

  // ualink.upli_orig_data: Originator data channel, beside 512 bits of data.
  // Source: ualink section 12 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int UPLI_ORIG_DATA_BITS = 82;
  localparam int UPLI_ORIG_DATA_VALID_LSB = 0;
  localparam int UPLI_ORIG_DATA_VALID_WIDTH = 1;
  localparam int UPLI_ORIG_DATA_PORT_LSB = 1;
  localparam int UPLI_ORIG_DATA_PORT_WIDTH = 2;
  localparam int UPLI_ORIG_DATA_VC_LSB = 3;
  localparam int UPLI_ORIG_DATA_VC_WIDTH = 2;
  localparam int UPLI_ORIG_DATA_POOL_LSB = 5;
  localparam int UPLI_ORIG_DATA_POOL_WIDTH = 1;
  localparam int UPLI_ORIG_DATA_OFFSET_LSB = 6;
  localparam int UPLI_ORIG_DATA_OFFSET_WIDTH = 2;
  localparam int UPLI_ORIG_DATA_LAST_LSB = 8;
  localparam int UPLI_ORIG_DATA_LAST_WIDTH = 1;
  localparam int UPLI_ORIG_DATA_ERROR_LSB = 9;
  localparam int UPLI_ORIG_DATA_ERROR_WIDTH = 1;
  localparam int UPLI_ORIG_DATA_BYTE_EN_LSB = 10;
  localparam int UPLI_ORIG_DATA_BYTE_EN_WIDTH = 64;
  localparam int UPLI_ORIG_DATA_DATA_PARITY_LSB = 74;
  localparam int UPLI_ORIG_DATA_DATA_PARITY_WIDTH = 8;
  typedef struct packed {
    logic [7:0] data_parity; // Even parity, bit i of data bits 64i+63:64i.
    logic [63:0] byte_en; // Bit i enables byte i.
    logic [0:0] error; // The data is known to be wrong.
    logic [0:0] last; // Last beat.
    logic [1:0] offset; // Beat.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] vc; // Virtual channel.
    logic [1:0] port; // Port of the station.
    logic [0:0] valid; // The cycle has a beat.
  } upli_orig_data_t;

  // ualink.upli_rd_rsp: Read response and data channel, completer to originator, beside 512 bits of data.
  // Source: ualink section 12 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int UPLI_RD_RSP_BITS = 55;
  localparam int UPLI_RD_RSP_VALID_LSB = 0;
  localparam int UPLI_RD_RSP_VALID_WIDTH = 1;
  localparam int UPLI_RD_RSP_PORT_LSB = 1;
  localparam int UPLI_RD_RSP_PORT_WIDTH = 2;
  localparam int UPLI_RD_RSP_VC_LSB = 3;
  localparam int UPLI_RD_RSP_VC_WIDTH = 2;
  localparam int UPLI_RD_RSP_POOL_LSB = 5;
  localparam int UPLI_RD_RSP_POOL_WIDTH = 1;
  localparam int UPLI_RD_RSP_TAG_LSB = 6;
  localparam int UPLI_RD_RSP_TAG_WIDTH = 11;
  localparam int UPLI_RD_RSP_SRC_LSB = 17;
  localparam int UPLI_RD_RSP_SRC_WIDTH = 10;
  localparam int UPLI_RD_RSP_DST_LSB = 27;
  localparam int UPLI_RD_RSP_DST_WIDTH = 10;
  localparam int UPLI_RD_RSP_STATUS_LSB = 37;
  localparam int UPLI_RD_RSP_STATUS_WIDTH = 4;
  localparam int UPLI_RD_RSP_NUMBEATS_LSB = 41;
  localparam int UPLI_RD_RSP_NUMBEATS_WIDTH = 2;
  localparam int UPLI_RD_RSP_OFFSET_LSB = 43;
  localparam int UPLI_RD_RSP_OFFSET_WIDTH = 2;
  localparam int UPLI_RD_RSP_LAST_LSB = 45;
  localparam int UPLI_RD_RSP_LAST_WIDTH = 1;
  localparam int UPLI_RD_RSP_ERROR_LSB = 46;
  localparam int UPLI_RD_RSP_ERROR_WIDTH = 1;
  localparam int UPLI_RD_RSP_DATA_PARITY_LSB = 47;
  localparam int UPLI_RD_RSP_DATA_PARITY_WIDTH = 8;
  typedef struct packed {
    logic [7:0] data_parity; // Even parity, bit i of data bits 64i+63:64i.
    logic [0:0] error; // The data is known to be wrong.
    logic [0:0] last; // Last beat.
    logic [1:0] offset; // Beat.
    logic [1:0] numbeats; // Beats, minus 1.
    logic [3:0] status; // Status. Codes: status_e.
    logic [9:0] dst; // Destination accelerator.
    logic [9:0] src; // Source accelerator.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] vc; // Virtual channel.
    logic [1:0] port; // Port of the station.
    logic [0:0] valid; // The cycle has a response.
  } upli_rd_rsp_t;

  // ualink.upli_wr_rsp: Write response channel, completer to originator.
  // Source: ualink section 12 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int UPLI_WR_RSP_BITS = 42;
  localparam int UPLI_WR_RSP_VALID_LSB = 0;
  localparam int UPLI_WR_RSP_VALID_WIDTH = 1;
  localparam int UPLI_WR_RSP_PORT_LSB = 1;
  localparam int UPLI_WR_RSP_PORT_WIDTH = 2;
  localparam int UPLI_WR_RSP_VC_LSB = 3;
  localparam int UPLI_WR_RSP_VC_WIDTH = 2;
  localparam int UPLI_WR_RSP_POOL_LSB = 5;
  localparam int UPLI_WR_RSP_POOL_WIDTH = 1;
  localparam int UPLI_WR_RSP_TAG_LSB = 6;
  localparam int UPLI_WR_RSP_TAG_WIDTH = 11;
  localparam int UPLI_WR_RSP_SRC_LSB = 17;
  localparam int UPLI_WR_RSP_SRC_WIDTH = 10;
  localparam int UPLI_WR_RSP_DST_LSB = 27;
  localparam int UPLI_WR_RSP_DST_WIDTH = 10;
  localparam int UPLI_WR_RSP_STATUS_LSB = 37;
  localparam int UPLI_WR_RSP_STATUS_WIDTH = 4;
  localparam int UPLI_WR_RSP_PARITY_LSB = 41;
  localparam int UPLI_WR_RSP_PARITY_WIDTH = 1;
  typedef struct packed {
    logic [0:0] parity; // Even parity of the other bits.
    logic [3:0] status; // Status. Codes: status_e.
    logic [9:0] dst; // Destination accelerator.
    logic [9:0] src; // Source accelerator.
    logic [10:0] tag; // Names the transaction.
    logic [0:0] pool; // 1: pool credits.
    logic [1:0] vc; // Virtual channel.
    logic [1:0] port; // Port of the station.
    logic [0:0] valid; // The cycle has a response.
  } upli_wr_rsp_t;

  // ualink.upli_credit: Credit return of one port on one channel.
  // Source: ualink section 12 (A). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int UPLI_CREDIT_BITS = 7;
  localparam int UPLI_CREDIT_VALID_LSB = 0;
  localparam int UPLI_CREDIT_VALID_WIDTH = 1;
  localparam int UPLI_CREDIT_POOL_LSB = 1;
  localparam int UPLI_CREDIT_POOL_WIDTH = 1;
  localparam int UPLI_CREDIT_VC_LSB = 2;
  localparam int UPLI_CREDIT_VC_WIDTH = 2;
  localparam int UPLI_CREDIT_NUM_LSB = 4;
  localparam int UPLI_CREDIT_NUM_WIDTH = 2;
  localparam int UPLI_CREDIT_INIT_DONE_LSB = 6;
  localparam int UPLI_CREDIT_INIT_DONE_WIDTH = 1;
  typedef struct packed {
    logic [0:0] init_done; // The initial credits are all there.
    logic [1:0] num; // Credits, minus 1.
    logic [1:0] vc; // Virtual channel.
    logic [0:0] pool; // 1: to the pool.
    logic [0:0] valid; // The cycle returns credits.
  } upli_credit_t;

  // ualink.attr_read: ReqAttr of a read: byte enables.
  // Source: ualink section 12 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int ATTR_READ_BITS = 8;
  localparam int ATTR_READ_FIRST_LSB = 0;
  localparam int ATTR_READ_FIRST_WIDTH = 4;
  localparam int ATTR_READ_LAST_LSB = 4;
  localparam int ATTR_READ_LAST_WIDTH = 4;
  typedef struct packed {
    logic [3:0] last; // Last DWord; ignored where there is one alone.
    logic [3:0] first; // First DWord.
  } attr_read_t;

  // ualink.attr_atomic: ReqAttr of an atomic: operation and size of the operand. Operations are the vendor's own.
  // Source: ualink section 12 (B). Basis: spec. On the wire byte 0 holds bits 7:0.
  localparam int ATTR_ATOMIC_BITS = 8;
  localparam int ATTR_ATOMIC_OP_HIGH_LSB = 0;
  localparam int ATTR_ATOMIC_OP_HIGH_WIDTH = 1;
  localparam int ATTR_ATOMIC_RSVD_LSB = 1;
  localparam int ATTR_ATOMIC_RSVD_WIDTH = 1;
  localparam int ATTR_ATOMIC_SIZE_LSB = 2;
  localparam int ATTR_ATOMIC_SIZE_WIDTH = 2;
  localparam int ATTR_ATOMIC_OP_LOW_LSB = 4;
  localparam int ATTR_ATOMIC_OP_LOW_WIDTH = 4;
  typedef struct packed {
    logic [3:0] op_low; // Bits 3:0 of the operation.
    logic [1:0] size; // Size of the operand. Codes: atomic_size_e.
    logic [0:0] rsvd; // Reserved.
    logic [0:0] op_high; // Bit 4 of the operation.
  } attr_atomic_t;

  // ualink.iv: Initialisation vector of AES-GCM; the cipher is left out. Which end is the counter's is our choice: the last bytes.
  // Source: ualink section 12 (A). Basis: inferred. On the wire the last byte holds bits 7:0.
  localparam int IV_BITS = 96;
  localparam int IV_COUNTER_LSB = 0;
  localparam int IV_COUNTER_WIDTH = 32;
  localparam int IV_ZEROS_LSB = 32;
  localparam int IV_ZEROS_WIDTH = 64;
  typedef struct packed {
    logic [63:0] zeros; // Zeros.
    logic [31:0] counter; // Counts the transactions of a stream.
  } iv_t;

endpackage : scalepool_ualink_pkg
