// The four loops of interfaces_top, each between a source and a sink of scalepool_interfaces, with monitors on both sides of it.
module interface_loop (
    input wire clk,
    input wire rst_n
);
    localparam int AXI_BYTES = 32, BEAT_BYTES = 17;
    wire s_axis_tvalid, s_axis_tready, s_axis_tlast, m_axis_tvalid, m_axis_tready, m_axis_tlast;
    wire [8*AXI_BYTES-1:0] s_axis_tdata, m_axis_tdata;
    wire [AXI_BYTES-1:0] s_axis_tkeep, m_axis_tkeep;
    wire [7:0] s_axis_tuser, m_axis_tuser;
    wire s_cxs_valid, s_cxs_last, s_cxs_crdgnt, m_cxs_valid, m_cxs_last, m_cxs_crdgnt;
    wire [8*BEAT_BYTES-1:0] s_cxs_data, m_cxs_data, s_fdi_data, m_fdi_data;
    wire s_fdi_irdy, s_fdi_valid, s_fdi_trdy, m_fdi_irdy, m_fdi_valid, m_fdi_trdy;
    wire [3:0] s_fdi_state_req, s_fdi_state_sts, m_fdi_state_req, m_fdi_state_sts;
    wire s_f68_valid, s_f68_ready, m_f68_valid, m_f68_ready;
    wire [511:0] s_f68_data, m_f68_data;
    wire [15:0] s_f68_crc, m_f68_pid;

    interfaces_top #(.CXS_BITS(8 * BEAT_BYTES), .FDI_BITS(8 * BEAT_BYTES)) dut (.clk_i(clk), .rst_ni(rst_n), .*);

    scalepool_axi_stream_source #(.BYTES(AXI_BYTES), .USER_BITS(8)) axi_source (
        .clk, .reset(rst_n), .tvalid(s_axis_tvalid), .tready(s_axis_tready), .tdata(s_axis_tdata), .tkeep(s_axis_tkeep),
        .tlast(s_axis_tlast), .tuser(s_axis_tuser));
    scalepool_axi_stream_monitor #(.BYTES(AXI_BYTES), .USER_BITS(8)) axi_at_input (
        .clk, .reset(rst_n), .tvalid(s_axis_tvalid), .tready(s_axis_tready), .tdata(s_axis_tdata), .tkeep(s_axis_tkeep),
        .tlast(s_axis_tlast), .tuser(s_axis_tuser));
    scalepool_axi_stream_sink #(.BYTES(AXI_BYTES), .USER_BITS(8)) axi_sink (
        .clk, .reset(rst_n), .tvalid(m_axis_tvalid), .tready(m_axis_tready), .tdata(m_axis_tdata), .tkeep(m_axis_tkeep),
        .tlast(m_axis_tlast), .tuser(m_axis_tuser));
    scalepool_axi_stream_monitor #(.BYTES(AXI_BYTES), .USER_BITS(8)) axi_at_output (
        .clk, .reset(rst_n), .tvalid(m_axis_tvalid), .tready(m_axis_tready), .tdata(m_axis_tdata), .tkeep(m_axis_tkeep),
        .tlast(m_axis_tlast), .tuser(m_axis_tuser));

    scalepool_credited_source #(.BYTES(BEAT_BYTES)) cxs_source (
        .clk, .reset(rst_n), .valid(s_cxs_valid), .data(s_cxs_data), .last(s_cxs_last), .crdgnt(s_cxs_crdgnt));
    scalepool_credited_monitor #(.BYTES(BEAT_BYTES)) cxs_at_input (
        .clk, .reset(rst_n), .valid(s_cxs_valid), .data(s_cxs_data), .last(s_cxs_last), .crdgnt(s_cxs_crdgnt));
    scalepool_credited_sink #(.BYTES(BEAT_BYTES)) cxs_sink (
        .clk, .reset(rst_n), .valid(m_cxs_valid), .data(m_cxs_data), .last(m_cxs_last), .crdgnt(m_cxs_crdgnt));
    scalepool_credited_monitor #(.BYTES(BEAT_BYTES)) cxs_at_output (
        .clk, .reset(rst_n), .valid(m_cxs_valid), .data(m_cxs_data), .last(m_cxs_last), .crdgnt(m_cxs_crdgnt));

    scalepool_state_source #(.BYTES(BEAT_BYTES)) fdi_source (
        .clk, .reset(rst_n), .irdy(s_fdi_irdy), .valid(s_fdi_valid), .data(s_fdi_data), .trdy(s_fdi_trdy),
        .state_req(s_fdi_state_req), .state_sts(s_fdi_state_sts));
    scalepool_state_monitor #(.BYTES(BEAT_BYTES)) fdi_at_input (
        .clk, .reset(rst_n), .irdy(s_fdi_irdy), .valid(s_fdi_valid), .data(s_fdi_data), .trdy(s_fdi_trdy),
        .state_req(s_fdi_state_req), .state_sts(s_fdi_state_sts));
    scalepool_state_sink #(.BYTES(BEAT_BYTES)) fdi_sink (
        .clk, .reset(rst_n), .irdy(m_fdi_irdy), .valid(m_fdi_valid), .data(m_fdi_data), .trdy(m_fdi_trdy),
        .state_req(m_fdi_state_req), .state_sts(m_fdi_state_sts));
    scalepool_state_monitor #(.BYTES(BEAT_BYTES)) fdi_at_output (
        .clk, .reset(rst_n), .irdy(m_fdi_irdy), .valid(m_fdi_valid), .data(m_fdi_data), .trdy(m_fdi_trdy),
        .state_req(m_fdi_state_req), .state_sts(m_fdi_state_sts));

    /* verilator lint_off PINCONNECTEMPTY */
    scalepool_slots68_source #(.HAS_PID(0)) f68_source (
        .clk, .reset(rst_n), .valid(s_f68_valid), .ready(s_f68_ready), .data(s_f68_data), .pid(), .crc(s_f68_crc));
    scalepool_slots68_monitor #(.HAS_PID(0)) f68_at_input (
        .clk, .reset(rst_n), .valid(s_f68_valid), .ready(s_f68_ready), .data(s_f68_data), .pid(), .crc(s_f68_crc));
    scalepool_slots68_sink #(.HAS_CRC(0)) f68_sink (
        .clk, .reset(rst_n), .valid(m_f68_valid), .ready(m_f68_ready), .data(m_f68_data), .pid(m_f68_pid), .crc());
    scalepool_slots68_monitor #(.HAS_CRC(0)) f68_at_output (
        .clk, .reset(rst_n), .valid(m_f68_valid), .ready(m_f68_ready), .data(m_f68_data), .pid(m_f68_pid), .crc());
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
