"""Software configures a running bridge by its registers: an accelerator outside writes windows, groups and rights into the control window, over
UALink flit by flit, commits them, and finds memory where they lead. Places and codes are those of docs/reference/registers.md, written out."""

import logging
import struct
import unittest

import cocotbext.scalepool as sp

# The loop of these tests tells how long each step takes, which is a matter of the machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)

MIB = 1 << 20
CONTROL = 1 << 32
OWN, BRIDGE = 0, 1
SYSTEM = f"""
format = 1

[system]
name = "configured"
about = "an accelerator configures the bridge before it"

[clock]
accel = {{ period = "640 ps" }}
bridge = {{ period = "1 ns" }}

[component]
accel = {{ kind = "ualink.accelerator", clock = "accel", external = "flits" }}
bridge = {{ kind = "bridge.ualink", clock = "bridge", control = {CONTROL:#x}, windows = [{{ base = "0", size = "4 MiB" }}], cache = {{ capacity = "4 KiB", ways = 2, ecc = "secded" }} }}
memory = {{ kind = "memory.node", clock = "bridge", ports = 1, size = "64 MiB" }}

[link]
x = {{ kind = "ualink", between = [["accel.port[0]", "bridge.x[0]"]] }}
cxl = {{ kind = "cxl-256b-pbr", between = [["bridge.cxl[0]", "memory.cxl[0]"]] }}
"""
# Offsets in the control window.
OP, DONE, LOST = 0x00, 0x20, 0x30
COMMIT, STATUS, EPOCH, REFUSED, FLIP_ADDRESS, FLIPS = 0x48, 0x50, 0x58, 0x60, 0x68, 0x78
GROUPS, WINDOWS, WINDOW_STRIDE = 0x400, 0x800, 0x80
VALID, MN = 1, 1 << 4
ALL = 0xFFFF_FFFF_FFFF


def own_addresses(address, size):
    """Memory as it is at the beginning: each 8 bytes hold their own address."""
    return b"".join(at.to_bytes(8, "little") for at in range(address, address + size, 8))


class Registers(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.system = sp.System(SYSTEM)
        self.link = sp.SystemLink(self.system, "accel.port[0]", "ualink", "down", layer="tl", transactions="ualink")
        await self.link.__aenter__()
        self.addAsyncCleanup(self.link.__aexit__, None, None, None)
        self.accelerator = sp.UalRequester(self.link, accelerator=OWN)

    async def put(self, offset, *registers):
        await self.accelerator.write(BRIDGE, CONTROL + offset, struct.pack(f"<{len(registers)}Q", *registers))

    async def get(self, offset):
        return int.from_bytes(await self.accelerator.read(BRIDGE, CONTROL + offset, 8), "little")

    async def window(self, n, base, size, out_base, rights=ALL):
        await self.put(WINDOWS + WINDOW_STRIDE * n, base, size, out_base, VALID | MN, rights)

    async def test_a_window_leads_where_the_registers_say(self):
        read = lambda address: self.accelerator.read(BRIDGE, address, 64)  # noqa: E731
        # The description's window stands in the registers, and memory is there.
        shown = [await self.get(WINDOWS + offset) for offset in (0, 8, 0x10, 0x18, 0x20)]
        self.assertEqual(shown, [0, 4 * MIB, 0, VALID | MN, ALL])
        self.assertEqual(await read(0x1000), own_addresses(0x1000, 64))
        # A second one is there behind its commit, and not before.
        await self.window(1, 32 * MIB, 2 * MIB, 16 * MIB)
        with self.assertRaises(sp.NoMemoryError):
            await read(32 * MIB + 0x40)
        await self.put(COMMIT, 1)
        self.assertEqual(await read(32 * MIB + 0x40), own_addresses(16 * MIB + 0x40, 64))
        self.assertEqual((await self.get(EPOCH), await self.get(STATUS), await self.get(REFUSED)), (1, 0, 0))
        # It waited for its own response alone: some cycles, and not all of those before.
        self.assertIn(self.system.metrics()["counts"]["commit cycles"], range(1, 100))
        # Both windows at one address: refused, at window 1, and nothing changes.
        await self.window(1, 2 * MIB, 4 * MIB, 16 * MIB)
        await self.put(COMMIT, 1)
        self.assertEqual((await self.get(EPOCH), await self.get(STATUS), await self.get(REFUSED)), (1, 6 << 8 | 1 << 16, 1))
        self.assertEqual(await read(32 * MIB), own_addresses(16 * MIB, 64))

    async def test_a_group_may_do_what_its_rights_say(self):
        await self.accelerator.write(BRIDGE, 0, b"\x11" * 64)
        # This accelerator is of group 7, which may read and not write in window 0.
        await self.put(GROUPS, 7 << 4 * OWN)
        await self.put(WINDOWS + 0x20, ALL & ~(1 << 16 + 7) & ~(1 << 32 + 7))
        await self.put(COMMIT, 1)
        self.assertEqual(await self.accelerator.read(BRIDGE, 0, 64), b"\x11" * 64)
        with self.assertRaisesRegex(sp.TransactionError, "found status ProtectionViolation"):
            await self.accelerator.write(BRIDGE, 0, b"\x22" * 64)

    async def test_a_flush_and_an_invalidate_of_a_range(self):
        await self.accelerator.write(BRIDGE, 0, b"\x11" * 64)
        await self.put(OP, 1, 0, 64, 1)
        while not await self.get(DONE):
            pass
        await self.accelerator.write(BRIDGE, 0, b"\x22" * 64)
        await self.put(OP, 2, 0, 64, 1)
        self.assertEqual((await self.get(DONE), await self.get(LOST)), (1, 1))
        self.assertEqual(await self.accelerator.read(BRIDGE, 0, 64), b"\x11" * 64, "what was flushed, not what was lost")

    async def test_bits_of_the_cache_flip(self):
        await self.accelerator.write(BRIDGE, 0, b"\x11" * 64)
        await self.put(FLIP_ADDRESS, 0, 1 << 16 | 5)
        self.assertEqual(await self.accelerator.read(BRIDGE, 0, 64), b"\x11" * 64, "one is corrected")
        for bit in (8, 9):
            await self.put(FLIP_ADDRESS, 0, 1 << 16 | bit)
        await self.put(FLIP_ADDRESS, 0x2000, 1 << 16)
        self.assertEqual(await self.get(FLIPS), 1 << 32 | 3)
        with self.assertRaises(sp.PoisonError):
            await self.accelerator.read(BRIDGE, 0, 64)

    async def asyncTearDown(self):
        self.assertEqual((self.system.metrics()["violations"], self.link.events), ([], []))


if __name__ == "__main__":
    unittest.main()
