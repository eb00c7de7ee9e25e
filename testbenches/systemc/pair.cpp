// A TLM initiator, a host, flits, a device and a TLM memory. `pair CASE PROTOCOL` runs one case and prints PASS or FAIL.
//
// * `traffic`: 2000 random accesses of four threads against a data image; the memory is compared at the end, too
// * `noise`: the same with flits that are damaged on the wire, by a bit on the way down, as a whole on the way up; FEC and replay
//   repair them
// * `reset`: the link is reset in the middle of reads, which fail; then it goes on
// * `refused`: transactions that are no request of CXL.mem, and an address without memory, each with its response
// * `unanswered`: answers that are lost end in TLM_GENERIC_ERROR_RESPONSE, and so does the wait for a free tag
// * `stopped`: so does a read whose clock stands still
// * `poison`: a line that was written with poison is read with it until all of it is written anew
// * `halves`: a device of 68B mode answers with two halves of a line
// * `wrong`: the memory returns other data than was written, and the end finds it
// * `halted`: the host alone is reset, which stops the link; reads end with the rule, before their time is over
// * `invalid`: what the library or the header refuses is an exception with its text

#include "bench.h"

namespace {

template <int FLIT_BITS>
struct Pair : sc_module {
    sc_signal<bool> clk{"clk"};
    sc_signal<bool> host_rst{"host_rst"};
    sc_signal<bool> device_rst{"device_rst"};
    bool stands_still = false;
    scalepool::FlitWires<FLIT_BITS> down, up;
    scalepool::CxlMemTarget<FLIT_BITS> host;
    scalepool::CxlMemInitiator<FLIT_BITS> device;
    Memory memory{"memory"};

