// CXL.mem for SystemC TLM-2.0, over the C ABI of scalepool: both ends of a link as modules with a socket on one side and wires
// for flits on the other.
//
//   TLM initiator -> CxlMemTarget -> flits -> (RTL) -> flits -> CxlMemInitiator -> TLM memory
//
// * `LinkEnd`: an end of a link, as `sp_link_new` makes it. It destroys itself and throws `Error` with the text of sp_last_error.
// * `CxlMemTarget`: a target socket in front of a host. b_transport of a line of 64 bytes becomes a request of CXL.mem, and
//   returns with its answer.
// * `CxlMemInitiator`: a device. Each request that arrives goes out of an initiator socket, and its response is the answer.
// * `FlitWires`: one direction of a link: a flit with valid and ready, as Verilator's `--sc` spells such ports of a design.
//
// Modelled: memory of the kind HDM-H, which the host alone caches, in all flit modes of CXL; bytes, credits and retry are those of
// the library. Both ends judge what passes (`"transactions":"hdm-h"`): a tag that nobody gave, a doubled answer or one of the
// wrong kind is an error of the request that it concerns. Left out: caches, snoops, metadata; non-blocking transport (the simple
// socket turns it into b_transport), direct memory pointers, debug transport and temporal decoupling.
//
// A walk through one flit clock, the rising edge of `clk`: a flit that stands at `rx` goes into a queue of two. If the flit that
// was sent last has been taken, one flit of that queue arrives at the end, the end makes a step, messages and events are taken
// from it, and what it sends stands at `tx` from then on. If it has not been taken, the end stands still, and so does the peer
// as soon as the queue is full.
//
// C++17. Tried with SystemC 2.3.4; it compiles with the headers of 3.0.2, too. Link with libscalepool and libsystemc.

#ifndef SCALEPOOL_TLM_H
#define SCALEPOOL_TLM_H

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <utility>
#include <vector>

#include "scalepool.h"

namespace scalepool {

// Bytes of a line: one request of CXL.mem.
constexpr unsigned LINE_BYTES = 64;

// Bits of a flit, for `FLIT_BITS` of the modules.
constexpr int CXL68_FLIT_BITS = 8 * 68;
constexpr int CXL256_FLIT_BITS = 8 * 256;

// First address behind those of CXL.mem, which have 52 bits.
constexpr uint64_t ADDRESS_END = uint64_t{1} << 52;

using Bytes = std::vector<uint8_t>;

// A call was refused; `what()` is the text of sp_last_error.
class Error : public std::runtime_error {
public:
    Error(const std::string& text, int32_t status) : std::runtime_error(text), status(status) {}

    // One of SP_ERR_*.
    const int32_t status;
};

namespace detail {

inline std::string last_error() {
    std::string text(4096, '\0');
    size_t length = 0;
    if (sp_last_error(text.data(), text.size(), &length) == SP_ERR_SHORT) {
        text.resize(length + 1);
        sp_last_error(text.data(), text.size(), &length);
    }
    text.resize(length);
    return text;
}

// Returns a status that is no error.
inline int32_t check(int32_t status) {
    if (status < 0) throw Error(last_error(), status);
    return status;
}

// Calls a function with an output buffer, once more if the buffer was too short. Nothing if there was nothing to take.
template <class Buffer, class Call>
std::optional<Buffer> fill(Call call) {
    Buffer buffer(1024, {});
    size_t length = 0;
    int32_t status = call(buffer.data(), buffer.size(), &length);
    if (status == SP_ERR_SHORT) {
        // A text ends in a NUL, which its length does not count.
        buffer.resize(length + 1);
        status = call(buffer.data(), buffer.size(), &length);
    }
    if (check(status) == SP_EMPTY) return std::nullopt;
    buffer.resize(length);
    return buffer;
}

inline std::string hex(const uint8_t* bytes, size_t count) {
    std::string text;
    for (size_t n = 0; n < count; ++n)
        for (int shift : {4, 0}) text += "0123456789abcdef"[bytes[n] >> shift & 15];
    return text;
}

inline std::string hex(uint64_t number) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[number & 15]);
    while (number >>= 4);
    return "0x" + digits;
}

