// The message side of the RTL host, and the reset that tests drive.
interface demo_host_if (
    input logic clk
);
    logic          rst_n;
    logic [4:0]    valid;
    logic [4:0]    credit;
    logic [4:0]    taken;
    logic [86:0]   m2s_req;
    logic [86:0]   m2s_rwd;
    logic [511:0]  rwd_line;
    logic          rwd_partial;
    logic [63:0]   rwd_enables;
    logic          accept;
    logic [3:0]    chunk;
    logic [59:0]   class_of;
    logic [1739:0] message;
    logic [511:0]  slots;
    logic          failed;
endinterface
