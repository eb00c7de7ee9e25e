// Made by `scalepool export sv` from the table of interfaces; do not edit.
//
// Interfaces that cores have, as modules of a bench. Each has an object `agent` of scalepool_pkg: a source sends the units that it is given,
// a sink accepts them, a monitor watches. What is like a public interface has its handshake and no more.

// AXI-Stream: a packet is a unit, a beat is transferred where tvalid and tready are 1.
module scalepool_axi_stream_source #(
    parameter int BYTES = 64, // of a beat
    parameter int USER_BITS = 1, // 1 to 64
    parameter bit HAS_TREADY = 1, // 0: the design has no tready
    parameter bit HAS_TKEEP = 1, // 0: the design has no tkeep
    parameter bit HAS_TLAST = 1, // 0: the design has no tlast
    parameter bit HAS_TUSER = 1, // 0: the design has no tuser
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    output logic tvalid,
    input wire tready,
    output logic [8*BYTES-1:0] tdata,
    output logic [BYTES-1:0] tkeep,
    output logic tlast,
    output logic [USER_BITS-1:0] tuser
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_TREADY;
    has.data = 1'b1;
    has.keep = HAS_TKEEP;
    has.last = HAS_TLAST;
    has.user = HAS_TUSER;
  endfunction

  sp_axi_stream_bus bus = new(BYTES, has());
  sp_flit_source agent = new(bus);

  function automatic void act();
    agent.bus.seen.ready = tready;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    tvalid <= agent.bus.driven.valid;
    tdata <= agent.bus.driven.data[8*BYTES-1:0];
    tkeep <= agent.bus.driven.keep[BYTES-1:0];
    tlast <= agent.bus.driven.last;
    tuser <= agent.bus.driven.user[USER_BITS-1:0];
  end

  initial begin
    tvalid = '0;
    tdata = '0;
    tkeep = '0;
    tlast = '0;
    tuser = '0;
  end
endmodule

// AXI-Stream: a packet is a unit, a beat is transferred where tvalid and tready are 1.
module scalepool_axi_stream_sink #(
    parameter int BYTES = 64, // of a beat
    parameter int USER_BITS = 1, // 1 to 64
    parameter bit HAS_TREADY = 1, // 0: the design has no tready
    parameter bit HAS_TKEEP = 1, // 0: the design has no tkeep
    parameter bit HAS_TLAST = 1, // 0: the design has no tlast
    parameter bit HAS_TUSER = 1, // 0: the design has no tuser
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire tvalid,
    output logic tready,
    input wire [8*BYTES-1:0] tdata,
    input wire [BYTES-1:0] tkeep,
    input wire tlast,
    input wire [USER_BITS-1:0] tuser
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_TREADY;
    has.data = 1'b1;
    has.keep = HAS_TKEEP;
    has.last = HAS_TLAST;
    has.user = HAS_TUSER;
  endfunction

  sp_axi_stream_bus bus = new(BYTES, has());
  sp_flit_sink agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = tvalid;
    agent.bus.seen.ready = tready;
    if (tvalid) agent.bus.seen.data = 5120'(tdata);
    agent.bus.seen.keep = 640'(tkeep);
    agent.bus.seen.last = tlast;
    agent.bus.seen.user = 64'(tuser);
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    tready <= agent.bus.driven.ready;
  end

  initial begin
    tready = '0;
  end
endmodule

// AXI-Stream: a packet is a unit, a beat is transferred where tvalid and tready are 1.
module scalepool_axi_stream_monitor #(
    parameter int BYTES = 64, // of a beat
    parameter int USER_BITS = 1, // 1 to 64
    parameter bit HAS_TREADY = 1, // 0: the design has no tready
    parameter bit HAS_TKEEP = 1, // 0: the design has no tkeep
    parameter bit HAS_TLAST = 1, // 0: the design has no tlast
    parameter bit HAS_TUSER = 1, // 0: the design has no tuser
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire tvalid,
    input wire tready,
    input wire [8*BYTES-1:0] tdata,
    input wire [BYTES-1:0] tkeep,
    input wire tlast,
    input wire [USER_BITS-1:0] tuser
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_TREADY;
    has.data = 1'b1;
    has.keep = HAS_TKEEP;
    has.last = HAS_TLAST;
    has.user = HAS_TUSER;
  endfunction

  sp_axi_stream_bus bus = new(BYTES, has());
  sp_flit_monitor agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = tvalid;
    agent.bus.seen.ready = tready;
    if (tvalid) agent.bus.seen.data = 5120'(tdata);
    agent.bus.seen.keep = 640'(tkeep);
    agent.bus.seen.last = tlast;
    agent.bus.seen.user = 64'(tuser);
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
  end
