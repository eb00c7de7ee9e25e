// A register in the path of 68-byte flits with valid and ready, for the example of README.md: a flit that has come in
// stands at the output until it is taken.
module flit_register (
    input  logic         clk,
    input  logic         rst,
    input  logic         s_flit_valid,
    output logic         s_flit_ready,
    input  logic [543:0] s_flit_data,
    output logic         m_flit_valid,
    input  logic         m_flit_ready,
    output logic [543:0] m_flit_data
);
    assign s_flit_ready = !m_flit_valid || m_flit_ready;

    always_ff @(posedge clk or posedge rst) begin
        if (rst) begin
            m_flit_valid <= 1'b0;
            m_flit_data <= '0;
        end else if (s_flit_ready) begin
            m_flit_valid <= s_flit_valid;
            m_flit_data <= s_flit_data;
        end
    end
endmodule