// The digits of a form were written by the library: an even number of hexadecimal ones.
inline Bytes bytes_of(const std::string& digits) {
    Bytes bytes;
    for (size_t n = 0; n + 1 < digits.size(); n += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoul(digits.substr(n, 2), nullptr, 16)));
    return bytes;
}

}  // namespace detail

// A JSON object of the library as its values by name: `layout`, `fields.tag`. A number has the text that stands there, null has
// none. Lists do not occur in messages and events; they are passed over.
class Form {
public:
    explicit Form(const std::string& json) : rest_(json.c_str()) { value(""); }

    bool has(const std::string& name) const { return values_.count(name) != 0; }
    // Empty if there is no such value.
    std::string text(const std::string& name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? "" : found->second;
    }
    // 0 if there is no such value. A number above 2^53 is spelled in hexadecimal digits, with 0x.
    uint64_t number(const std::string& name) const { return std::strtoull(text(name).c_str(), nullptr, 0); }

private:
    void skip() {
        while (*rest_ == ' ' || *rest_ == '\n' || *rest_ == '\t' || *rest_ == '\r') ++rest_;
    }
    bool eats(char c) {
        skip();
        if (*rest_ != c) return false;
        ++rest_;
        return true;
    }
    std::string string() {
        std::string text;
        while (*rest_ && *rest_ != '"') {
            // Only texts for people have escapes; what they stand for matters little there.
            if (*rest_ == '\\' && rest_[1]) ++rest_;
            text += *rest_++;
        }
        if (*rest_) ++rest_;
        return text;
    }
    void value(const std::string& name) {
        if (eats('{')) {
            while (*rest_ && !eats('}')) {
                if (!eats('"')) return;
                const std::string key = string();
                if (!eats(':')) return;
                value(name.empty() ? key : name + "." + key);
                eats(',');
            }
        } else if (eats('[')) {
            while (*rest_ && !eats(']')) {
                value(name + "[]");
                eats(',');
            }
        } else if (eats('"')) {
            values_[name] = string();
        } else {
            std::string word;
            while (*rest_ && *rest_ != ',' && *rest_ != '}' && *rest_ != ']' && *rest_ != ' ') word += *rest_++;
            if (word != "null") values_[name] = word;
        }
    }

    const char* rest_;
    std::map<std::string, std::string> values_;
};

// What an end has noticed, as sp_link_event describes it.
struct Event {
    explicit Event(const Form& form)
        : by(form.text("by")),
          rule(form.text("rule")),
          text(rule + ": " + form.text("at") + ": found " + form.text("found") + ", expected " + form.text("expected")),
          tag(form.has("tag") ? std::optional<uint64_t>(form.number("tag")) : std::nullopt) {}

    // `peer`, `end` or `line`.
    std::string by;
    // Id of the rule.
    std::string rule;
    // The rule, where it was broken, what was found and what was expected.
    std::string text;
    // Tag of the request that is concerned, if one is.
    std::optional<uint64_t> tag;
};

// One end of a link. All functions throw `Error` where the library refuses the call.
class LinkEnd {
public:
    // `dir` is SP_DOWN for a host, SP_UP for a device; `config` and `mode` are those of sp_link_new.
    LinkEnd(const std::string& protocol, uint32_t dir, const std::string& config = "", uint32_t mode = SP_ACTIVE) {
        detail::check(sp_open(SP_ABI_VERSION));
        detail::check(sp_link_new(protocol.data(), protocol.size(), dir, config.data(), config.size(), mode, &handle_));
    }
    ~LinkEnd() { sp_link_destroy(handle_); }
    LinkEnd(const LinkEnd&) = delete;
    LinkEnd& operator=(const LinkEnd&) = delete;

    // For functions of scalepool.h that have no other name here, such as those of hooks and faults.
    uint64_t handle() const { return handle_; }