    Pair(sc_module_name name, const std::string& protocol, const scalepool::CxlMemTargetOptions& options)
        : sc_module(name), host("host", protocol, options), device("device", protocol) {
        host.clk(clk);
        host.rst(host_rst);
        host.bind_tx(down);
        host.bind_rx(up);
        device.clk(clk);
        device.rst(device_rst);
        device.bind_rx(down);
        device.bind_tx(up);
        device.socket.bind(memory.socket);
        sc_spawn([this] {
            for (bool level = true;; level = !level) {
                clk.write(level && !stands_still);
                wait(500, SC_PS);
            }
        });
    }
};

void fault(uint64_t end, const std::string& text) {
    uint64_t hook = 0;
    scalepool::detail::check(sp_hook_fault(end, SP_TEXT("wire"), SP_TX, text.data(), text.size(), &hook));
}

// Drops messages as long as `user` points to true.
uint32_t drop(void* user, uint32_t, uint32_t, uint64_t, uint64_t, const char*, const uint8_t*, uint8_t*, size_t) {
    return *static_cast<bool*>(user) ? SP_HOOK_DROP : SP_HOOK_KEEP;
}

// The exception of a call, or nothing.
template <class Call>
std::string refusal_of(Call call) {
    try {
        call();
    } catch (const scalepool::Error& error) {
        return error.what();
    }
    return "";
}

template <int FLIT_BITS>
int run(const std::string& test, const std::string& protocol) {
    const bool is_68 = FLIT_BITS == scalepool::CXL68_FLIT_BITS;
    scalepool::CxlMemTargetOptions options;
    // The device of `halves` answers other data than it had.
    if (test != "halves") options.config = "{\"transactions\":\"hdm-h\",\"all_writers_seen\":true}";
    if (test == "unanswered" || test == "stopped") {
        options.outstanding = 2;
        options.answer_time = sc_time(5, SC_US);
    }
    Pair<FLIT_BITS> pair("pair", protocol, options);
    Traffic traffic("traffic", 2000, 1);
    traffic.socket.bind(pair.host.socket);
    Line data{};
    bool drops = false;
    const auto read = [&](uint64_t address) { return traffic.access(tlm::TLM_READ_COMMAND, address, data.data()); };
    const auto write = [&](uint64_t address) { return traffic.access(tlm::TLM_WRITE_COMMAND, address, data.data()); };
    const auto says = [&](const std::string& text) {
        traffic.expect(pair.host.why().find(text) != std::string::npos, "why() is `" + pair.host.why() + "`, expected " + text);
    };
    // A thread that ends the run behind it.
    const auto script = [&](std::function<void()> steps) {
        ++traffic.running;
        sc_spawn([&traffic, steps] {
            steps();
            if (--traffic.running == 0) sc_stop();
        });
    };

    sc_event resets;
    sc_spawn([&] {
        for (;;) {
            sc_core::wait(resets);
            pair.host_rst.write(true);
            pair.device_rst.write(test != "halted");
            sc_core::wait(3, SC_NS);
            pair.host_rst.write(false);
            pair.device_rst.write(false);
        }
    });

    if (test == "traffic" || test == "noise") {
        traffic.random_threads();
    } else if (test == "reset") {
        script([&] {
            data.fill(0xA5);
            traffic.expect(write(0) == tlm::TLM_OK_RESPONSE, "write before the reset");
            for (unsigned delay = 0; delay < 40; ++delay) {
                resets.notify(delay + 1, SC_NS);
                const auto status = read(0);
                if (status != tlm::TLM_OK_RESPONSE) says("the link was reset");
                sc_core::wait(50, SC_NS);
                data.fill(0);
                traffic.expect(read(0) == tlm::TLM_OK_RESPONSE && data[63] == 0xA5, "read behind reset " + std::to_string(delay));
            }
            says("the link was reset");
        });
    } else if (test == "refused") {
        script([&] {
            const auto with = [&](tlm::tlm_command command, unsigned length, unsigned streaming, uint64_t address) {
                return traffic.access(command, address, data.data(), length, nullptr, 0, streaming);
            };
            const auto writes = tlm::TLM_WRITE_COMMAND;
            traffic.expect(with(writes, 32, 64, 0) == tlm::TLM_BURST_ERROR_RESPONSE, "32 bytes");
            traffic.expect(with(writes, 128, 128, 0) == tlm::TLM_BURST_ERROR_RESPONSE, "128 bytes");
            traffic.expect(with(writes, 64, 8, 0) == tlm::TLM_BURST_ERROR_RESPONSE, "streaming width 8");
            traffic.expect(with(writes, 64, 64, 32) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "address 32");
            traffic.expect(with(writes, 64, 64, scalepool::ADDRESS_END) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "address 2^52");
            traffic.expect(with(tlm::TLM_IGNORE_COMMAND, 64, 64, 0) == tlm::TLM_COMMAND_ERROR_RESPONSE, "no command");
            uint8_t off = TLM_BYTE_DISABLED;
            traffic.expect(traffic.access(writes, 0, data.data(), 64, &off, 0) == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "no byte enables");
            traffic.expect(traffic.access(writes, 0, data.data(), 64, &off, 1) == tlm::TLM_OK_RESPONSE, "all bytes off");
            traffic.expect(pair.device.served() == 0, "a refused transaction went out");
            traffic.expect(read(MEMORY_BYTES - 64) == tlm::TLM_OK_RESPONSE, "the last line");
            traffic.expect(read(MEMORY_BYTES) == (is_68 ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE), "no memory");
            says(is_68 ? "poisoned data" : "MemDataNXM");
            traffic.expect(read(scalepool::ADDRESS_END - 64) != tlm::TLM_OK_RESPONSE, "the highest address");
        });
    } else if (test == "unanswered") {
        uint64_t hook = 0;
        scalepool::detail::check(sp_hook_attach(pair.device.end().handle(), SP_TEXT("packer_in"), SP_TX, drop, &drops, &hook));
        script([&] {
            traffic.expect(write(64) == tlm::TLM_OK_RESPONSE, "answered");
            drops = true;
            traffic.expect(read(0) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a lost answer of a read");
            says("line 0x0, tag 1: found no answer in 5 us");
            traffic.expect(write(64) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a lost answer of a write");
            says("line 0x40, tag 0: found no answer");
            drops = false;
            traffic.expect(read(0) == tlm::TLM_GENERIC_ERROR_RESPONSE, "no tag is left");
            says("found no free tag in 5 us");
            traffic.expect(pair.host.open() == 0, "open requests");
        });
    } else if (test == "stopped") {
        script([&] {
            traffic.expect(read(0) == tlm::TLM_OK_RESPONSE, "answered");
            pair.stands_still = true;
            traffic.expect(read(0) == tlm::TLM_GENERIC_ERROR_RESPONSE, "the clock stands still");
            says("found no answer in 5 us");
            pair.stands_still = false;
            // The late answer frees its tag.
            sc_core::wait(1, SC_US);
            for (int n = 0; n < 4; ++n) traffic.expect(read(0) == tlm::TLM_OK_RESPONSE, "it goes on");
        });
    } else if (test == "poison") {
        script([&] {
            const std::string layout = is_68 ? "cxl68.m2s_rwd" : "cxl256.m2s_rwd";
            pair.host.end().send("{\"layout\":\"" + layout + "\",\"fields\":{\"opcode\":\"MemWr\",\"address\":128,\"tag\":63," +
                                 "\"meta_value\":\"Any\",\"poison\":1},\"data\":\"" + std::string(128, '7') + "\"}");
            sc_core::wait(200, SC_NS);
            traffic.expect(read(128) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a poisoned line");
            says("line 0x80, tag 0: found poisoned data");
            uint8_t period[2] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
            const auto part = traffic.access(tlm::TLM_WRITE_COMMAND, 128, data.data(), LINE_BYTES, period, 2);
            traffic.expect(part == tlm::TLM_OK_RESPONSE && read(128) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a part written anew");
            traffic.expect(write(128) == tlm::TLM_OK_RESPONSE && read(128) == tlm::TLM_OK_RESPONSE, "all of it written anew");
        });
    } else if (test == "halves") {
        uint64_t hook = 0;
        scalepool::detail::check(sp_hook_attach(pair.device.end().handle(), SP_TEXT("packer_in"), SP_TX, drop, &drops, &hook));
        drops = true;
        script([&] {
            traffic.expect(read(0) == tlm::TLM_OK_RESPONSE, "a line in halves");
            for (unsigned n = 0; n < LINE_BYTES; ++n) traffic.expect(data[n] == (n < 32 ? 0x11 : 0x22), "byte " + std::to_string(n));
        });
        sc_spawn([&] {
            sc_core::wait(500, SC_NS);
            drops = false;
            const std::string head = "{\"layout\":\"cxl68.s2m_drs\",\"fields\":{\"opcode\":\"MemData\",\"tag\":0,\"meta_field\":\"NoOp\"},";
            const std::string ones(64, '1'), twos(64, '2');
            pair.device.end().send(head + "\"half\":\"lower\",\"data\":\"" + ones + std::string(64, '0') + "\"}");
            pair.device.end().send(head + "\"half\":\"lower\",\"data\":\"" + twos + std::string(64, '0') + "\"}");
        });
    } else if (test == "wrong") {
        pair.memory.wrong_line = 3;
        script([&] {
            traffic.expect(write(2 * 64) == tlm::TLM_OK_RESPONSE && write(3 * 64) == tlm::TLM_OK_RESPONSE, "writes");
            traffic.expect(read(2 * 64) == tlm::TLM_OK_RESPONSE, "a good line");
            traffic.expect(read(3 * 64) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a wrong line");
            says("TXN-DAT-");
            traffic.expect(read(2 * 64) == tlm::TLM_OK_RESPONSE, "a good line behind it");
        });
    } else if (test == "halted") {
        script([&] {
            traffic.expect(read(0) == tlm::TLM_OK_RESPONSE, "a read");
            resets.notify(6, SC_NS);
            traffic.expect(read(0) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a read during the reset");
            sc_core::wait(20, SC_NS);
            traffic.expect(read(0) == tlm::TLM_GENERIC_ERROR_RESPONSE, "a read on a link that has stopped");
            says("the link has stopped, CXL68-INI-05");
            traffic.expect(sc_core::sc_time_stamp() < sc_time(1, SC_US), "it ends late");
        });
    } else if (test == "invalid") {
        script([&] {
            std::string text = refusal_of([] { scalepool::LinkEnd("cxl-99b", SP_DOWN); });
            traffic.expect(text.find("cxl-99b") != std::string::npos, "unknown protocol: " + text);
            text = refusal_of([] { scalepool::LinkEnd("cxl-68b", SP_DOWN, "{\"bufers\":3}"); });
            traffic.expect(text.find("bufers") != std::string::npos, "unknown key: " + text);
            scalepool::LinkEnd end("cxl-68b", SP_DOWN);
            text = refusal_of([&] { end.drive(scalepool::Bytes(67)); });
            traffic.expect(text.find("67") != std::string::npos, "length of a flit: " + text);
            text = refusal_of([&] { end.send("{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"opcode\":\"MemRead\"}}"); });
            traffic.expect(text.find("MemRead") != std::string::npos, "unknown code: " + text);
        });
    } else {
        std::printf("FAIL found case %s, expected one of those at the top of pair.cpp\n", test.c_str());
        return 2;
    }
    if (test == "noise") {
        for (int n = 0; n < 20; ++n) {
            fault(pair.host.end().handle(), "flip:" + std::to_string(50 + 97 * n) + ":" + std::to_string(100 + n));
            fault(pair.device.end().handle(), "drop:" + std::to_string(60 + 89 * n));
        }
    }
    if (test != "traffic" && test != "noise") sc_report_handler::set_actions("/scalepool/cxl_mem", SC_WARNING, SC_DO_NOTHING);

    sc_start(200, SC_US);
    std::string more;
    if (test == "traffic" || test == "noise") {
        traffic.expect(pair.memory.lines == traffic.image, "the memory differs from the image");
        traffic.expect(pair.host.peer_events() + pair.device.peer_events() == 0, "a rule is broken");
        const uint64_t damaged = pair.host.damaged_flits() + pair.device.damaged_flits();
        // What the FEC does not repair is sent again.
        const uint64_t replays =
            pair.host.end().state().number("health.replays") + pair.device.end().state().number("health.replays");
        more = ", " + std::to_string(damaged) + " damaged flits, " + std::to_string(replays) + " replays";
        traffic.expect(test == "noise" ? damaged == 40 && replays > 0 : damaged == 0, "found" + more);
        traffic.expect(pair.host.end().finish(), "an answer is owed");
    }
    return verdict(traffic, std::to_string(traffic.done) + " accesses, " + std::to_string(pair.device.served()) + " requests, " +
                                sc_core::sc_time_stamp().to_string() + more);
}

}  // namespace

int sc_main(int count, char** arguments) {
    if (count != 3) {
        std::printf("FAIL found %d arguments, expected a case and a protocol\n", count - 1);
        return 2;
    }
    const std::string test = arguments[1], protocol = arguments[2];
    return protocol == "cxl-68b" ? run<scalepool::CXL68_FLIT_BITS>(test, protocol) : run<scalepool::CXL256_FLIT_BITS>(test, protocol);
}
