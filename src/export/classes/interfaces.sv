
  // What breaks an interface itself, and the unit that passes meanwhile, from 0 behind a reset.
  typedef struct {
    longint unsigned unit;
    string place; // a signal
    string found;
    string expected;
  } sp_mistake_t;

  // How the signals of an interface move. This class has valid, ready and data; those of single interfaces override what differs. `seen`
  // has the signals as they are at an edge, `driven` what is driven behind it. The modules of scalepool_interfaces.sv join both to wires.
  class sp_bus;
    sp_has_t has;
    int unsigned beat_bytes;
    sp_pins_t seen;
    sp_pins_t driven;
    int unsigned order[$]; // byte n of the interface is byte order[n] of the beat; empty: the same one
    bit [63:0] user; // goes beside the beats that are sent, where the interface has a signal for it
    sp_mistake_t mistakes[$]; // of whoever is on the other side, oldest first; a link partner and a watcher make events of them
    longint unsigned at_unit; // that passes
    protected int unsigned unit_bytes;

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      beat_bytes = beat_bytes_of;
      has = has_of;
      user = 0;
      at_unit = 0;
      unit_bytes = 0;
    endfunction

    protected function void wrong(string place, string found, string expected);
      sp_mistake_t m;
      m.unit = at_unit;
      m.place = place;
      m.found = found;
      m.expected = expected;
      mistakes.push_back(m);
    endfunction

    // A mistake as one line.
    static function string mistake_text(sp_mistake_t m);
      return $sformatf("unit %0d, %s: found %s, expected %s", m.unit, m.place, m.found, m.expected);
    endfunction

    // Units have so many bytes from now on. Returns the beats of one; 0 if they do not fit, and `why` says why.
    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      unit_bytes = unit_bytes_of;
      if (beat_bytes == 0 || unit_bytes % beat_bytes != 0) begin
        why = $sformatf("found %0d bytes of data, expected %0d or a divisor of it", beat_bytes, unit_bytes);
        return 0;
      end
      return places(why) ? unit_bytes / beat_bytes : 0;
    endfunction

    // Whether `order` has each place of a beat once.
    protected function bit places(output string why);
      bit [639:0] found;
      why = "";
      if (order.size() == 0) return 1;
      found = '0;
      foreach (order[n]) if (order[n] < beat_bytes) found[order[n]] = 1;
      if (order.size() == int'(beat_bytes) && $countones(found) == int'(beat_bytes)) return 1;
      why = $sformatf("order: found %0d places, expected each of 0 to %0d once", order.size(), beat_bytes - 1);
      return 0;
    endfunction

    // The bytes of a beat in the places of the interface.
    protected function sp_unit_t placed(sp_unit_t beat);
      sp_unit_t word;
      word = beat;
      foreach (order[n]) word[8*n +: 8] = beat[8*order[n] +: 8];
      return word;
    endfunction

    // The same for a bit of each byte.
    protected function bit [639:0] placed_bits(bit [639:0] bits);
      bit [639:0] word;
      word = bits;
      foreach (order[n]) word[n] = bits[order[n]];
      return word;
    endfunction

    // The bytes of the beat that is seen.
    virtual function sp_unit_t beat();
      sp_unit_t found;
      found = seen.data;
      foreach (order[n]) found[8*order[n] +: 8] = seen.data[8*n +: 8];
      return found;
    endfunction

    // A source is in reset, or begins.
    virtual function void source_in_reset();
      driven.valid = 0;
    endfunction

    // An edge passes outside of reset, before anything else of a source.
    virtual function void clock_source();
    endfunction

    // Whether a source may drive a new beat behind this edge.
    virtual function bit may_offer();
      return 1;
    endfunction

    // Drives a beat of a unit of `count` beats.
    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      sp_unit_t word;
      word = unit >> (8 * beat_bytes * number);
      for (int unsigned n = beat_bytes; n < 640; n++) word[8*n +: 8] = 0;
      driven.data = placed(word);
    endfunction

    // A beat is offered, or none.
    virtual function void drive_valid(bit valid);
      driven.valid = valid;
    endfunction

    // Whether the beat that is offered is transferred at this edge.
    virtual function bit is_accepted();
      return !has.ready || seen.ready;
    endfunction

    // A sink is in reset, or begins.
    virtual function void sink_in_reset();
      driven.ready = 0;
    endfunction

    // Whether a beat is transferred at this edge. What is wrong with it goes to `mistakes`.
    virtual function bit arrives();
      return seen.valid && (!has.ready || seen.ready);
    endfunction

    // Whoever watches, and drives nothing, is in reset.
    virtual function void monitor_in_reset();
    endfunction

    // A sink has room, or pauses.
    virtual function void drive_ready(bit ready);
      driven.ready = ready;
    endfunction

    // Compares what goes beside the data of a beat that has arrived.
    virtual function void judge(int unsigned number, int unsigned count);
    endfunction

    protected function void judge_last(int unsigned number, int unsigned count);
      if (has.last && seen.last != (number == count - 1))
        wrong("last", $sformatf("%0d", seen.last), $sformatf("%0d in beat %0d of %0d", number == count - 1, number, count));
    endfunction
  endclass

  // AXI-Stream, a packet is a unit. With tkeep its width need not divide a unit: the last beat keeps what is left.
  class sp_axi_stream_bus extends sp_bus;
    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (!has.keep || beat_bytes == 0) return super.begin_units(unit_bytes_of, why);
      unit_bytes = unit_bytes_of;
      return places(why) ? (unit_bytes + beat_bytes - 1) / beat_bytes : 0;
    endfunction

    // tkeep of a beat.
    protected function bit [639:0] kept(int unsigned number, int unsigned count);
      int unsigned bytes;
      bytes = number == count - 1 ? unit_bytes - beat_bytes * (count - 1) : beat_bytes;
      return placed_bits((640'd1 << bytes) - 640'd1);
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      super.offer(unit, number, count);
      driven.keep = kept(number, count);
      driven.last = number == count - 1;
      driven.user = user;
    endfunction

    virtual function void judge(int unsigned number, int unsigned count);
      judge_last(number, count);
      if (has.keep && seen.keep != kept(number, count))
        wrong("keep", $sformatf("%0h", seen.keep), $sformatf("%0h in beat %0d of %0d", kept(number, count), number, count));
    endfunction
  endclass

  // An interface like CXS: a beat that is valid is transferred at every edge, and costs a credit. The receiver grants one in each clock in
  // which crdgnt is high; a beat needs one of an edge before.
  class sp_credited_bus extends sp_bus;
    int unsigned credits = 8; // a sink grants at most so many more than have come back as beats
    protected longint unsigned balance; // credits that were granted and not spent

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
      balance = 0;
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (credits != 0) return super.begin_units(unit_bytes_of, why);
      why = "credits: found 0, expected 1 or more";
      return 0;
    endfunction

    virtual function void source_in_reset();
      super.source_in_reset();
      balance = 0;
    endfunction

    virtual function void clock_source();
      if (seen.grant) balance++;
    endfunction

    virtual function bit may_offer();
      return balance != 0;
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      super.offer(unit, number, count);
      driven.last = number == count - 1;
      balance--;
    endfunction

    virtual function bit is_accepted();
      return 1;
    endfunction

    virtual function void sink_in_reset();
      driven.grant = 0;
      balance = 0;
    endfunction

    virtual function void monitor_in_reset();
      balance = 0;
    endfunction

    virtual function bit arrives();
      bit comes;
      comes = seen.valid;
      if (comes && balance == 0) wrong("valid", "a beat without a credit", "none until crdgnt has been high");
      else if (comes) balance--;
      if (seen.grant) balance++;
      return comes;
    endfunction

    virtual function void drive_ready(bit ready);
      driven.grant = ready && balance < 64'(credits);
    endfunction

    virtual function void judge(int unsigned number, int unsigned count);
      judge_last(number, count);
    endfunction
  endclass

  // An interface like LPIF and FDI: whoever sends asks for the state Active, and may offer data once the other side says it. A sink follows
  // the request behind `bring_up` clocks.
  class sp_state_bus extends sp_bus;
    int unsigned bring_up = 4;
    protected int unsigned clocks;
    protected bit was_outside; // data stand outside of Active, which is told once

    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
      clocks = 0;
      was_outside = 0;
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      if (bring_up != 0) return super.begin_units(unit_bytes_of, why);
      why = "bring_up: found 0, expected 1 clock or more";
      return 0;
    endfunction

    virtual function void monitor_in_reset();
      was_outside = 0;
    endfunction

    virtual function void source_in_reset();
      super.source_in_reset();
      driven.offer = 0;
      driven.state_request = 0;
    endfunction

    virtual function void clock_source();
      driven.state_request = SP_STATE_ACTIVE;
    endfunction

    virtual function bit may_offer();
      return seen.state == SP_STATE_ACTIVE;
    endfunction

    virtual function void drive_valid(bit valid);
      super.drive_valid(valid);
      driven.offer = valid;
    endfunction

    virtual function void sink_in_reset();
      super.sink_in_reset();
      driven.state = 0;
      clocks = 0;
      was_outside = 0;
    endfunction

    virtual function bit arrives();
      bit outside;
      outside = seen.valid && seen.offer && seen.state != SP_STATE_ACTIVE;
      if (outside && !was_outside)
        wrong("state_sts", $sformatf("data in state %0d", seen.state), $sformatf("%0d, Active", SP_STATE_ACTIVE));
      was_outside = outside;
      return seen.valid && seen.offer && seen.ready;
    endfunction

    virtual function void drive_ready(bit ready);
      bit active;
      if (seen.state_request != SP_STATE_ACTIVE) clocks = 0;
      else if (clocks < bring_up) clocks++;
      active = clocks == bring_up;
      driven.state = active ? SP_STATE_ACTIVE : '0;
      super.drive_ready(ready && active);
    endfunction
  endclass

  // 68B flits as the 512 bits of their slots. Where protocol ID or CRC have no signal, they are what a good flit of CXL.cachemem has.
  class sp_slots68_bus extends sp_bus;
    function new(int unsigned beat_bytes_of, sp_has_t has_of);
      super.new(beat_bytes_of, has_of);
    endfunction

    virtual function int unsigned begin_units(int unsigned unit_bytes_of, output string why);
      why = "";
      unit_bytes = unit_bytes_of;
      if (unit_bytes == 68 && order.size() == 0) return 1;
      why = $sformatf("found units of %0d bytes and %0d places, expected 68 and the usual order", unit_bytes, order.size());
      return 0;
    endfunction

    virtual function sp_unit_t beat();
      byte unsigned slots[0:63];
      longint unsigned crcs[0:0];
      sp_unit_t found;
      found = '0;
      found[15:0] = has.pid ? seen.pid : 16'h5555;
      found[527:16] = seen.data[511:0];
      if (has.crc) found[543:528] = seen.crc;
      else begin
        for (int n = 0; n < 64; n++) slots[n] = seen.data[8*n +: 8];
        sp_library::open();
        sp_library::must(sp_crc(SP_CRC_CXL68, slots, 64'd64, 64'd1, crcs), "CRC");
        found[543:528] = crcs[0][15:0];
      end
      return found;
    endfunction

    virtual function void offer(sp_unit_t unit, int unsigned number, int unsigned count);
      driven.data = '0;
      driven.data[511:0] = unit[527:16];
      driven.pid = unit[15:0];
      driven.crc = unit[543:528];
    endfunction
  endclass

  // What those on an interface have in common. Whoever has the clock calls `on_edge` at each edge, behind `bus.seen`.
  virtual class sp_flit_agent;
    sp_bus bus;
    bit in_reset;
    bit pause; // no beat passes
    int unsigned pause_percent = 0; // of the clocks, at random, in which none passes
    protected int unsigned unit_bytes, beats, at_beat;

    function new(sp_bus bus_of);
      bus = bus_of;
      in_reset = 1;
      pause = 0;
      unit_bytes = 0;
      beats = 0;
      at_beat = 0;
    endfunction

    // What happens when an interface cannot carry units of this size, which is a mistake of the bench.
    virtual function void refused(string text);
      $fatal(1, "%s", text);
    endfunction

    // Units have so many bytes from now on. Nothing passes before.
    function void begin_units(int unsigned unit_bytes_of);
      string why;
      unit_bytes = unit_bytes_of;
      beats = bus.begin_units(unit_bytes, why);
      if (beats == 0) refused(why);
    endfunction

    // Beats of a unit.
    function int unsigned beats_of_unit();
      return beats;
    endfunction

    protected function bit paused();
      return pause || (pause_percent != 0 && $urandom_range(99) < pause_percent);
    endfunction

    pure virtual function void on_edge(bit reset);
  endclass

  // Sends units. A pause keeps valid low between two beats; a beat that is offered stays until it is accepted. In reset a unit that has
  // been sent in part is lost.
  class sp_flit_source extends sp_flit_agent;
    sp_unit_t units[$];
    longint unsigned sent;
    protected sp_unit_t unit;
    protected bit is_sending, offered;

    function new(sp_bus bus_of);
      super.new(bus_of);
      sent = 0;
      is_sending = 0;
      offered = 0;
      bus.source_in_reset();
    endfunction

    function void send(sp_unit_t value);
      if (beats == 0) refused("found a unit, expected `begin_units` before it");
      else units.push_back(value);
    endfunction

    // Whether all units have been accepted.
    function bit is_idle();
      return units.size() == 0 && !is_sending;
    endfunction

    virtual function void on_edge(bit reset);
      bit may;
      in_reset = reset;
      if (reset || beats == 0) begin
        is_sending = 0;
        offered = 0;
        bus.source_in_reset();
        return;
      end
      bus.clock_source();
      if (offered) begin
        if (!bus.is_accepted()) return;
        at_beat++;
        if (at_beat == beats) begin
          is_sending = 0;
          sent++;
        end
      end
      may = !paused() && bus.may_offer();
      if (!is_sending && units.size() != 0 && may) begin
        unit = units.pop_front();
        is_sending = 1;
        at_beat = 0;
      end
      offered = is_sending && may;
      if (offered) bus.offer(unit, at_beat, beats);
      bus.drive_valid(offered);
    endfunction
  endclass

  // Watches units and drives nothing: `take` has them, `bus.mistakes` what breaks the interface itself.
  class sp_flit_monitor extends sp_flit_agent;
    bit [63:0] user; // beside the first beat of the unit that was taken last
    protected sp_unit_t units[$];
    protected bit [63:0] users[$];
    protected sp_unit_t unit;
    protected bit [63:0] user_of_unit;

    function new(sp_bus bus_of);
      super.new(bus_of);
      unit = '0;
      user = 0;
    endfunction

    // Takes the oldest unit. Returns 0 if there is none.
    function bit take(output sp_unit_t value);
      value = '0;
      if (units.size() == 0) return 0;
      value = units.pop_front();
      user = users.pop_front();
      return 1;
    endfunction

    // Units that wait.
    function int unsigned count();
      return 32'(units.size());
    endfunction

    // Forgets the units that wait.
    function void clear();
      units.delete();
      users.delete();
    endfunction

    protected virtual function void hold_reset();
      bus.monitor_in_reset();
    endfunction

    virtual function void on_edge(bit reset);
      in_reset = reset;
      if (reset || beats == 0) begin
        at_beat = 0;
        unit = '0;
        bus.at_unit = 0;
        hold_reset();
        return;
      end
      if (!bus.arrives()) return;
      bus.judge(at_beat, beats);
      if (at_beat == 0) user_of_unit = bus.seen.user;
      unit |= bus.beat() << (8 * bus.beat_bytes * at_beat);
      at_beat++;
      if (at_beat == beats) begin
        // What a last beat does not keep is no part of the unit.
        units.push_back(unit & ((5120'd1 << (8 * unit_bytes)) - 5120'd1));
        users.push_back(user_of_unit);
        bus.at_unit++;
        at_beat = 0;
        unit = '0;
      end
    endfunction
  endclass

  // Accepts units: a monitor that drives ready, credits or the state.
  class sp_flit_sink extends sp_flit_monitor;
    function new(sp_bus bus_of);
      super.new(bus_of);
      bus.sink_in_reset();
    endfunction

    protected virtual function void hold_reset();
      bus.sink_in_reset();
    endfunction

    virtual function void on_edge(bit reset);
      super.on_edge(reset);
      if (!reset && beats != 0) bus.drive_ready(!paused());
    endfunction
  endclass

  // The place of each byte of a beat of `bytes` bytes on lanes that stand one behind the other, each with every so many bytes as there are
  // lanes: byte n goes to lane n modulo their number. `lanes` has the lane of each place.
  function automatic void sp_striped(int unsigned bytes, int unsigned lanes[$], ref int unsigned order[$]);
    order.delete();
    foreach (lanes[n])
      for (int unsigned row = 0; row < bytes / 32'(lanes.size()); row++) order.push_back(lanes[n] + 32'(lanes.size()) * row);
  endfunction

  // What breaks the interface of an agent becomes events of a link end.
  function automatic void sp_note_mistakes(sp_link_end link, sp_flit_agent of, sp_port_e at, sp_by_e by);
    sp_event_t e;
    sp_mistake_t m;
    while (of.bus.mistakes.size() != 0) begin
      m = of.bus.mistakes.pop_front();
      e.unit = m.unit;
      e.at_port = at;
      e.by = by;
      e.severity = SP_IS_PROTOCOL;
      e.tag = -1;
      e.rule = "HANDSHAKE";
      e.place = m.place;
      e.found = m.found;
      e.expected = m.expected;
      e.text = "The handshake of the interface is violated";
      link.note(e);
    end
  endfunction

  // An active end of a link on two interfaces of a design: what comes at `rx` arrives, and what the end sends goes to `tx`. Call `step` once in
  // each clock, away from the edge. A reset of an interface begins the link anew.
  class sp_link_partner;
    sp_link_end link;
    sp_flit_monitor rx;
    sp_flit_source tx;
    sp_cxl_agent agents[$]; // hosts, devices and the like on this end; they act behind each flit clock
    protected bit in_reset;

    function new(sp_link_end link_of, sp_flit_sink rx_of, sp_flit_source tx_of);
      link = link_of;
      rx = rx_of;
      tx = tx_of;
      in_reset = 0;
      rx.begin_units(link.unit_bytes());
      tx.begin_units(link.unit_bytes());
    endfunction

    // One clock. Returns whether a flit clock of the end has passed: it waits while the design does not take what it has sent.
    function bit step();
      sp_unit_t unit;
      sp_note_mistakes(link, rx, SP_PORT_RX, SP_PEER_BROKE);
      if (rx.in_reset || tx.in_reset) begin
        // An end that has not begun has nothing to lose.
        if (!in_reset && link.state().flit_clocks != 0) begin
          link.reset();
          foreach (agents[n]) agents[n].reset();
          rx.clear();
          tx.units.delete();
        end
        in_reset = 1;
        return 0;
      end
      in_reset = 0;
      if (tx.units.size() != 0) return 0;
      if (rx.take(unit)) link.drive(unit);
      link.step();
      foreach (agents[n]) agents[n].on_step();
      if (link.sample(unit) == link.unit_bytes()) tx.send(unit);
      return 1;
    endfunction
  endclass

  // A passive end of a link on two interfaces: the design sends at `tx` and receives at `rx`. Call `step` once in each clock, away from the
  // edge. A reset of an interface begins the link anew.
  class sp_link_watcher;
    sp_link_end link;
    sp_flit_monitor rx, tx;
    protected bit in_reset;
    protected longint unsigned clock;
    protected int unsigned flit_clocks; // of the interface with fewer beats
    protected sp_unit_t units[$];
    protected sp_port_e ports[$];
    protected longint unsigned clocks[$];

    function new(sp_link_end link_of, sp_flit_monitor rx_of, sp_flit_monitor tx_of);
      link = link_of;
      rx = rx_of;
      tx = tx_of;
      in_reset = 0;
      clock = 0;
      rx.begin_units(link.unit_bytes());
      tx.begin_units(link.unit_bytes());
      flit_clocks = rx.beats_of_unit() < tx.beats_of_unit() ? rx.beats_of_unit() : tx.beats_of_unit();
    endfunction

    protected function void note(sp_port_e at, sp_unit_t unit);
      units.push_back(unit);
      ports.push_back(at);
      clocks.push_back(clock);
    endfunction

    // The oldest unit of each direction arrives. What is sent and what ends behind it do not change places.
    protected function void show();
      sp_port_e first;
      longint unsigned began;
      if (units.size() != 0) begin
        first = ports.pop_front();
        began = clocks.pop_front();
        link.drive(units.pop_front(), first);
        if (units.size() != 0 && ports[0] != first && (first == SP_PORT_RX || clocks[0] == began)) begin
          link.drive(units.pop_front(), ports.pop_front());
          void'(clocks.pop_front());
        end
      end
      link.step();
    endfunction

    // One clock. Returns whether a flit clock of the end has passed.
    function bit step();
      sp_unit_t unit;
      sp_note_mistakes(link, rx, SP_PORT_RX, SP_PEER_BROKE);
      sp_note_mistakes(link, tx, SP_PORT_TX, SP_END_BROKE);
      if (rx.in_reset || tx.in_reset) begin
        if (!in_reset && link.state().flit_clocks != 0) begin
          link.reset();
          rx.clear();
          tx.clear();
          units.delete();
          ports.delete();
          clocks.delete();
          clock = 0;
        end
        in_reset = 1;
        return 0;
      end
      in_reset = 0;
      if (rx.take(unit)) note(SP_PORT_RX, unit);
      if (tx.take(unit)) note(SP_PORT_TX, unit);
      clock++;
      if (clock % 64'(flit_clocks) != 0) return 0;
      show();
      while (units.size() != 0 && clocks[0] + 64'(2 * flit_clocks) <= clock) show();
      return 1;
    endfunction

    // The run is over. Returns 0 if a request is still owed an answer; each is an event.
    function bit finish();
      while (units.size() != 0) show();
      return link.finish();
    endfunction
  endclass
