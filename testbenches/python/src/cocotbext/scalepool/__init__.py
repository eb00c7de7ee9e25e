"""CXL, UALink and NVLink-like flits for cocotb, on the bit-accurate model of scalepool.

Without a simulator:

* `encode`, `decode` convert a message from fields to bytes and back; `encode_many`, `decode_many` convert many in one call
* `flit` encodes and decodes whole flits, one (`flit.decode`) or a stream (`flit.Decoder`)
* `crc`, `crc_many`, `fec_encode`, `fec_correct` compute checksums and FEC
* `Arbiter` grants requesters, slot by slot
* `System` is a simulated system; `LinkEnd` is one end of a link, to run beside your RTL; `hooks` has what callbacks at their
  hook points see and answer
* `CxlMemHost` and `CxlMemDevice` are both ends of CXL.mem as calls, `await host.read(address, 64)`, `UalRequester` and
  `UalCompleter` both ends of UALink, `NvlRequester` and `NvlCompleter` of NVLink, `CxlCacheDevice` and `CxlHome` of CXL.cache, and
  `CxlIoRoot` is a root complex of CXL.io: on the ends of a `LinkPair`, in the place of a
  component of a system with `SystemLink`, or in a cocotb test on a `CxlLinkPartner`, `UalLinkPartner` or `NvlLinkPartner`

In a cocotb test, for an interface of valid, ready and data, with names as in cocotbext-axi; `Ual..` and `Nvl..` are the
same for UALink and NVLink:

* `CxlFlitBus` has the signals of an interface: `CxlFlitBus.from_prefix(dut, "s_flit")`
* `CxlFlitSource` and `CxlFlitSink` drive and accept flits, with queues, pause generators and faults
* `CxlFlitMonitor` watches an interface, decodes its flits and reports broken rules; it never drives a signal
* `CxlFlitScoreboard` compares the flits that a monitor sees with those that are expected
* `CxlLinkPartner` is the model's end of a link on two interfaces, active or passive
* `AxiStreamBus`, `CreditedFlitBus`, `StateFlitBus` and `Flit68Bus` stand in the place of a `FlitBus` where a core has such an interface

A call that the library refuses raises a `ScalepoolError`; an argument of the wrong type raises a `TypeError`.
"""

import importlib.metadata

from . import flit, hooks
from .agents import FlitSink, FlitSource, bit_flips, random_pauses
from .arbiter import Arbiter, ArbiterKind
from .bridge import Bridge, BridgeEvent, BridgeFinding, BridgePoint, BridgeScoreboard
from .bus import FlitBus
from .check import Crc, Fec, crc, crc_many, fec_correct, fec_encode
from .cxl_cache import CxlCacheDevice
from .cxl_home import CxlHome
from .cxl_io import CxlIoRoot, IoDvsec, IoFunction, IoRegion
from .cxl_mem import CxlMemDevice, CxlMemHost
from .errors import (
    AnswerTimeoutError,
    BusyError,
    ComparisonError,
    HandleError,
    InputError,
    InternalError,
    KindError,
    LibraryError,
    NoMemoryError,
    PoisonError,
    RangeError,
    RuleError,
    ScalepoolError,
    TransactionError,
)
from .flit import Decoder, Encoder, Flit
from .interfaces import AxiStreamBus, CreditedFlitBus, Flit68Bus, JoinedSignal, ReorderedSignal, StateFlitBus, striped
from .lines import LineMemory, MemoryLines
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
from .model import Event, LinkEnd, Sample, SeenMessage, System
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
from .nvlink import NvlCompleter, NvlRequester
from .partner import LinkPartner
from .stepped import LinkPair, PairedEnd, SteppedLink, SystemLink, Waitable
from .ualink import UalCompleter, UalRequester

try:
    __version__ = importlib.metadata.version("cocotbext-scalepool")
except importlib.metadata.PackageNotFoundError:
    # Beside its sources the package is not installed, and has no version but theirs.
    __version__ = "0"

__all__ = [
    "__version__",
    "AnswerTimeoutError",
    "Arbiter",
    "ArbiterKind",
    "AxiStreamBus",
    "Bridge",
    "BridgeEvent",
    "BridgeFinding",
    "BridgePoint",
    "BridgeScoreboard",
    "BusyError",
    "ComparisonError",
    "Crc",
    "CreditedFlitBus",
    "CxlCacheDevice",
    "CxlFlitBus",
    "CxlFlitMonitor",
    "CxlFlitScoreboard",
    "CxlFlitSink",
    "CxlFlitSource",
    "CxlHome",
    "CxlIoRoot",
    "CxlLinkPartner",
    "CxlMemDevice",
    "CxlMemHost",
    "Decoder",
    "Encoder",
    "Event",
    "Fec",
    "Field",
    "Finding",
    "Flit",
    "Flit68Bus",
    "FlitBus",
    "FlitMonitor",
    "FlitScoreboard",
    "FlitSink",
    "FlitSource",
    "HandleError",
    "InputError",
    "InternalError",
    "IoDvsec",
    "IoFunction",
    "IoRegion",
    "JoinedSignal",
    "KindError",
    "Layout",
    "LibraryError",
    "LineMemory",
    "LinkEnd",
    "LinkPair",
    "LinkPartner",
    "MemoryLines",
    "Message",
    "NoMemoryError",
    "NvlCompleter",
    "NvlFlitBus",
    "NvlFlitMonitor",
    "NvlFlitScoreboard",
    "NvlFlitSink",
    "NvlFlitSource",
    "NvlLinkPartner",
    "NvlRequester",
    "PairedEnd",
    "PoisonError",
    "RangeError",
    "ReorderedSignal",
    "RuleError",
    "Sample",
    "ScalepoolError",
    "SeenMessage",
    "StateFlitBus",
    "SteppedLink",
    "System",
    "SystemLink",
    "TransactionError",
    "UalCompleter",
    "UalFlitBus",
    "UalFlitMonitor",
    "UalFlitScoreboard",
    "UalFlitSink",
    "UalFlitSource",
    "UalLinkPartner",
    "UalRequester",
    "Violation",
    "Waitable",
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
    "striped",
]
