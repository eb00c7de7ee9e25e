// Golden sequences and replays of 68-byte flits out of cxl68_retry_tx and into cxl68_retry_rx, then the limits of both.
// +tx=FILE +rx=FILE (steps, 591:528 what to do, 527:0 the flit) +tx_count=N +rx_count=N
//
// Steps of the transmitter: 0 reset, the next number is 23:16; 1 nothing offered; 2 a new flit, bit 4 all data, 7:5 the run
// behind it, 8 it returns acknowledgements; 3 an Ack, 4 a Req is asked for, 23:16 Eseq, 28:24 NUM_RETRY, 33:29
// NUM_PHY_REINIT; 34 viral and 50:35 its logical devices. The flit has to leave in each but 0.
//
// Steps of the receiver: 0 reset, as above; 1 the flit comes, bit 4 damaged, 5 all data; 6 it is accepted, 14:7
// acknowledges that many, 15 is the end of a Req sequence with 23:16 Eseq and 28:24 NUM_RETRY, 29 of an Ack sequence
// that nobody asked for, 30 a Req sequence is due behind it; 2 the Req sequence leaves with 23:16 Eseq, after 28:24 others
// without an answer.
module cxl68_retry_tb;
    localparam int MOST = 2048;
    localparam int TIMEOUT = 12;
    localparam int MAX = 10;
    logic clk = 0, rst_n = 1, training = 0;
    logic [591:0] tx_steps [0:MOST-1];
    logic [591:0] rx_steps [0:MOST-1];
    logic [63:0] step;

    logic valid, all_data, returns, taken, want_req, req_sent, want_ack, ack_begun, sent, viral;
    logic [511:0] slots;
    logic [2:0] run;
    logic [7:0] freed, eseq, ack_eseq, free;
    logic [4:0] num_retry, num_reinit, ack_num_retry;
    logic [15:0] viral_ld;
    logic [527:0] flit, tight_flit, none;
    logic stepping;
    cxl68_retry_tx #(.ENTRIES(128)) tx (
        .clk_i(clk), .rst_ni(rst_n), .training_i(training), .step_i(stepping), .valid_i(valid), .slots_i(slots),
        .all_data_i(all_data), .run_i(run), .returns_i(returns), .taken_o(taken), .freed_i(freed), .req_i(want_req),
        .eseq_i(eseq), .num_retry_i(num_retry), .num_reinit_i(num_reinit), .req_sent_o(req_sent), .ack_i(want_ack),
        .ack_eseq_i(ack_eseq), .ack_num_retry_i(ack_num_retry), .ack_begun_o(ack_begun), .viral_i(viral),
        .viral_ld_i(viral_ld), .sent_o(sent), .flit_o(flit), .free_o(free)
    );

    // The same inputs, the smallest buffer.
    logic tight_taken, tight_req_sent, tight_ack_begun, tight_sent;
    logic [7:0] tight_free;
    cxl68_retry_tx #(.ENTRIES(22)) tight (
        .clk_i(clk), .rst_ni(rst_n), .training_i(training), .step_i(stepping), .valid_i(valid), .slots_i(slots),
        .all_data_i(all_data), .run_i(run), .returns_i(returns), .taken_o(tight_taken), .freed_i(freed), .req_i(want_req),
        .eseq_i(eseq), .num_retry_i(num_retry), .num_reinit_i(num_reinit), .req_sent_o(tight_req_sent), .ack_i(want_ack),
        .ack_eseq_i(ack_eseq), .ack_num_retry_i(ack_num_retry), .ack_begun_o(tight_ack_begun), .viral_i(viral),
        .viral_ld_i(viral_ld), .sent_o(tight_sent), .flit_o(tight_flit), .free_o(tight_free)
    );

    logic rx_valid, bad, rx_all_data, accept, good, leaves, req, rx_req_sent, ack, rx_ack_begun, retrain, failed;
    logic unexpected;
    logic [527:0] rx_flit;
    logic [7:0] wrap, rx_freed, rx_eseq, rx_ack_eseq;
    logic [8:0] returned, num_ack;
    logic [4:0] rx_num_retry, rx_num_reinit, rx_ack_num_retry;
    cxl68_retry_rx #(.MAX_NUM_RETRY(MAX), .MAX_NUM_PHY_REINIT(MAX), .TIMEOUT(TIMEOUT)) rx (
        .clk_i(clk), .rst_ni(rst_n), .training_i(training), .valid_i(rx_valid), .bad_i(bad), .flit_i(rx_flit),
        .all_data_i(rx_all_data), .wrap_i(wrap), .accept_o(accept), .good_o(good), .freed_o(rx_freed),
        .returned_i(returned), .num_ack_o(num_ack), .sent_i(leaves), .req_o(req), .eseq_o(rx_eseq),
        .num_retry_o(rx_num_retry), .num_reinit_o(rx_num_reinit), .req_sent_i(rx_req_sent), .ack_o(ack),
        .ack_eseq_o(rx_ack_eseq), .ack_num_retry_o(rx_ack_num_retry), .ack_begun_i(rx_ack_begun), .retrain_o(retrain),
        .failed_o(failed), .unexpected_o(unexpected)
    );

    // A RETRY flit of our own.
    logic [511:0] made;
    logic [15:0] made_crc;
    cxl68_crc16 checksum (.slots_i(made), .crc_o(made_crc));

    int tx_count, rx_count, accepted, n, reinits;
    logic [511:0] resent [0:31];
    string path;

    task automatic clock;
        #1 clk = 1;
        #1 clk = 0;
        #1;
    endtask

    task automatic reset;
        {valid, all_data, returns, want_req, want_ack, viral, slots, run, freed, eseq, ack_eseq, num_retry} = '0;
        {num_reinit, ack_num_retry, viral_ld, stepping, rx_valid, bad, rx_all_data, leaves, rx_req_sent} = '0;
        {rx_ack_begun, rx_flit, returned, training, accepted, none} = '0;
        wrap = 8'd127;
        rst_n = 0;
        #1 rst_n = 1;
        #1;
    endtask

    // The Req sequence that is due leaves.
    task automatic request;
        #1;
        if (!req) $fatal(1, "no Req is asked for");
        rx_req_sent = 1;
        leaves = 1;
        clock();
        rx_req_sent = 0;
    endtask

    // Flits leave until the answer is late.
    task automatic no_answer;
        for (n = 0; !req && n < TIMEOUT + 2 && !retrain && !failed; n++) clock();
        if (n != TIMEOUT + 1) $fatal(1, "a Req again after %0d flits", n);
    endtask

    // A flit whose CRC does not fit.
    task automatic damage;
        rx_valid = 1;
        rx_flit = 528'h10;
        #1;
        if (accept || good) $fatal(1, "a bad flit is accepted");
        clock();
        rx_valid = 0;
        #1;
    endtask

    task automatic transmit(input int i, input logic [527:0] expected);
        stepping = 1;
        valid = step[3:0] == 4'd2;
        slots = expected[511:0];
        {returns, run, all_data} = step[8:4];
        if (step[3:0] == 4'd3) begin
            want_ack = 1;
            ack_eseq = step[23:16];
            ack_num_retry = step[28:24];
        end
        if (step[3:0] == 4'd4) begin
            want_req = 1;
            {num_reinit, num_retry, eseq} = step[33:16];
        end
        {viral_ld, viral} = step[50:34];
        #1;
        if (flit !== expected) $fatal(1, "step %0d: %h is sent, expected %h", i, flit, expected);
        if (taken !== valid || !sent) $fatal(1, "step %0d: taken %b", i, taken);
        if (ack_begun) begin
            // What is asked for next does not disturb the answer under way.
            clock();
            want_ack = 0;
            ack_eseq = 8'h55;
            ack_num_retry = 5'h15;
        end else if (req_sent) begin
            clock();
            want_req = 0;
        end else clock();
    endtask

    task automatic receive(input int i, input logic [527:0] given);
        rx_valid = 1;
        rx_flit = given;
        rx_flit[200] = given[200] ^ step[4];
        rx_all_data = step[5];
        #1;
        if (accept !== step[6] || rx_freed !== step[14:7] || unexpected !== step[29] || (accept && !good))
            $fatal(1, "step %0d, %h: accepted %b, frees %0d, unexpected %b", i, given, accept, rx_freed, unexpected);
        accepted += int'(accept);
        clock();
        rx_valid = 0;
        #1;
        if (ack !== step[15] || (ack && {rx_ack_num_retry, rx_ack_eseq} !== step[28:16]))
            $fatal(1, "step %0d: Ack asked for %b, Eseq %0d, NUM_RETRY %0d", i, ack, rx_ack_eseq, rx_ack_num_retry);
        if (req !== step[30]) $fatal(1, "step %0d: Req asked for %b", i, req);
        if (num_ack !== 9'(accepted)) $fatal(1, "step %0d: NumAck %0d of %0d", i, num_ack, accepted);
        if (ack) begin
            rx_ack_begun = 1;
            clock();
            rx_ack_begun = 0;
            #1;
            if (ack) $fatal(1, "step %0d: the Ack is asked for again", i);
        end
    endtask

    // RETRY flits come, none of them is to be accepted.
    task automatic retry_flits(input int many, input logic [3:0] sub_type, input logic [63:0] payload);
        made = {384'd0, payload, 24'd0, sub_type, 4'h1, 32'h1};
        #1;
        for (int i = 0; i < many; i++) begin
            rx_valid = 1;
            rx_flit = {made_crc, made};
            #1;
            if (accept) $fatal(1, "a RETRY flit is accepted");
            clock();
        end
        rx_valid = 0;
    endtask

    // Whether a good flit is accepted now.
    task automatic in_normal(input logic expected);
        rx_all_data = 0;
        rx_valid = 1;
        rx_flit = '0;
        #1;
        if (accept !== expected) $fatal(1, "a good flit: accepted %b", accept);
        clock();
        rx_valid = 0;
        #1;
    endtask

    initial begin
        if (!$value$plusargs("tx_count=%d", tx_count)) $fatal(1, "+tx_count is missing");
        if (!$value$plusargs("rx_count=%d", rx_count)) $fatal(1, "+rx_count is missing");
        if ($value$plusargs("tx=%s", path) && tx_count > 0) $readmemh(path, tx_steps, 0, tx_count - 1);
        if ($value$plusargs("rx=%s", path) && rx_count > 0) $readmemh(path, rx_steps, 0, rx_count - 1);
        for (int i = 0; i < tx_count; i++) begin
            step = tx_steps[i][591:528];
            if (step[3:0] == 0) begin
                reset();
                for (int j = 0; j < step[23:16]; j++) begin
                    {stepping, valid} = 2'b11;
                    freed = 8'd1;
                    clock();
                end
                {valid, freed} = '0;
            end else transmit(i, tx_steps[i][527:0]);
        end
        for (int i = 0; i < rx_count; i++) begin
            step = rx_steps[i][591:528];
            if (step[3:0] == 0) begin
                reset();
                for (int j = 0; j < step[23:16]; j++) begin
                    rx_valid = 1;
                    returned = 9'd1;
                    clock();
                end
                {rx_valid, returned} = '0;
            end else if (step[3:0] == 2) begin
                for (int j = 0; j < step[28:24]; j++) begin
                    request();
                    no_answer();
                end
                if (rx_eseq !== step[23:16] || rx_num_retry !== step[28:24])
                    $fatal(1, "step %0d: Eseq %0d, NUM_RETRY %0d", i, rx_eseq, rx_num_retry);
                request();
                leaves = 0;
            end else receive(i, rx_steps[i][527:0]);
        end

        // Nobody answers: after MAX requests a training, after MAX trainings the end.
        reset();
        damage();
        for (reinits = 0; reinits <= MAX; reinits++) begin
            if (rx_num_reinit !== 5'(reinits)) $fatal(1, "NUM_PHY_REINIT %0d, expected %0d", rx_num_reinit, reinits);
            for (int j = 0; j < MAX; j++) begin
                if (rx_num_retry !== 5'(j)) $fatal(1, "NUM_RETRY %0d, expected %0d", rx_num_retry, j);
                request();
                if (j < MAX - 1) no_answer();
            end
            for (n = 0; !retrain && !failed && n < 2 * TIMEOUT; n++) clock();
            if (failed !== (reinits == MAX) || retrain !== (reinits < MAX))
                $fatal(1, "%0d trainings: retrain %b, failed %b", reinits, retrain, failed);
            if (retrain) begin
                training = 1;
                clock();
                clock();
                if (retrain || req) $fatal(1, "in training: retrain %b, Req %b", retrain, req);
                training = 0;
                clock();
                #1;
            end
        end
        // A training that nobody asked for makes the next flit number ESeq again.
        reset();
        training = 1;
        clock();
        training = 0;
        clock();
        if (!req || rx_eseq !== 0 || rx_num_reinit !== 0) $fatal(1, "after a training: Req %b", req);

        // The answer to another request, and to none; then the right one, in which the flit that was lost began a run.
        reset();
        damage();
        request();
        no_answer();
        request();
        leaves = 0;
        rx_all_data = 1;
        retry_flits(5, 4'd3, '0);
        retry_flits(1, 4'd2, 64'h00);
        in_normal(0);
        rx_all_data = 1;
        retry_flits(4, 4'd3, '0);
        retry_flits(1, 4'd2, 64'h08);
        in_normal(0);
        rx_all_data = 1;
        retry_flits(5, 4'd3, '0);
        retry_flits(1, 4'd2, 64'h08);
        in_normal(1);
        // A Req is heard while our own one waits for its answer.
        damage();
        request();
        retry_flits(5, 4'd3, '0);
        retry_flits(1, 4'd1, 64'h3_0007);
        if (!ack || rx_ack_eseq !== 8'd7 || rx_ack_num_retry !== 5'd3) $fatal(1, "a Req outside NORMAL: %b", ack);
        training = 1;
        clock();
        if (ack) $fatal(1, "an Ack is still asked for in a training");

        // NumFreeBuf: three before a flit, two where it returns acknowledgements, one never; a run fits before it begins.
        reset();
        {stepping, valid} = 2'b11;
        for (n = 0; tight_free > 6; n++) begin
            slots = {16{$urandom}};
            resent[n] = slots;
            clock();
        end
        run = 3'd4;
        #1;
        if (tight_taken) $fatal(1, "a run begins with %0d entries", tight_free);
        run = 3'd3;
        #1;
        if (!tight_taken) $fatal(1, "a run of 3 does not begin with %0d entries", tight_free);
        run = 0;
        while (tight_taken && n < 32) begin
            slots = {16{$urandom}};
            resent[n] = slots;
            n++;
            clock();
        end
        if (tight_free !== 8'd2) $fatal(1, "no new flit with %0d entries", tight_free);
        returns = 1;
        #1;
        if (!tight_taken) $fatal(1, "no acknowledgement with %0d entries", tight_free);
        resent[n] = slots;
        n++;
        clock();
        if (tight_taken || tight_free !== 8'd1) $fatal(1, "a new flit with %0d entries", tight_free);
        // Both sequences are asked for: Ack first, then Req, then what was lost, and new flits when some are free.
        {want_ack, want_req} = 2'b11;
        ack_eseq = 8'd15;
        eseq = 8'd3;
        for (int i = 0; i < 12; i++) begin
            #1;
            if (tight_ack_begun !== (i == 0) || tight_req_sent !== (i == 11) || tight_taken)
                $fatal(1, "flit %0d of two sequences: Ack begins %b, Req ends %b", i, tight_ack_begun, tight_req_sent);
            if (tight_flit[39:32] !== (i == 5 ? 8'h21 : i == 11 ? 8'h11 : 8'h31))
                $fatal(1, "flit %0d of two sequences is %h", i, tight_flit);
            clock();
            if (i == 0) want_ack = 0;
        end
        want_req = 0;
        freed = 8'd8;
        for (int i = 15; i < n; i++) begin
            #1;
            if (tight_flit[511:0] !== resent[i] || tight_taken) $fatal(1, "flit %0d again is %h", i, tight_flit);
            clock();
            freed = 0;
        end
        #1;
        if (!tight_taken || tight_free !== 8'd9) $fatal(1, "behind a replay: taken %b, %0d entries", tight_taken, tight_free);
        // Over the end of the buffer, and back before it.
        {valid, returns} = 2'b11;
        freed = 8'd1;
        for (n = 0; n < 12; n++) begin
            slots = {16{$urandom}};
            resent[n] = slots;
            clock();
        end
        {valid, freed} = '0;
        want_ack = 1;
        ack_eseq = 8'd21;
        clock();
        want_ack = 0;
        for (int i = 0; i < 5; i++) clock();
        for (int i = 0; i < 12; i++) begin
            #1;
            if (tight_flit[511:0] !== resent[i]) $fatal(1, "number %0d again is %h", (21 + i) % 22, tight_flit);
            clock();
        end
        // A training drops an Ack that is due, or breaks it off; what was asked for is resent all the same.
        for (int begun = 0; begun < 2; begun++) begin
            want_ack = 1;
            for (int i = 0; i < 3 * begun; i++) begin
                clock();
                want_ack = 0;
            end
            training = 1;
            clock();
            {training, want_ack} = '0;
            for (int i = 0; i < 12; i++) begin
                #1;
                if (tight_flit[511:0] !== resent[i]) $fatal(1, "number %0d behind a training is %h", (21 + i) % 22, tight_flit);
                clock();
            end
        end

        // A run goes on before a sequence begins, when it is new and when it is resent.
        reset();
        stepping = 1;
        for (int again = 0; again < 2; again++) begin
            for (int i = 0; i < 3; i++) begin
                valid = !again;
                all_data = i > 0;
                run = 3'(2 - i);
                slots = 512'h20 + 512'(i);
                want_ack = i > 0;
                ack_eseq = 0;
                #1;
                if (tight_flit[511:0] !== 512'h20 + 512'(i)) $fatal(1, "flit %0d of a run is %h", i, tight_flit);
                clock();
            end
            {valid, all_data} = '0;
            #1;
            if (!tight_ack_begun) $fatal(1, "no Ack behind a run");
            clock();
            want_ack = 0;
            for (int i = 0; i < 5; i++) clock();
        end
        $display("PASS %0d", tx_count + rx_count);
        $finish;
    end
endmodule
