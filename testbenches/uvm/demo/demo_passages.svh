// Callbacks that say what becomes of a unit or a message: it passes, is changed, is lost, comes twice, or changes places with the next one.

// Does so to each 23rd unit, payload among them, or to one read answer of the memory.
class demo_passages extends scalepool_driver_callback;
  string at; // `leaving`, `arriving` or `queueing`
  scalepool_passage_e passage;
  bit changes;
  int unsigned seen;
  int unsigned done;

  function new(string name = "demo_passages");
    super.new(name);
  endfunction

  virtual function void leaving(scalepool_driver driver, ref sp_unit_t value, ref scalepool_passage_e passage);
    if (at == "leaving") touch(value, passage);
  endfunction

  virtual function void arriving(scalepool_driver driver, ref sp_unit_t value, ref scalepool_passage_e passage);
    if (at == "arriving") touch(value, passage);
  endfunction

  // The link is up by then.
  protected function void touch(ref sp_unit_t value, ref scalepool_passage_e passage);
    seen++;
    if (seen < 150 || seen % 23 != 0) return;
    done++;
    passage = this.passage;
    if (changes) value[100] ^= 1'b1;
  endfunction

  virtual function void queueing(scalepool_driver driver, ref sp_message message, ref scalepool_passage_e passage);
    if (at != "queueing" || done != 0 || !message.is_layout("s2m_drs")) return;
    seen++;
    // The first answers bring what was there before the first writes.
    if (seen < 40) return;
    done++;
    passage = this.passage;
    if (changes) message.data[7] ^= 1'b1;
  endfunction
endclass

// +at=leaving or arriving: units of 256B flits, in which a link repairs all of that, and its figures show what it did; the Prior bit alone
// shows that it happened, which is waived.
// +at=queueing: an answer of the memory. Two that change places are none the worse; one that is changed, lost or doubled fails the test.
// +passage=keep, change, drop, double or swap.
class demo_passage_test extends demo_pair_test;
  `uvm_component_utils(demo_passage_test)
  demo_passages passages;
  string word;

  function new(string name, uvm_component parent);
    super.new(name, parent);
    passages = new();
  endfunction

  virtual function void adjust(scalepool_config cfg);
    cfg.drain_flits = 100;
    // The Prior bit of a flit tells of the one before it, which is another one now.
    if (passages.at != "queueing" && word inside {"drop", "double", "swap"})
      cfg.waive("CXL256-HDR-02", '1, "flits are lost, doubled and swapped on purpose");
  endfunction

  virtual function void build_phase(uvm_phase phase);
    if (!$value$plusargs("at=%s", passages.at) || !$value$plusargs("passage=%s", word)) `uvm_fatal("PASSAGE", "found no +at or no +passage")
    case (word)
      "drop": passages.passage = SCALEPOOL_DROP;
      "double": passages.passage = SCALEPOOL_DOUBLE;
      "swap": passages.passage = SCALEPOOL_SWAP;
      default: passages.passage = SCALEPOOL_KEEP;
    endcase
    passages.changes = word == "change";
    super.build_phase(phase);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    uvm_callbacks#(scalepool_driver, scalepool_driver_callback)::add(device.driver, passages);
  endfunction

  virtual task run_phase(uvm_phase phase);
    scalepool_mem_sequence sequence_of;
    phase.raise_objection(this);
    reset();
    sequence_of = scalepool_mem_sequence::type_id::create("requests");
    sequence_of.count = 300;
    fork
      sequence_of.start(host.sequencer);
    join_none
    repeat (3000) @(posedge bus.clk);
    phase.drop_objection(this);
  endtask

  virtual function string missing();
    longint unsigned repeated, twice, repaired;
    scalepool_link_end receiver, sender;
    if (passages.done == 0) return "found nothing that the callback has seen, expected some";
    if (passages.at == "queueing") return "";
    if (scoreboard.reads < 50) return $sformatf("found %0d reads, expected more", scoreboard.reads);
    receiver = passages.at == "leaving" ? host.driver.link : device.driver.link;
    sender = passages.at == "leaving" ? device.driver.link : host.driver.link;
    repeated = sender.health("replayed_flits");
    twice = receiver.health("duplicate_flits");
    repaired = receiver.health("fec_repaired_flits");
    `uvm_info("PASSAGE", $sformatf("%s: %0d units; %0d replayed, %0d duplicates, %0d repaired", word, passages.done, repeated, twice, repaired),
              UVM_LOW)
    if ((repeated != 0) != (word inside {"drop", "swap"})) return $sformatf("%s: found %0d replayed flits", word, repeated);
    if ((repaired != 0) != (word == "change")) return $sformatf("%s: found %0d repaired flits", word, repaired);
    if (word == "double" && twice == 0 || word == "keep" && twice != 0) return $sformatf("%s: found %0d duplicates", word, twice);
    return "";
  endfunction
endclass