    void reset() { detail::check(sp_link_reset(handle_)); }
    void drive(const Bytes& unit, uint32_t port = SP_RX) { detail::check(sp_link_drive(handle_, port, unit.data(), unit.size())); }
    void step(uint64_t flit_clocks = 1) { detail::check(sp_link_step(handle_, flit_clocks)); }
    void send(const std::string& message) { detail::check(sp_link_send(handle_, message.data(), message.size())); }
    // The oldest unit that the end has sent, or nothing.
    std::optional<Bytes> sample() {
        return detail::fill<Bytes>([&](auto... buffer) { return sp_link_sample(handle_, buffer...); });
    }
    // The oldest message that has arrived, or nothing.
    std::optional<Form> take() { return form(sp_link_take); }
    // The oldest event, or nothing.
    std::optional<Event> event() {
        const auto found = form(sp_link_event);
        return found ? std::optional<Event>(Event(*found)) : std::nullopt;
    }
    // State and counters.
    Form state() { return *form(sp_link_state); }
    // The physical layer begins to train (false) or is up again (true).
    void train(bool up) { detail::check(sp_link_train(handle_, up ? 1 : 0)); }
    // Whether no request is owed an answer at the end of a run; each one that is becomes an event.
    bool finish() { return detail::check(sp_link_finish(handle_)) == SP_OK; }

private:
    template <class Call>
    std::optional<Form> form(Call call) {
        const auto json = detail::fill<std::string>([&](auto... buffer) { return call(handle_, buffer...); });
        return json ? std::optional<Form>(Form(*json)) : std::nullopt;
    }

    uint64_t handle_ = 0;
};

// One direction of a link: a flit moves in a clock in which both `valid` and `ready` are 1. Bits 7:0 of `flit` are byte 0.
template <int FLIT_BITS>
struct FlitWires {
    sc_core::sc_signal<bool> valid;
    sc_core::sc_signal<bool> ready;
    sc_core::sc_signal<sc_dt::sc_bv<FLIT_BITS>> flit;
};

// What both modules have in common: an active end of a link behind wires.
template <int FLIT_BITS>
class FlitPort : public sc_core::sc_module {
public:
    // The flit clock, at most one flit in each direction in each.
    sc_core::sc_in<bool> clk{"clk"};
    // May stay unbound. While it is 1 at an edge, the end stands where it began; requests that are open have failed.
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> rst{"rst"};
    sc_core::sc_in<bool> rx_valid{"rx_valid"};
    sc_core::sc_out<bool> rx_ready{"rx_ready"};
    sc_core::sc_in<sc_dt::sc_bv<FLIT_BITS>> rx_flit{"rx_flit"};
    sc_core::sc_out<bool> tx_valid{"tx_valid"};
    sc_core::sc_in<bool> tx_ready{"tx_ready"};
    sc_core::sc_out<sc_dt::sc_bv<FLIT_BITS>> tx_flit{"tx_flit"};

    // Is called with each event, also those that concern no request.
    std::function<void(const Event&)> on_event;

    void bind_rx(FlitWires<FLIT_BITS>& wires) {
        rx_valid(wires.valid);
        rx_ready(wires.ready);
        rx_flit(wires.flit);
    }
    void bind_tx(FlitWires<FLIT_BITS>& wires) {
        tx_valid(wires.valid);
        tx_ready(wires.ready);
        tx_flit(wires.flit);
    }
    LinkEnd& end() { return end_; }
    // Why the link has stopped, or nothing. It stays so until a reset.
    const std::string& stopped() const { return stopped_; }
    // Flits that have arrived damaged, which the link repairs: by its FEC, or by a replay.
    uint64_t damaged_flits() {
        const Form state = end_.state();
        return state.number("health.crc_errors") + state.number("health.framing_errors") + state.number("health.fec_repaired_flits");
    }
    // Rules that the other end has broken.
    uint64_t peer_events() const { return peer_events_; }

    SC_HAS_PROCESS(FlitPort);

protected:
    FlitPort(sc_core::sc_module_name name, const std::string& protocol, uint32_t dir, const std::string& config)
        : sc_module(name), end_(protocol, dir, config), layouts_(layouts_of(protocol)) {
        SC_METHOD(on_clock);
        sensitive << clk.pos();
        dont_initialize();
    }

