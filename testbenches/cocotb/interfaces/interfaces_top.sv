// One loop for each interface that a core may have: what comes in goes out again, behind a register or a queue of four beats. For the tests of
// the buses of the Python package. The handshakes are those of the page on cocotb; what is only like a public interface says so there.
module interfaces_top #(
    parameter int CXS_BITS = 544, // of a beat
    parameter int FDI_BITS = 544
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    // AXI-Stream of 32 bytes, a skid buffer of one beat.
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [255:0] s_axis_tdata,
    input  logic [31:0]  s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [7:0]   s_axis_tuser,
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [255:0] m_axis_tdata,
    output logic [31:0]  m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic [7:0]   m_axis_tuser,
    // Credits, like CXS: 4 of them, a queue of 4 beats.
    input  logic         s_cxs_valid,
    input  logic [CXS_BITS-1:0] s_cxs_data,
    input  logic         s_cxs_last,
    output logic         s_cxs_crdgnt,
    output logic         m_cxs_valid,
    output logic [CXS_BITS-1:0] m_cxs_data,
    output logic         m_cxs_last,
    input  logic         m_cxs_crdgnt,
    // States, like LPIF and FDI: both sides follow what they are asked for.
    input  logic         s_fdi_irdy,
    input  logic         s_fdi_valid,
    input  logic [FDI_BITS-1:0] s_fdi_data,
    output logic         s_fdi_trdy,
    input  logic [3:0]   s_fdi_state_req,
    output logic [3:0]   s_fdi_state_sts,
    output logic         m_fdi_irdy,
    output logic         m_fdi_valid,
    output logic [FDI_BITS-1:0] m_fdi_data,
    input  logic         m_fdi_trdy,
    output logic [3:0]   m_fdi_state_req,
    input  logic [3:0]   m_fdi_state_sts,
    // 68B flits as slots, with the CRC beside them on the way in and the protocol ID on the way out.
    input  logic         s_f68_valid,
    output logic         s_f68_ready,
    input  logic [511:0] s_f68_data,
    input  logic [15:0]  s_f68_crc,
    output logic         m_f68_valid,
    input  logic         m_f68_ready,
    output logic [511:0] m_f68_data,
    output logic [15:0]  m_f68_pid
);
    // ---- AXI-Stream: a beat waits here until the sink takes it
    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) m_axis_tvalid <= 0;
        else if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata <= s_axis_tdata;
            m_axis_tkeep <= s_axis_tkeep;
            m_axis_tlast <= s_axis_tlast;
            m_axis_tuser <= s_axis_tuser;
        end
    end

    // ---- credits: every granted beat has a place in the queue
    logic [CXS_BITS:0] queue [4];
    logic [2:0]   fill, granted;
    logic [4:0]   to_send; // more than any sink here grants
    logic [1:0]   first, last;
    wire pops = fill != 0 && to_send != 0;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            {fill, granted, to_send, first, last} <= '0;
            s_cxs_crdgnt <= 0;
            m_cxs_valid <= 0;
        end else begin
            s_cxs_crdgnt <= fill + granted < 4;
            granted <= granted + 3'(fill + granted < 4) - 3'(s_cxs_valid);
            fill <= fill + 3'(s_cxs_valid) - 3'(pops);
            to_send <= to_send + 5'(m_cxs_crdgnt) - 5'(pops);
            if (s_cxs_valid) begin
                queue[last] <= {s_cxs_last, s_cxs_data};
                last <= last + 2'd1;
            end
            m_cxs_valid <= pops;
            if (pops) begin
                {m_cxs_last, m_cxs_data} <= queue[first];
                first <= first + 2'd1;
            end
        end
    end

    // ---- states: the side of the sender is Active once the other side is
    assign s_fdi_trdy = s_fdi_state_sts == 4'd1 && (!m_fdi_valid || m_fdi_trdy);
    assign m_fdi_irdy = m_fdi_valid;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
            s_fdi_state_sts <= 0;
            m_fdi_state_req <= 0;
            m_fdi_valid <= 0;
        end else begin
            m_fdi_state_req <= s_fdi_state_req;
            s_fdi_state_sts <= m_fdi_state_sts;
            if (!m_fdi_valid || m_fdi_trdy) begin
                m_fdi_valid <= s_fdi_trdy && s_fdi_irdy && s_fdi_valid;
                m_fdi_data <= s_fdi_data;
            end
        end
    end

    // ---- 68B: only flits with a good CRC go on, as a core does that checks it
    assign s_f68_ready = !m_f68_valid || m_f68_ready;
    assign m_f68_pid = 16'h5555;
    wire [15:0] check;
    cxl68_crc16 crc_of_slots (.slots_i(s_f68_data), .crc_o(check));
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) m_f68_valid <= 0;
        else if (s_f68_ready) begin
            m_f68_valid <= s_f68_valid && s_f68_crc == check;
            m_f68_data <= s_f68_data;
        end
    end
endmodule
