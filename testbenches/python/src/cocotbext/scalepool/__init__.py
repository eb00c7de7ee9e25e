"""CXL, UALink and NVLink-like flits for cocotb, on the bit-accurate model of scalepool.

Without a simulator:

* `encode`, `decode`: messages, fields to bytes and back; `encode_many`, `decode_many` in one call
* `flit`: whole flits, one (`flit.decode`) or a stream (`flit.Decoder`)
* `crc`, `crc_many`, `fec_encode`, `fec_correct`: checksums
* `Arbiter`: grants, slot by slot
* `Model`: a simulated system; `LinkEnd`: one end of a link, to stand beside your RTL; `hooks`: functions at its points

In a cocotb test, for an interface of valid, ready and data, in the naming of cocotbext-axi; `Ual..` and `Nvl..` are the
same for UALink and NVLink:

* `CxlFlitBus`: the signals; `CxlFlitBus.from_prefix(dut, "s_flit")`
* `CxlFlitSource`, `CxlFlitSink`: drive and take flits, with queues, pause generators and faults
* `CxlFlitMonitor`: watches, decodes, says which rules are broken; never drives
* `CxlFlitScoreboard`: compares what a monitor sees with what is expected
* `CxlLinkPartner`: the model's end of the link on two interfaces, active or passive

What the model refuses is a `ScalepoolError`. A value of another type than the one that is asked for is a `TypeError`.
"""

from . import flit, hooks
from .agents import FlitSink, FlitSource, bit_flips, random_pauses
from .arbiter import Arbiter, ArbiterKind
from .bus import FlitBus
from .check import Crc, Fec, crc, crc_many, fec_correct, fec_encode
from .errors import (
    BusyError,
    ComparisonError,
    HandleError,
    InputError,
    InternalError,
    KindError,
    LibraryError,
    RangeError,
    ScalepoolError,
)
from .flit import Decoder, Encoder, Flit
from .message import (
    Field,
    Layout,
    Message,
    Violation,
    decode,
    decode_many,
    describe,
    encode,
    encode_many,
    layout,
    layouts,
)
from .model import Event, LinkEnd, Model, Sample
from .monitor import Finding, FlitMonitor, FlitScoreboard
from .names import (
    CxlFlitBus,
    CxlFlitMonitor,
    CxlFlitScoreboard,
    CxlFlitSink,
    CxlFlitSource,
    CxlLinkPartner,
    NvlFlitBus,
    NvlFlitMonitor,
    NvlFlitScoreboard,
    NvlFlitSink,
    NvlFlitSource,
    NvlLinkPartner,
    UalFlitBus,
    UalFlitMonitor,
    UalFlitScoreboard,
    UalFlitSink,
    UalFlitSource,
    UalLinkPartner,
)
from .partner import LinkPartner

__all__ = [
    "Arbiter",
    "ArbiterKind",
    "BusyError",
    "ComparisonError",
    "Crc",
    "CxlFlitBus",
    "CxlFlitMonitor",
    "CxlFlitScoreboard",
    "CxlFlitSink",
    "CxlFlitSource",
    "CxlLinkPartner",
    "Decoder",
    "Encoder",
    "Event",
    "Fec",
    "Field",
    "Finding",
    "Flit",
    "FlitBus",
    "FlitMonitor",
    "FlitScoreboard",
    "FlitSink",
    "FlitSource",
    "HandleError",
    "InputError",
    "InternalError",
    "KindError",
    "Layout",
    "LibraryError",
    "LinkEnd",
    "LinkPartner",
    "Message",
    "Model",
    "NvlFlitBus",
    "NvlFlitMonitor",
    "NvlFlitScoreboard",
    "NvlFlitSink",
    "NvlFlitSource",
    "NvlLinkPartner",
    "RangeError",
    "Sample",
    "ScalepoolError",
    "UalFlitBus",
    "UalFlitMonitor",
    "UalFlitScoreboard",
    "UalFlitSink",
    "UalFlitSource",
    "UalLinkPartner",
    "Violation",
    "bit_flips",
    "crc",
    "crc_many",
    "decode",
    "decode_many",
    "describe",
    "encode",
    "encode_many",
    "fec_correct",
    "fec_encode",
    "flit",
    "hooks",
    "layout",
    "layouts",
    "random_pauses",
]
