// Decision traces of four requesters against the arbiters. +trace=FILE (bits 3:0 requests, 7:4 grant one-hot, bit 8: the
// grant is used) +kind=round_robin|matrix|weighted +count=N. Behind the trace: 2000 cycles of random requests, in which
// whoever is granted asks, someone is granted when someone asks, and nobody waits longer than the kind allows.
module arbiter_tb;
    localparam int N = 4;
    logic clk = 0, rst_n = 1, used = 0;
    logic [N-1:0] request = 0, grant, unserved;
    logic [N-1:0] grant_round_robin, grant_matrix, grant_weighted;
    logic [8:0] trace [0:255];
    int waited [0:N-1];
    int count, kind, most;
    string path, word;

    arb_round_robin #(.N(N)) round_robin (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant_round_robin)
    );
    arb_matrix #(.N(N)) matrix (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant_matrix)
    );
    // Weights 5, 1, 1, 2, as the trace has them.
    arb_weighted #(.N(N), .WEIGHT_BITS(8), .WEIGHTS(32'h02_01_01_05)) weighted (
        .clk_i(clk), .rst_ni(rst_n), .request_i(request), .used_i(used), .grant_o(grant_weighted)
    );

    assign grant = kind == 0 ? grant_round_robin : kind == 1 ? grant_matrix : grant_weighted;

    task automatic slot(input logic [N-1:0] asking, input logic use_it);
        request = asking;
        used = use_it;
        #1;
        if ((grant & ~request) !== 0 || (grant === 0) !== (request === 0) || (grant & (grant - 1'b1)) !== 0)
            $fatal(1, "requests %b, granted %b", request, grant);
    endtask

    task automatic edge_of_clock;
        clk = 1;
        #1;
        clk = 0;
        #1;
    endtask

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if (!$value$plusargs("kind=%s", word)) $fatal(1, "+kind is missing");
        kind = word == "round_robin" ? 0 : word == "matrix" ? 1 : 2;
        // Grants to others before one that keeps asking is served; a weight of 1 among 9 for four: 4 * 9 / 1.
        most = kind == 2 ? 36 : N - 1;
        if ($value$plusargs("trace=%s", path)) $readmemh(path, trace, 0, count - 1);
        #1 rst_n = 0;
        #1 rst_n = 1;
        #1;
        for (int i = 0; i < count; i++) begin
            slot(trace[i][3:0], trace[i][8]);
            if (grant !== trace[i][7:4]) $fatal(1, "slot %0d: requests %b, granted %b, trace %b", i, request, grant, trace[i][7:4]);
            edge_of_clock();
        end
        for (int i = 0; i < N; i++) waited[i] = 0;
        unserved = 0;
        for (int i = 0; i < 2000; i++) begin
            // One that has asked keeps asking until it is served.
            slot(4'($urandom) & 4'($urandom) | unserved, ($urandom & 3) != 0);
            for (int j = 0; j < N; j++) begin
                if (used && request[j]) waited[j] = grant[j] ? 0 : waited[j] + 1;
                if (waited[j] > most) $fatal(1, "requester %0d waits for %0d grants to others", j, waited[j]);
            end
            unserved = request & ~(grant & {N{used}});
            edge_of_clock();
        end
        $display("PASS %0d", count);
        $finish;
    end
endmodule