    // Behind each step of the end.
    virtual void on_step() = 0;
    // A rule of transactions was broken, by the other end or by what this one was told to send.
    virtual void on_broken(const Event& event) = 0;
    // The link cannot go on, or was reset.
    virtual void on_failed(const std::string& why) = 0;

    bool has_byte_enable_trailer() const { return layouts_ != "cxl68"; }
    bool has_ld_id() const { return layouts_ != "cxlpbr"; }
    bool has_code_of_no_memory() const { return layouts_ != "cxl68"; }
    // The form of a message. `fields` and `more` have a comma in front of each key.
    std::string form(const char* layout, uint64_t tag, const std::string& fields, const std::string& more = "") const {
        return "{\"layout\":\"" + layouts_ + "." + layout + "\",\"fields\":{\"tag\":" + std::to_string(tag) + fields + "}" + more + "}";
    }
    // The layout of a message without its family: `m2s_req`.
    static std::string kind_of(const Form& message) {
        const std::string layout = message.text("layout");
        return layout.substr(layout.find('.') + 1);
    }
    // Takes all events; returns whether a rule of transactions was broken.
    bool take_events() {
        bool broken = false;
        while (const auto event = end_.event()) {
            peer_events_ += event->by == "peer";
            if (on_event) on_event(*event);
            if (event->by != "line" && event->rule.rfind("TXN-", 0) == 0) {
                broken = true;
                on_broken(*event);
            }
            if (stopped_.empty() && end_.state().has("halted")) {
                stopped_ = "the link has stopped, " + event->text;
                on_failed(stopped_);
            }
        }
        return broken;
    }

private:
    static_assert(FLIT_BITS % 32 == 0, "a flit has whole words");
    static constexpr int WORDS = FLIT_BITS / 32;

    static std::string layouts_of(const std::string& protocol) {
        const int bits = protocol == "cxl-68b" ? CXL68_FLIT_BITS : CXL256_FLIT_BITS;
        if (protocol.rfind("cxl-", 0) != 0 || bits != FLIT_BITS)
            throw Error("protocol: found " + protocol + " with flits of " + std::to_string(FLIT_BITS) +
                            " bits, expected cxl-68b with 544, or cxl-256b, cxl-256b-lopt or cxl-256b-pbr with 2048",
                        SP_ERR_KIND);
        return protocol == "cxl-68b" ? "cxl68" : protocol == "cxl-256b-pbr" ? "cxlpbr" : "cxl256";
    }

    void on_clock() {
        if (rst.size() != 0 && rst->read()) {
            if (stepped_) {
                end_.reset();
                arrived_.clear();
                stepped_ = false;
                stopped_.clear();
                on_failed("the link was reset");
            }
            tx_valid.write(false);
            rx_ready.write(false);
            return;
        }
        if (rx_valid.read() && rx_ready.read()) {
            const sc_dt::sc_bv<FLIT_BITS>& flit = rx_flit.read();
            Bytes bytes;
            for (int word = 0; word < WORDS; ++word)
                for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(flit.get_word(word) >> shift));
            arrived_.push_back(std::move(bytes));
        }
        if (!tx_valid.read() || tx_ready.read()) {
            if (!arrived_.empty()) {
                end_.drive(arrived_.front());
                arrived_.pop_front();
            }
            end_.step();
            stepped_ = true;
            take_events();
            on_step();
            const auto sent = end_.sample();
            tx_valid.write(sent.has_value());
            if (sent) {
                sc_dt::sc_bv<FLIT_BITS> flit;
                for (int word = 0; word < WORDS; ++word) {
                    sc_dt::sc_digit digit = 0;
                    for (int byte = 3; byte >= 0; --byte) digit = digit << 8 | (*sent)[4 * word + byte];
                    flit.set_word(word, digit);
                }
                tx_flit.write(flit);
            }
        }
        // A flit that comes in the clock in which this is seen has a place, too.
        rx_ready.write(arrived_.size() < 2);
    }

    LinkEnd end_;
    const std::string layouts_;
    std::deque<Bytes> arrived_;
    uint64_t peer_events_ = 0;
    bool stepped_ = false;
    std::string stopped_;
};

