// A TLM initiator, a host, RTL, a device and a TLM memory: `rtl` prints PASS or FAIL.
//
// The RTL is a register of flits in each direction (testbenches/cocotb/example/flit_register.sv), as Verilator's `--sc` writes it.
// Behind each register a gate closes in random clocks, so that the flit in it has to wait. Nothing may get lost or damaged: the
// link would repair that, so damaged flits count as errors, too.

#include "Vflit_register.h"
#include "bench.h"

namespace {

using Wires = scalepool::FlitWires<scalepool::CXL68_FLIT_BITS>;

// Lets a flit pass from `from` to `to` in three of four clocks, at random.
struct Gate : sc_module {
    sc_in<bool> clk{"clk"};
    Wires& from;
    Wires& to;
    sc_signal<bool> is_open{"is_open"};
    std::mt19937 random{3};

    SC_HAS_PROCESS(Gate);
    Gate(sc_module_name name, Wires& from, Wires& to) : sc_module(name), from(from), to(to) {
        SC_METHOD(draw);
        sensitive << clk.pos();
        SC_METHOD(pass);
        sensitive << is_open << from.valid << from.flit << to.ready;
    }
    void draw() { is_open.write(random() % 4 != 0); }
    void pass() {
        to.valid.write(from.valid.read() && is_open.read());
        to.flit.write(from.flit.read());
        from.ready.write(to.ready.read() && is_open.read());
    }
};

// A register and the gate behind it, from one end of the link to the other.
struct Stage : sc_module {
    Wires in, between, out;
    Vflit_register rtl{"rtl"};
    Gate gate{"gate", between, out};

    Stage(sc_module_name name, sc_clock& clk, sc_signal<bool>& rst) : sc_module(name) {
        gate.clk(clk);
        rtl.clk(clk);
        rtl.rst(rst);
        rtl.s_flit_valid(in.valid);
        rtl.s_flit_ready(in.ready);
        rtl.s_flit_data(in.flit);
        rtl.m_flit_valid(between.valid);
        rtl.m_flit_ready(between.ready);
        rtl.m_flit_data(between.flit);
    }
};

}  // namespace

int sc_main(int, char**) {
    sc_clock clk("clk", 1, SC_NS);
    sc_signal<bool> rst("rst");
    Stage down("down", clk, rst), up("up", clk, rst);
    scalepool::CxlMemTargetOptions options;
    // A link without errors answers in 0.1 us.
    options.answer_time = sc_time(5, SC_US);
    scalepool::CxlMemTarget<scalepool::CXL68_FLIT_BITS> host("host", "cxl-68b", options);
    scalepool::CxlMemInitiator<scalepool::CXL68_FLIT_BITS> device("device");
    Memory memory("memory");
    Traffic traffic("traffic", 1000, 2);

    host.clk(clk);
    host.rst(rst);
    host.bind_tx(down.in);
    host.bind_rx(up.out);
    device.clk(clk);
    device.rst(rst);
    device.bind_rx(down.out);
    device.bind_tx(up.in);
    traffic.socket.bind(host.socket);
    device.socket.bind(memory.socket);

    traffic.random_threads();
    sc_spawn([&] {
        rst.write(true);
        sc_core::wait(3, SC_NS);
        rst.write(false);
    });
    sc_start(200, SC_US);
    if (!traffic.wrong.empty()) traffic.wrong += ", " + host.why();
    traffic.expect(memory.lines == traffic.image, "the memory differs from the image");
    traffic.expect(host.peer_events() + device.peer_events() == 0, "a rule is broken");
    const uint64_t damaged = host.damaged_flits() + device.damaged_flits();
    traffic.expect(damaged == 0, std::to_string(damaged) + " damaged flits");
    return verdict(traffic, std::to_string(traffic.done) + " accesses, " + std::to_string(device.served()) + " requests, " +
                                sc_core::sc_time_stamp().to_string());
}
