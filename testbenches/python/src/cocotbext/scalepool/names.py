"""The classes by their names: `Cxl..`, `Ual..` and `Nvl..`. They differ in the protocol that is taken when none is named.

Those of CXL take `protocol=`: `cxl-68b` (the default), `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr` or `cxl-io`.
"""

from .agents import FlitSink, FlitSource
from .bus import FlitBus
from .monitor import FlitMonitor, FlitScoreboard
from .partner import LinkPartner


class CxlFlitBus(FlitBus):
    """Signals of a flit interface of CXL: `from_prefix(dut, "s_flit")`."""


class CxlFlitSource(FlitSource):
    """Drives flits of CXL; `FlitSource` says how."""

    default_protocol = "cxl-68b"


class CxlFlitSink(FlitSink):
    """Takes flits of CXL; `FlitSink` says how."""

    default_protocol = "cxl-68b"


class CxlFlitMonitor(FlitMonitor):
    """Watches, decodes and checks flits of CXL; `FlitMonitor` says how."""

    default_protocol = "cxl-68b"


class CxlFlitScoreboard(FlitScoreboard):
    """Compares flits of CXL with those that are expected; `FlitScoreboard` says how."""


class CxlLinkPartner(LinkPartner):
    """The model's end of a link of CXL; `LinkPartner` says how."""

    default_protocol = "cxl-68b"


class UalFlitBus(FlitBus):
    """Signals of a flit interface of UALink: `from_prefix(dut, "s_flit")`."""


class UalFlitSource(FlitSource):
    """Drives flits of UALink; `FlitSource` says how."""

    default_protocol = "ualink"


class UalFlitSink(FlitSink):
    """Takes flits of UALink; `FlitSink` says how."""

    default_protocol = "ualink"


class UalFlitMonitor(FlitMonitor):
    """Watches, decodes and checks flits of UALink; `FlitMonitor` says how."""

    default_protocol = "ualink"


class UalFlitScoreboard(FlitScoreboard):
    """Compares flits of UALink with those that are expected; `FlitScoreboard` says how."""


class UalLinkPartner(LinkPartner):
    """The model's end of a link of UALink; `LinkPartner` says how."""

    default_protocol = "ualink"


class NvlFlitBus(FlitBus):
    """Signals of a flit interface of the NVLink model: `from_prefix(dut, "s_flit")`."""


class NvlFlitSource(FlitSource):
    """Drives flits of the NVLink model; `FlitSource` says how."""

    default_protocol = "nvlink"


class NvlFlitSink(FlitSink):
    """Takes flits of the NVLink model; `FlitSink` says how."""

    default_protocol = "nvlink"


class NvlFlitMonitor(FlitMonitor):
    """Watches, decodes and checks flits of the NVLink model; `FlitMonitor` says how."""

    default_protocol = "nvlink"


class NvlFlitScoreboard(FlitScoreboard):
    """Compares flits of the NVLink model with those that are expected; `FlitScoreboard` says how."""


class NvlLinkPartner(LinkPartner):
    """The model's end of a link of the NVLink model; `LinkPartner` says how."""

    default_protocol = "nvlink"
