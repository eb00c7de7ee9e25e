"""The classes of each protocol: `Cxl..`, `Ual..` and `Nvl..`. They differ in their default protocol only.

Those of CXL accept `protocol=`: `cxl-68b` (the default), `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr` or `cxl-io`.
"""

from .agents import FlitSink, FlitSource
from .bus import FlitBus
from .monitor import FlitMonitor, FlitScoreboard
from .partner import LinkPartner


class CxlFlitBus(FlitBus):
    """The signals of a CXL flit interface: `from_prefix(dut, "s_flit")`."""


class CxlFlitSource(FlitSource):
    """Drives CXL flits; see `FlitSource`."""

    default_protocol = "cxl-68b"


class CxlFlitSink(FlitSink):
    """Accepts CXL flits; see `FlitSink`."""

    default_protocol = "cxl-68b"


class CxlFlitMonitor(FlitMonitor):
    """Watches, decodes and checks CXL flits; see `FlitMonitor`."""

    default_protocol = "cxl-68b"


class CxlFlitScoreboard(FlitScoreboard):
    """Compares CXL flits with those that are expected; see `FlitScoreboard`."""


class CxlLinkPartner(LinkPartner):
    """The model's end of a CXL link; see `LinkPartner`."""

    default_protocol = "cxl-68b"


class UalFlitBus(FlitBus):
    """The signals of a UALink flit interface: `from_prefix(dut, "s_flit")`."""


class UalFlitSource(FlitSource):
    """Drives UALink flits; see `FlitSource`."""

    default_protocol = "ualink"


class UalFlitSink(FlitSink):
    """Accepts UALink flits; see `FlitSink`."""

    default_protocol = "ualink"


class UalFlitMonitor(FlitMonitor):
    """Watches, decodes and checks UALink flits; see `FlitMonitor`."""

    default_protocol = "ualink"


class UalFlitScoreboard(FlitScoreboard):
    """Compares UALink flits with those that are expected; see `FlitScoreboard`."""


class UalLinkPartner(LinkPartner):
    """The model's end of a UALink link; see `LinkPartner`."""

    default_protocol = "ualink"


class NvlFlitBus(FlitBus):
    """The signals of a flit interface of the NVLink model: `from_prefix(dut, "s_flit")`."""


class NvlFlitSource(FlitSource):
    """Drives flits of the NVLink model; see `FlitSource`."""

    default_protocol = "nvlink"


class NvlFlitSink(FlitSink):
    """Accepts flits of the NVLink model; see `FlitSink`."""

    default_protocol = "nvlink"


class NvlFlitMonitor(FlitMonitor):
    """Watches, decodes and checks flits of the NVLink model; see `FlitMonitor`."""

    default_protocol = "nvlink"


class NvlFlitScoreboard(FlitScoreboard):
    """Compares flits of the NVLink model with those that are expected; see `FlitScoreboard`."""


class NvlLinkPartner(LinkPartner):
    """One end of a link of the NVLink model; see `LinkPartner`."""

    default_protocol = "nvlink"