// What can be said of a `CxlMemTarget`.
struct CxlMemTargetOptions {
    // Highest number of requests that are open at a time, 1 to 65536; each has its own tag, from 0 on.
    unsigned outstanding = 64;
    // The logical device that all requests go to, 0 to 15.
    unsigned ld_id = 0;
    // How long b_transport waits for its answer, the wait for a free tag counted in.
    sc_core::sc_time answer_time{100, sc_core::SC_US};
    // As for sp_link_new.
    std::string config = "{\"transactions\":\"hdm-h\"}";
};

// A host of CXL.mem behind a TLM target socket.
//
// A transaction is a line: 64 bytes at a multiple of 64. A read becomes MemRd, a write MemWr or, with byte enables, MemWrPtl.
// Several threads may call b_transport at a time; transactions of the same line that are open together have no order, as on the
// link. The response is
//
// * TLM_BURST_ERROR_RESPONSE for another length, or a streaming width below it
// * TLM_ADDRESS_ERROR_RESPONSE for another address, and where the device says that no memory is there (MemDataNXM)
// * TLM_COMMAND_ERROR_RESPONSE for a transaction that neither reads nor writes, TLM_BYTE_ENABLE_ERROR_RESPONSE for byte enables
//   of length 0
// * TLM_GENERIC_ERROR_RESPONSE where no answer comes within `answer_time`, the answer breaks a rule, its data is poisoned (where
//   no memory is, too, in 68B mode), or the link has stopped or is reset
//
// With the last one, and with MemDataNXM, `why()` says what was found, and so does a warning of the type `/scalepool/cxl_mem`.
// The tag of a request without an answer is used again once its answer has come after all.
template <int FLIT_BITS>
class CxlMemTarget : public FlitPort<FLIT_BITS> {
public:
    tlm_utils::simple_target_socket<CxlMemTarget> socket{"socket"};

    explicit CxlMemTarget(sc_core::sc_module_name name, const std::string& protocol = FLIT_BITS == CXL68_FLIT_BITS ? "cxl-68b" : "cxl-256b",
                          const CxlMemTargetOptions& options = {})
        : FlitPort<FLIT_BITS>(name, protocol, SP_DOWN, options.config), options_(options) {
        if (options.outstanding < 1 || options.outstanding > 1 << 16)
            throw Error("outstanding: found " + std::to_string(options.outstanding) + ", expected 1 to 65536", SP_ERR_RANGE);
        if (options.ld_id > 15) throw Error("ld_id: found " + std::to_string(options.ld_id) + ", expected 0 to 15", SP_ERR_RANGE);
        for (unsigned tag = 0; tag < options.outstanding; ++tag) free_.push_back(tag);
        socket.register_b_transport(this, &CxlMemTarget::b_transport);
    }

    // Why the last transaction failed that did.
    const std::string& why() const { return why_; }
    // Number of requests that are open.
    size_t open() const { return open_.size(); }

private:
    struct Request {
        uint64_t address;
        Bytes data;
        sc_core::sc_event done;
        bool is_done = false;
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        std::string why;
    };

    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        transaction.set_dmi_allowed(false);
        transaction.set_response_status(refusal(transaction));
        if (transaction.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) return;

        const bool writes = transaction.is_write();
        uint8_t* const data = transaction.get_data_ptr();
        uint64_t enables = ~uint64_t{0};
        if (const uint8_t* const enabled = transaction.get_byte_enable_ptr()) {
            // They repeat where there are fewer of them than bytes.
            for (unsigned n = 0; n < LINE_BYTES; ++n)
                if (enabled[n % transaction.get_byte_enable_length()] == TLM_BYTE_DISABLED) enables &= ~(uint64_t{1} << n);
        }
        if (enables == 0) {
            transaction.set_response_status(tlm::TLM_OK_RESPONSE);
            return;
        }

