// Random requests to the arbiters of seven, each against the model's. One grant in four is not used; at times all start
// anew. +count=N grants of each
module arbiter_dpi_tb;
    import scalepool_dpi_pkg::*;
    `include "dpi_random.svh"

    localparam int N = 7;
    localparam int KINDS = 3;
    localparam logic [8*N-1:0] WEIGHTS = {8'd1, 8'd255, 8'd1, 8'd17, 8'd2, 8'd1, 8'd5};
    localparam int KIND [0:KINDS-1] = '{SP_ARBITER_ROUND_ROBIN, SP_ARBITER_MATRIX, SP_ARBITER_WEIGHTED};

    logic clk = 0, rst_n = 1, used = 0;
    logic [N-1:0] request = '0;
    logic [N-1:0] grant [0:KINDS-1];
    longint unsigned model [0:KINDS-1];
    longint unsigned granted;
    int unsigned weights [0:N-1];
    int count, density;

    arb_round_robin #(.N(N)) round_robin (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant[0])
    );
    arb_matrix #(.N(N)) matrix (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant[1])
    );
    arb_weighted #(.N(N), .WEIGHT_BITS(8), .WEIGHTS(WEIGHTS)) weighted (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant[2])
    );

    task automatic accept(input int status);
        string text;
        if (status == SP_OK) return;
        void'(sp_last_error(text));
        $fatal(1, "status %0d: %s", status, text);
    endtask

    task automatic start_anew;
        used = 0;
        rst_n = 0;
        #1 rst_n = 1;
        for (int k = 0; k < KINDS; k++) begin
            if (model[k] != 0) accept(sp_arbiter_destroy(model[k]));
            accept(sp_arbiter_new(KIND[k], N, weights, KIND[k] == SP_ARBITER_WEIGHTED ? N : 0, model[k]));
        end
    endtask

    initial begin
        if (sp_open(SP_ABI_VERSION) != SP_OK) $fatal(1, "the library is another version than the package");
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        for (int i = 0; i < N; i++) weights[i] = 32'(WEIGHTS[8*i +: 8]);
        for (int k = 0; k < KINDS; k++) model[k] = 0;
        #1 start_anew();
        for (int i = 0; i < count; i++) begin
            if (draw_up_to(999) == 0) start_anew();
            // Some slots in a row in which many ask, or few.
            if (i % 16 == 0) density = draw_up_to(3);
            request = N'(draw() >> 8);
            if (density == 0) request &= N'(draw() >> 8);
            if (density == 3) request |= N'(draw() >> 8);
            used = draw_up_to(3) != 0;
            #1;
            for (int k = 0; k < KINDS; k++) begin
                accept(sp_arbiter_grant(model[k], 64'(request), 32'(used), granted));
                if (grant[k] !== N'(granted))
                    $fatal(1, "slot %0d, arbiter %0d: requests %b, granted %b, model %b", i, KIND[k], request, grant[k], N'(granted));
            end
            clk = 1;
            #1 clk = 0;
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
