
    // One clock of units of the port `@OWN@`.
    byte unsigned @SIGNALS@_bytes [0:@BYTES@-1];
    task automatic @SIGNALS@_clock;
        longint unsigned at, length;
        int answer;
        if (@SIGNALS@_tx_valid === 1) begin
            for (int b = 0; b < @BYTES@; b++) @SIGNALS@_bytes[b] = @SIGNALS@_tx_unit[8*b +: 8];
            must(sp_sim_drive(around, "@OWN@", @SIGNALS@_bytes, @BYTES@), "@OWN@");
            units_sent++;
        end
        answer = sp_sim_sample(around, "@OWN@", SP_RX, at, @SIGNALS@_bytes, length);
        must(answer, "@OWN@");
        @SIGNALS@_rx_valid = answer == SP_OK;
        if (answer == SP_OK) begin
            for (int b = 0; b < @BYTES@; b++) @SIGNALS@_rx_unit[8*b +: 8] = @SIGNALS@_bytes[b];
            units_taken++;
        end
`ifdef STUB
        if (answer == SP_OK) must(sp_sim_drive(in_its_place, "@PEER@", @SIGNALS@_bytes, @BYTES@), "@PEER@");
        answer = sp_sim_sample(in_its_place, "@PEER@", SP_RX, at, @SIGNALS@_bytes, length);
        must(answer, "@PEER@");
        dut.model_@SIGNALS@_tx_valid = answer == SP_OK;
        if (answer == SP_OK)
            for (int b = 0; b < @BYTES@; b++) dut.model_@SIGNALS@_tx_unit[8*b +: 8] = @SIGNALS@_bytes[b];
`endif
    endtask