        Request request;
        request.address = transaction.get_address();
        const sc_core::sc_time deadline = sc_core::sc_time_stamp() + options_.answer_time;
        while (free_.empty() && this->stopped().empty() && sc_core::sc_time_stamp() < deadline)
            sc_core::wait(deadline - sc_core::sc_time_stamp(), freed_);
        if (!this->stopped().empty()) {
            fail(request, std::nullopt, this->stopped());
        } else if (free_.empty()) {
            fail(request, std::nullopt,
                 "found no free tag in " + options_.answer_time.to_string() + ", expected one of " + std::to_string(options_.outstanding));
        } else {
            const unsigned tag = free_.front();
            free_.pop_front();
            open_[tag] = &request;
            send(tag, writes, data, enables, request.address);
            // The last flit clock before the deadline counts.
            while (!request.is_done && sc_core::sc_time_stamp() < deadline)
                sc_core::wait(deadline - sc_core::sc_time_stamp(), request.done);
            if (!request.is_done) {
                close(tag, false);
                fail(request, tag, "found no answer in " + options_.answer_time.to_string() + ", expected one");
            }
        }
        if (!request.why.empty()) {
            why_ = request.why;
            SC_REPORT_WARNING("/scalepool/cxl_mem", (std::string(this->name()) + ": " + why_).c_str());
        } else if (!writes) {
            for (unsigned n = 0; n < LINE_BYTES; ++n)
                if (enables >> n & 1) data[n] = request.data[n];
        }
        transaction.set_response_status(request.status);
    }

    // The response to a transaction that is no request of CXL.mem, or TLM_INCOMPLETE_RESPONSE.
    static tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& transaction) {
        if (!transaction.is_read() && !transaction.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
        if (transaction.get_data_length() != LINE_BYTES || transaction.get_streaming_width() < LINE_BYTES ||
            transaction.get_data_ptr() == nullptr)
            return tlm::TLM_BURST_ERROR_RESPONSE;
        if (transaction.get_address() % LINE_BYTES != 0 || transaction.get_address() >= ADDRESS_END)
            return tlm::TLM_ADDRESS_ERROR_RESPONSE;
        if (transaction.get_byte_enable_ptr() != nullptr && transaction.get_byte_enable_length() == 0)
            return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
        return tlm::TLM_INCOMPLETE_RESPONSE;
    }

    void send(unsigned tag, bool writes, const uint8_t* data, uint64_t enables, uint64_t address) {
        std::string fields = ",\"address\":" + std::to_string(address);
        if (this->has_ld_id()) fields += ",\"ld_id\":" + std::to_string(options_.ld_id);
        if (!writes) {
            this->end().send(this->form("m2s_req", tag, ",\"opcode\":\"MemRd\",\"meta_field\":\"NoOp\"" + fields));
        } else {
            const bool whole = enables == ~uint64_t{0};
            std::string more = ",\"data\":\"" + detail::hex(data, LINE_BYTES) + "\"";
            fields += std::string(",\"meta_value\":\"Any\",\"opcode\":\"") + (whole ? "MemWr\"" : "MemWrPtl\"");
            if (!whole) {
                more += ",\"be\":\"" + detail::hex(enables) + "\"";
                if (this->has_byte_enable_trailer()) fields += ",\"trp\":1";
            }
            this->end().send(this->form("m2s_rwd", tag, fields, more));
        }
        this->take_events();
    }

    void on_step() override {
        while (const auto answer = this->end().take()) {
            // What the judge has found has ended the request, if it concerns one.
            if (!this->take_events()) arrived(*answer);
        }
    }

    void arrived(const Form& answer) {
        const unsigned tag = static_cast<unsigned>(answer.number("fields.tag"));
        const auto found = open_.find(tag);
        if (found == open_.end()) {
            if (lost_.erase(tag) != 0) release(tag);
            return;
        }
        Request& request = *found->second;
        if (answer.has("data")) {
            const Bytes data = detail::bytes_of(answer.text("data"));
            // Half a line (68B mode) stands in the first 32 bytes. The half that comes first is the one that the address names, here
            // the lower one.
            const size_t count = answer.has("half") ? LINE_BYTES / 2 : LINE_BYTES;
            request.data.insert(request.data.end(), data.begin(), data.begin() + count);
            if (request.data.size() < LINE_BYTES) return;
        }
        close(tag, true);
        if (answer.text("fields.opcode") == "MemDataNXM") {
            fail(request, tag, "found MemDataNXM, expected memory at this address");
            request.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
        } else if (answer.number("fields.poison") != 0) {
            fail(request, tag, "found poisoned data, expected good data");
        }
        finish(request);
    }

    void on_broken(const Event& event) override {
        const auto found = event.tag ? open_.find(static_cast<unsigned>(*event.tag)) : open_.end();
        if (found == open_.end()) {
            SC_REPORT_WARNING("/scalepool/cxl_mem", (std::string(this->name()) + ": " + event.text).c_str());
            return;
        }
        const unsigned tag = found->first;
        Request& request = *found->second;
        // These are broken by an answer that ends its request all the same; what the end itself was told to send has no answer.
        const bool answered = event.rule == "TXN-DAT-01" || event.rule == "TXN-DAT-02" || event.rule == "TXN-ANS-03";
        close(tag, answered || event.by == "end");
        fail(request, tag, event.text);
        finish(request);
    }

    void on_failed(const std::string& why) override {
        while (!open_.empty()) {
            const unsigned tag = open_.begin()->first;
            Request& request = *open_.begin()->second;
            close(tag, true);
            fail(request, tag, why);
            finish(request);
        }
        while (!lost_.empty()) {
            const unsigned tag = *lost_.begin();
            lost_.erase(tag);
            release(tag);
        }
    }

    void fail(Request& request, std::optional<unsigned> tag, const std::string& found) {
        request.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
        request.why = "line " + detail::hex(request.address) + (tag ? ", tag " + std::to_string(*tag) : "") + ": " + found;
    }
    void finish(Request& request) {
        request.is_done = true;
        request.done.notify();
    }
    void close(unsigned tag, bool answered) {
        open_.erase(tag);
        if (answered) release(tag);
        else lost_.insert(tag);
    }
    void release(unsigned tag) {
        free_.push_back(tag);
        freed_.notify();
    }

    const CxlMemTargetOptions options_;
    std::deque<unsigned> free_;
    std::map<unsigned, Request*> open_;
    // Tags of requests that have failed without an answer.
    std::set<unsigned> lost_;
    sc_core::sc_event freed_;
    std::string why_;
};