endmodule

// like CXS: a beat is transferred wherever valid is 1, and costs a credit.
module scalepool_credited_source #(
    parameter int BYTES = 64, // of a beat
    parameter bit HAS_LAST = 1, // 0: the design has no last
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    output logic valid,
    output logic [8*BYTES-1:0] data,
    output logic last,
    input wire crdgnt
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.last = HAS_LAST;
    has.grant = 1'b1;
  endfunction

  sp_credited_bus bus = new(BYTES, has());
  sp_flit_source agent = new(bus);

  function automatic void act();
    agent.bus.seen.grant = crdgnt;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    valid <= agent.bus.driven.valid;
    data <= agent.bus.driven.data[8*BYTES-1:0];
    last <= agent.bus.driven.last;
  end

  initial begin
    valid = '0;
    data = '0;
    last = '0;
  end
endmodule

// like CXS: a beat is transferred wherever valid is 1, and costs a credit.
module scalepool_credited_sink #(
    parameter int BYTES = 64, // of a beat
    parameter bit HAS_LAST = 1, // 0: the design has no last
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire valid,
    input wire [8*BYTES-1:0] data,
    input wire last,
    output logic crdgnt
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.last = HAS_LAST;
    has.grant = 1'b1;
  endfunction

  sp_credited_bus bus = new(BYTES, has());
  sp_flit_sink agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = valid;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.last = last;
    agent.bus.seen.grant = crdgnt;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    crdgnt <= agent.bus.driven.grant;
  end

  initial begin
    crdgnt = '0;
  end
endmodule

// like CXS: a beat is transferred wherever valid is 1, and costs a credit.
module scalepool_credited_monitor #(
    parameter int BYTES = 64, // of a beat
    parameter bit HAS_LAST = 1, // 0: the design has no last
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire valid,
    input wire [8*BYTES-1:0] data,
    input wire last,
    input wire crdgnt
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.last = HAS_LAST;
    has.grant = 1'b1;
  endfunction

  sp_credited_bus bus = new(BYTES, has());
  sp_flit_monitor agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = valid;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.last = last;
    agent.bus.seen.grant = crdgnt;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
  end
endmodule

// like LPIF and FDI: a beat is transferred where irdy, valid and trdy are 1, in the state Active alone.
module scalepool_state_source #(
    parameter int BYTES = 64, // of a beat
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    output logic irdy,
    output logic valid,
    output logic [8*BYTES-1:0] data,
    input wire trdy,
    output logic [3:0] state_req,
    input wire [3:0] state_sts
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.offer = 1'b1;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.ready = 1'b1;
    has.state_request = 1'b1;
    has.state = 1'b1;
  endfunction

  sp_state_bus bus = new(BYTES, has());
  sp_flit_source agent = new(bus);

  function automatic void act();
    agent.bus.seen.ready = trdy;
    agent.bus.seen.state = state_sts;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    irdy <= agent.bus.driven.offer;
    valid <= agent.bus.driven.valid;
    data <= agent.bus.driven.data[8*BYTES-1:0];
    state_req <= agent.bus.driven.state_request;
  end

  initial begin
    irdy = '0;
    valid = '0;
    data = '0;
    state_req = '0;
  end
endmodule

// like LPIF and FDI: a beat is transferred where irdy, valid and trdy are 1, in the state Active alone.
module scalepool_state_sink #(
    parameter int BYTES = 64, // of a beat
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire irdy,
    input wire valid,
    input wire [8*BYTES-1:0] data,
    output logic trdy,
    input wire [3:0] state_req,
    output logic [3:0] state_sts
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.offer = 1'b1;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.ready = 1'b1;
    has.state_request = 1'b1;
    has.state = 1'b1;
  endfunction

  sp_state_bus bus = new(BYTES, has());
  sp_flit_sink agent = new(bus);

  function automatic void act();
    agent.bus.seen.offer = irdy;
    agent.bus.seen.valid = valid;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.ready = trdy;
    agent.bus.seen.state_request = state_req;
    agent.bus.seen.state = state_sts;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    trdy <= agent.bus.driven.ready;
    state_sts <= agent.bus.driven.state;
  end

  initial begin
    trdy = '0;
    state_sts = '0;
  end
