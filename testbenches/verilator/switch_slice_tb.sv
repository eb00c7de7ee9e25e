// Slices of a switch. +trace=FILE +count=N: cycles of the model's crossbar with one output, against one slice, all of which the
// crossbar accepts. A line of the trace: bits 1:0 input granted, 3:2 its class, 4 whether there is a grant, 20:5 its word, 23:21
// egress credits that come back, then 20 bits for each input: whether it pushes, the class, the word of 16 bits, and one spare bit.
// Behind it 450 cycles of three slices as a switch of four inputs: random messages, credits and pauses. Everything that goes in comes
// out once at its output, in order; nothing leaves without credit; credits of the inputs come back once; nobody is passed over for
// long; an offer stands until it is accepted; a push too many and a credit too many are errors.
module switch_slice_tb;
    localparam int I = 4, C = 3, O = 3, W = 16, D = 4, E = 3, BEATS = 5;
    logic clk = 0, rst_n = 1;

    logic [I-1:0] push [0:O-1], offer [0:O-1];
    logic [I*C-1:0] push_class [0:O-1], returned [0:O-1];
    logic [I*W-1:0] push_data [0:O-1];
    logic [C-1:0] credit [0:O-1], cls [0:O-1];
    logic [W-1:0] data [0:O-1];
    logic [O-1:0] accept, error;
    for (genvar o = 0; o < O; o++) begin : g_slice
        switch_port_slice #(.INPUTS(I), .CLASSES(C), .WIDTH(W), .DEPTH(D), .CREDITS(E), .DATA_BEATS(BEATS)) slice (
            .clk_i(clk), .rst_ni(rst_n), .push_i(push[o]), .push_class_i(push_class[o]), .push_data_i(push_data[o]),
            .returned_o(returned[o]), .offer_o(offer[o]), .accept_i(accept[o]), .class_o(cls[o]), .data_o(data[o]),
            .credit_i(credit[o]), .error_o(error[o])
        );
    end

    logic [103:0] trace [0:1023];
    int count;
    string path;
    // What is in the queues, by output, input and class, and egress credits that are out.
    logic [W-1:0] held [0:O*I*C*D-1];
    int begins [0:O*I*C-1], holds [0:O*I*C-1];
    int out [0:O*C-1];
    int waited [0:O*I*C-1];
    int busy [0:I-1];
    int sent, left;

    task automatic quiet;
        for (int o = 0; o < O; o++) begin
            push[o] = 0;
            push_class[o] = 0;
            push_data[o] = 0;
            credit[o] = 0;
        end
    endtask

    task automatic edge_of_clock;
        #1 clk = 1;
        #1 clk = 0;
    endtask

    task automatic start;
        quiet();
        accept = '1;
        #1 rst_n = 0;
        #1 rst_n = 1;
    endtask

    task automatic follow(input int n);
        logic [103:0] line = trace[n];
        quiet();
        credit[0] = line[23:21];
        for (int i = 0; i < I; i++) begin
            push[0][i] = line[24+20*i];
            push_class[0][C*i +: C] = C'(1) << line[25+20*i +: 2];
            push_data[0][W*i +: W] = line[27+20*i +: W];
        end
        #1;
        if ((offer[0] != 0) !== line[4]) $fatal(1, "cycle %0d: offer %b, the model has %b", n, offer[0], line[4]);
        if (line[4] && (offer[0] !== I'(1) << line[1:0] || cls[0] !== C'(1) << line[3:2] || data[0] !== line[20:5]))
            $fatal(1, "cycle %0d: offer %b class %b data %h, the model has input %0d class %0d data %h",
                   n, offer[0], cls[0], data[0], line[1:0], line[3:2], line[20:5]);
        edge_of_clock();
    endtask

    // A cycle of the switch; `loads`: new messages come.
    task automatic random_cycle(input logic loads);
        logic [I-1:0] taken = 0;
        int first = $urandom_range(O - 1);
        quiet();
        accept = 0;
        for (int o = 0; o < O; o++)
            for (int c = 0; c < C; c++)
                if (out[o*C+c] > 0 && ($urandom & 3) == 0) begin
                    credit[o][c] = 1;
                    out[o*C+c]--;
                end
        #1;
        // An input takes part in one transfer at a time.
        for (int k = 0; k < O; k++) begin
            automatic int o = (first + k) % O;
            for (int i = 0; i < I; i++)
                if (offer[o][i] && !taken[i] && busy[i] == 0 && ($urandom & 7) != 0) begin
                    accept[o] = 1;
                    taken[i] = 1;
                end
        end
        #1;
        for (int i = 0; i < I; i++) if (busy[i] > 0) busy[i]--;
        for (int o = 0; o < O; o++) begin
            if ((offer[o] & (offer[o] - 1'b1)) !== 0 || (cls[o] & (cls[o] - 1'b1)) !== 0) $fatal(1, "two offers: %b %b", offer[o], cls[o]);
            for (int i = 0; i < I; i++) for (int c = 0; c < C; c++) begin
                automatic int q = (o * I + i) * C + c;
                automatic logic moves = accept[o] && offer[o][i] && cls[o][c];
                if (returned[o][C*i+c] !== moves) $fatal(1, "credit of input %0d class %0d: %b", i, c, returned[o][C*i+c]);
                if (moves) begin
                    if (holds[q] == 0) $fatal(1, "output %0d, input %0d, class %0d: a message that is not there", o, i, c);
                    if (data[o] !== held[q*D+begins[q]])
                        $fatal(1, "output %0d: %h, expected %h", o, data[o], held[q*D+begins[q]]);
                    begins[q] = (begins[q] + 1) % D;
                    holds[q]--;
                    // A credit of this cycle is counted from the next one on.
                    out[o*C+c]++;
                    if (out[o*C+c] + 32'(credit[o][c]) > E) $fatal(1, "output %0d class %0d: no credit", o, c);
                    if (c == C - 1) busy[i] = BEATS - 1;
                    waited[q] = 0;
                    left++;
                end else if (accept[o] && holds[q] != 0 && loads) begin
                    waited[q]++;
                    // Every input is asked in turn, and so is every class, as far as there is credit.
                    if (waited[q] > 12 * I * C) $fatal(1, "output %0d, input %0d, class %0d waits for %0d others", o, i, c, waited[q]);
                end
            end
        end
        for (int i = 0; i < I; i++) if (loads) begin
            automatic int o = $urandom_range(O - 1);
            automatic int c = $urandom_range(C - 1);
            automatic int q = (o * I + i) * C + c;
            if (holds[q] < D) begin
                push[o][i] = 1;
                push_class[o][C*i +: C] = C'(1) << c;
                push_data[o][W*i +: W] = W'(sent);
                held[q*D+(begins[q]+holds[q])%D] = W'(sent);
                holds[q]++;
                sent++;
            end
        end
        edge_of_clock();
        if (error !== 0) $fatal(1, "an error without a reason: %b", error);
    endtask

    initial begin
        if (!$value$plusargs("count=%d", count)) $fatal(1, "+count is missing");
        if ($value$plusargs("trace=%s", path)) $readmemh(path, trace, 0, count - 1);
        start();
        for (int n = 0; n < count; n++) follow(n);
        if (error !== 0) $fatal(1, "an error in the trace");

        start();
        for (int q = 0; q < O*I*C; q++) begin
            waited[q] = 0;
            begins[q] = 0;
            holds[q] = 0;
        end
        for (int n = 0; n < 450; n++) random_cycle(n < 200);
        if (sent != left || sent < 200) $fatal(1, "%0d messages went in, %0d came out", sent, left);

        // An offer stands until it is accepted.
        start();
        accept = 0;
        for (int c = 0; c < C; c++) begin
            push[0] = '1;
            push_class[0] = {I{C'(1) << c}};
            edge_of_clock();
            quiet();
        end
        for (int n = 0; n < 4; n++) begin
            #1;
            if (offer[0] !== 1 || cls[0] !== 1) $fatal(1, "offer %b class %b after %0d cycles without accept", offer[0], cls[0], n);
            edge_of_clock();
        end

        // One push too many is dropped, the others are kept; then one credit too many.
        start();
        accept = 0;
        for (int n = 0; n <= D; n++) begin
            push[0] = 1;
            push_class[0] = 1;
            push_data[0] = (I*W)'(n);
            edge_of_clock();
            if (error[0] !== (n == D)) $fatal(1, "push %0d: error %b", n, error[0]);
        end
        quiet();
        accept = 1;
        for (int n = 0; n < D; n++) begin
            credit[0] = n == 0 ? 3'b000 : 3'b001;
            #1;
            if (offer[0] !== 1 || data[0] !== W'(n)) $fatal(1, "word %0d: %h", n, data[0]);
            edge_of_clock();
        end
        quiet();
        #1;
        if (offer[0] !== 0) $fatal(1, "the word that was dropped");
        start();
        credit[0] = 3'b010;
        edge_of_clock();
        if (error[0] !== 1) $fatal(1, "a credit too many");
        $display("PASS %0d", count);
        $finish;
    end
endmodule