// A memory device of CXL.mem in front of a TLM initiator socket.
//
// Requests are carried out in their order, one at a time: MemRd and its kind as reads of a line, MemWr and MemWrPtl as writes,
// the latter with byte enables. MemInv is answered at once. While the memory is busy, requests wait in the end, whose credits
// keep the host from sending more than fit.
//
// A read that the memory answers with TLM_ADDRESS_ERROR_RESPONSE becomes MemDataNXM, in 68B mode poisoned data; any other error
// becomes poisoned data. A line that was written with poison is read with it until all of it is written anew. A write has no answer
// for an error, so it is a warning of the type `/scalepool/cxl_mem`.
template <int FLIT_BITS>
class CxlMemInitiator : public FlitPort<FLIT_BITS> {
public:
    tlm_utils::simple_initiator_socket<CxlMemInitiator> socket{"socket"};

    explicit CxlMemInitiator(sc_core::sc_module_name name,
                             const std::string& protocol = FLIT_BITS == CXL68_FLIT_BITS ? "cxl-68b" : "cxl-256b",
                             const std::string& config = "{\"transactions\":\"hdm-h\"}")
        : FlitPort<FLIT_BITS>(name, protocol, SP_UP, config) {
        SC_THREAD(serve);
    }

    // Requests that were carried out.
    uint64_t served() const { return served_; }

    SC_HAS_PROCESS(CxlMemInitiator);

private:
    void serve() {
        for (;;) {
            const auto request = this->end().take();
            this->take_events();
            if (!request) {
                wait(clocked_);
                continue;
            }
            const uint64_t life = life_;
            const std::string answer = carried_out(*request);
            ++served_;
            // A link that was reset in between knows nothing of the request.
            if (!answer.empty() && life == life_) {
                this->end().send(answer);
                this->take_events();
            }
        }
    }

