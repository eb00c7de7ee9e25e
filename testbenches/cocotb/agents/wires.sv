// Two flit interfaces that are wires, one each way: whoever stands at one end meets whoever stands at the other. For the tests
// of the Python classes.
module wires #(
    parameter int WIDTH = 544
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             host_tx_valid,
    output logic             host_tx_ready,
    input  logic [WIDTH-1:0] host_tx_data,
    output logic             device_rx_valid,
    input  logic             device_rx_ready,
    output logic [WIDTH-1:0] device_rx_data,
    input  logic             device_tx_valid,
    output logic             device_tx_ready,
    input  logic [WIDTH-1:0] device_tx_data,
    output logic             host_rx_valid,
    input  logic             host_rx_ready,
    output logic [WIDTH-1:0] host_rx_data
);
    assign device_rx_valid = host_tx_valid;
    assign device_rx_data = host_tx_data;
    assign host_tx_ready = device_rx_ready;
    assign host_rx_valid = device_tx_valid;
    assign host_rx_data = device_tx_data;
    assign device_tx_ready = host_rx_ready;
endmodule
