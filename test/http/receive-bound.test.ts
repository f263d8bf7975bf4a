import { dlopen, ptr } from "bun:ffi";
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { RECEIVED_AHEAD_BYTES } from "../../src/http/limits.ts";
import { descriptorsOf } from "../../src/http/listening-sockets.ts";
import { boundReceiving } from "../../src/http/receive-bound.ts";
import { listen } from "../../src/http/server.ts";
import { eventually } from "../harness/eventually.ts";
import { testApp } from "../harness/http-app.ts";

const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const ESTABLISHED = "01";

const listener = listen(testApp([]).app, { hostname: "127.0.0.1", port: 0 });
afterAll(() => listener.abort());

/** Connections to a port of this machine, at the side that was connected to, as the links of descriptors call them. */
function acceptedSockets(port: number): ReadonlySet<string> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const accepted = rows.filter(([, address, , state]) => address?.endsWith(local) && state === ESTABLISHED);
  return new Set(accepted.map((fields) => `socket:[${fields[9]}]`));
}

function receiveBufferOf(descriptor: number): number {
  const { symbols } = dlopen("libc.so.6", {
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  });
  const value = new Int32Array(1);
  const length = new Uint32Array([value.byteLength]);
  expect(symbols.getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, ptr(value), ptr(length))).toBe(0);
  return value[0] ?? 0;
}

test.skipIf(process.platform !== "linux")(
  "what the kernel takes of a connection before it is read is bounded",
  async () => {
    const socket = connect(listener.port, "127.0.0.1");
    try {
      const accepted = await eventually("the connection is accepted", () => {
        const [descriptor] = descriptorsOf(process.pid, acceptedSockets(listener.port));
        return descriptor ?? false;
      });
      // The kernel doubles what it is told, for its books.
      expect(receiveBufferOf(accepted)).toBe(2 * RECEIVED_AHEAD_BYTES);
    } finally {
      socket.destroy();
    }
  },
);

test("a port on which this process does not listen is no fault", async () => {
  const other = listen(testApp([]).app, { hostname: "127.0.0.1", port: 0 });
  await other.abort();
  expect(boundReceiving(other.port)).toBe(false);
});