    // Carries out a request; returns its answer, or nothing for a request that has none.
    std::string carried_out(const Form& request) {
        const std::string opcode = request.text("fields.opcode");
        const uint64_t tag = request.number("fields.tag");
        const uint64_t address = request.number("fields.address") / LINE_BYTES * LINE_BYTES;
        std::string fields = ",\"meta_field\":\"NoOp\"";
        if (this->has_ld_id()) fields += ",\"ld_id\":" + std::to_string(request.number("fields.ld_id"));
        else fields += ",\"dpid\":" + std::to_string(request.number("fields.spid"));
        const std::string done = this->form("s2m_ndr", tag, fields + ",\"opcode\":\"Cmp\"");

        if (opcode == "MemRd" || opcode == "MemRdData" || opcode == "MemRdFill") {
            Bytes data(LINE_BYTES);
            const tlm::tlm_response_status status = transport(tlm::TLM_READ_COMMAND, address, data, nullptr);
            const bool is_nowhere = status == tlm::TLM_ADDRESS_ERROR_RESPONSE && this->has_code_of_no_memory();
            if (status != tlm::TLM_OK_RESPONSE) data.assign(LINE_BYTES, 0xFF);
            fields += std::string(",\"opcode\":\"") + (is_nowhere ? "MemDataNXM\"" : "MemData\"");
            const bool is_poisoned = poisoned_.count(address) != 0 || (status != tlm::TLM_OK_RESPONSE && !is_nowhere);
            fields += std::string(",\"poison\":") + (is_poisoned ? "1" : "0");
            return this->form("s2m_drs", tag, fields, ",\"data\":\"" + detail::hex(data.data(), LINE_BYTES) + "\"");
        }
        if (opcode == "MemWr" || opcode == "MemWrPtl") {
            Bytes data = detail::bytes_of(request.text("data"));
            data.resize(LINE_BYTES);
            Bytes enabled(LINE_BYTES, TLM_BYTE_ENABLED);
            const uint64_t enables = opcode == "MemWr" || !request.has("be") ? ~uint64_t{0} : request.number("be");
            for (unsigned n = 0; n < LINE_BYTES; ++n)
                if (!(enables >> n & 1)) enabled[n] = TLM_BYTE_DISABLED;
            const bool whole = enables == ~uint64_t{0};
            // TLM has no poison, so it is kept here.
            if (request.number("fields.poison") != 0) poisoned_.insert(address);
            else if (whole) poisoned_.erase(address);
            const tlm::tlm_response_status status = transport(tlm::TLM_WRITE_COMMAND, address, data, whole ? nullptr : &enabled);
            if (status != tlm::TLM_OK_RESPONSE)
                warn("line " + detail::hex(address) + ", tag " + std::to_string(tag) +
                     ": found an error of the memory, expected that it writes");
            return done;
        }
        return opcode == "MemInv" || opcode == "MemInvNT" ? done : "";
    }

    tlm::tlm_response_status transport(tlm::tlm_command command, uint64_t address, Bytes& data, Bytes* enabled) {
        tlm::tlm_generic_payload transaction;
        transaction.set_command(command);
        transaction.set_address(address);
        transaction.set_data_ptr(data.data());
        transaction.set_data_length(LINE_BYTES);
        transaction.set_streaming_width(LINE_BYTES);
        transaction.set_byte_enable_ptr(enabled ? enabled->data() : nullptr);
        transaction.set_byte_enable_length(enabled ? LINE_BYTES : 0);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(transaction, delay);
        wait(delay);
        return transaction.get_response_status();
    }

    void on_step() override { clocked_.notify(); }
    void on_broken(const Event& event) override { warn(event.text); }
    void on_failed(const std::string& why) override {
        ++life_;
        warn(why);
    }
    void warn(const std::string& text) { SC_REPORT_WARNING("/scalepool/cxl_mem", (std::string(this->name()) + ": " + text).c_str()); }
    using sc_core::sc_module::wait;

    sc_core::sc_event clocked_;
    // Lines that were written with poison and not written as a whole since.
    std::set<uint64_t> poisoned_;
    uint64_t served_ = 0;
    // How often the link began anew.
    uint64_t life_ = 0;
};

}  // namespace scalepool

#endif  // SCALEPOOL_TLM_H
