import { dlopen, ptr } from "bun:ffi";
import { RECEIVED_AHEAD_BYTES } from "./limits.ts";
import { descriptorsOf, listeningSockets } from "./listening-sockets.ts";

const SOL_SOCKET = 1;
const SO_RCVBUF = 8;

/**
 * Bounds what the kernel takes of each connection that is accepted on a port from now on, until the server reads it. In one
 * turn of its event loop the runtime reads whatever has come on all connections, also of bodies that were refused, and beyond
 * some 500 KB of one it asks for more: without a bound 100 MB at once, beside which nobody is answered. Linux only; false
 * where it could not be done.
 */
export function boundReceiving(port: number): boolean {
  const setOption = setsockopt();
  if (setOption === null) return false;
  const bytes = new Int32Array([RECEIVED_AHEAD_BYTES]);
  const listening = descriptorsOf(process.pid, listeningSockets(port));
  const isSet = (handle: number): boolean =>
    setOption(handle, SOL_SOCKET, SO_RCVBUF, ptr(bytes), bytes.byteLength) === 0;
  return listening.length > 0 && listening.every(isSet);
}

function setsockopt() {
  if (process.platform !== "linux") return null;
  try {
    return dlopen("libc.so.6", {
      setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    }).symbols.setsockopt;
  } catch {
    // Another C library, whose name is another.
    return null;
  }
}