endmodule

// like LPIF and FDI: a beat is transferred where irdy, valid and trdy are 1, in the state Active alone.
module scalepool_state_monitor #(
    parameter int BYTES = 64, // of a beat
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire irdy,
    input wire valid,
    input wire [8*BYTES-1:0] data,
    input wire trdy,
    input wire [3:0] state_req,
    input wire [3:0] state_sts
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.offer = 1'b1;
    has.valid = 1'b1;
    has.data = 1'b1;
    has.ready = 1'b1;
    has.state_request = 1'b1;
    has.state = 1'b1;
  endfunction

  sp_state_bus bus = new(BYTES, has());
  sp_flit_monitor agent = new(bus);

  function automatic void act();
    agent.bus.seen.offer = irdy;
    agent.bus.seen.valid = valid;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.ready = trdy;
    agent.bus.seen.state_request = state_req;
    agent.bus.seen.state = state_sts;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
  end
endmodule

// 68B flits as the 512 bits of their slots, with protocol ID and CRC beside them or without.
module scalepool_slots68_source #(
    parameter bit HAS_READY = 1, // 0: the design has no ready
    parameter bit HAS_PID = 1, // 0: the design has no pid
    parameter bit HAS_CRC = 1, // 0: the design has no crc
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    output logic valid,
    input wire ready,
    output logic [511:0] data,
    output logic [15:0] pid,
    output logic [15:0] crc
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_READY;
    has.data = 1'b1;
    has.pid = HAS_PID;
    has.crc = HAS_CRC;
  endfunction

  sp_slots68_bus bus = new(68, has());
  sp_flit_source agent = new(bus);

  function automatic void act();
    agent.bus.seen.ready = ready;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    valid <= agent.bus.driven.valid;
    data <= agent.bus.driven.data[511:0];
    pid <= agent.bus.driven.pid;
    crc <= agent.bus.driven.crc;
  end

  initial begin
    valid = '0;
    data = '0;
    pid = '0;
    crc = '0;
  end
endmodule

// 68B flits as the 512 bits of their slots, with protocol ID and CRC beside them or without.
module scalepool_slots68_sink #(
    parameter bit HAS_READY = 1, // 0: the design has no ready
    parameter bit HAS_PID = 1, // 0: the design has no pid
    parameter bit HAS_CRC = 1, // 0: the design has no crc
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire valid,
    output logic ready,
    input wire [511:0] data,
    input wire [15:0] pid,
    input wire [15:0] crc
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_READY;
    has.data = 1'b1;
    has.pid = HAS_PID;
    has.crc = HAS_CRC;
  endfunction

  sp_slots68_bus bus = new(68, has());
  sp_flit_sink agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = valid;
    agent.bus.seen.ready = ready;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.pid = pid;
    agent.bus.seen.crc = crc;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
    ready <= agent.bus.driven.ready;
  end

  initial begin
    ready = '0;
  end
endmodule

// 68B flits as the 512 bits of their slots, with protocol ID and CRC beside them or without.
module scalepool_slots68_monitor #(
    parameter bit HAS_READY = 1, // 0: the design has no ready
    parameter bit HAS_PID = 1, // 0: the design has no pid
    parameter bit HAS_CRC = 1, // 0: the design has no crc
    parameter bit RESET_ACTIVE = 0 // level at which reset is active
) (
    input wire clk,
    input wire reset,
    input wire valid,
    input wire ready,
    input wire [511:0] data,
    input wire [15:0] pid,
    input wire [15:0] crc
);
  import scalepool_pkg::*;

  function automatic sp_has_t has();
    has = '0;
    has.valid = 1'b1;
    has.ready = HAS_READY;
    has.data = 1'b1;
    has.pid = HAS_PID;
    has.crc = HAS_CRC;
  endfunction

  sp_slots68_bus bus = new(68, has());
  sp_flit_monitor agent = new(bus);

  function automatic void act();
    agent.bus.seen.valid = valid;
    agent.bus.seen.ready = ready;
    if (valid) agent.bus.seen.data = 5120'(data);
    agent.bus.seen.pid = pid;
    agent.bus.seen.crc = crc;
    agent.on_edge(reset === RESET_ACTIVE);
  endfunction

  always @(posedge clk) begin
    act();
  end
endmodule
