// One flit stream on everything that simulators dump in their own way: a packed struct, an unpacked array, an enum, names with
// a backslash, generated scopes, a module twice. Its dumps are samples for `scalepool inspect`; how they were made:
//
//   $ verilator --binary --timing -Wno-fatal --trace --top-module structures structures.sv             (+wave=verilator.vcd)
//   $ verilator --binary --timing -Wno-fatal --trace-fst --trace-structs --top-module structures structures.sv
//   $ iverilog -g2012 -o structures structures.sv; vvp structures +wave=icarus.vcd; vvp structures -fst +wave=icarus.fst
`timescale 1ns / 1ps

module port (
    input logic clk,
    input logic valid,
    input logic [135:0] data
);
  // A register behind the wires of the port, so that each instance has a time of its own.
  logic valid_q = 0;
  logic [135:0] data_q = 0;
  always @(posedge clk) begin
    valid_q <= valid;
    data_q  <= data;
  end
endmodule

module structures;
  typedef enum logic [1:0] {IDLE = 0, FIRST = 1, REST = 2} state_e;
  typedef struct packed {
    logic         valid;
    state_e       state;
    logic [135:0] data;
  } beat_s;

  logic clk = 0;
  logic rst_n = 0;
  beat_s beat = 0;
  // Word 1 has the stream, word 0 stays 0.
  logic [135:0] words[0:1];
  logic [135:0] \bus.data[0] = 0;
  logic \bus.valid = 0;
  state_e state = IDLE;
  logic [543:0] flits[0:3];

  always #1 clk = ~clk;

  genvar n;
  generate
    for (n = 0; n < 2; n = n + 1) begin : lane
      // Lane 1 has the stream.
      port u_port (.clk(clk), .valid(beat.valid && n == 1), .data(beat.data));
    end
  endgenerate

  string wave;
  integer flit, part;
  initial begin
    if (!$value$plusargs("wave=%s", wave)) wave = "structures.vcd";
    $dumpfile(wave);
    $dumpvars(0, structures);
`ifdef __ICARUS__
    // Icarus dumps words of an array that are asked for.
    $dumpvars(0, words[0], words[1]);
`endif
    $readmemh("structures.hex", flits);
    words[0] = 0;
    words[1] = 0;
    repeat (3) @(posedge clk);
    #0.5 rst_n = 1;
    for (flit = 0; flit < 4; flit = flit + 1) begin
      for (part = 0; part < 4; part = part + 1) begin
        @(posedge clk);
        #0.5;
        if (part == 0) state = FIRST; else state = REST;
        beat.valid = 1;
        beat.state = state;
        beat.data = flits[flit][136*part+:136];
        words[1] = beat.data;
        \bus.data[0] = beat.data;
        \bus.valid = 1;
      end
      @(posedge clk);
      #0.5;
      state = IDLE;
      beat.valid = 0;
      beat.state = IDLE;
      \bus.valid = 0;
    end
    repeat (3) @(posedge clk);
    $finish;
  end
endmodule
