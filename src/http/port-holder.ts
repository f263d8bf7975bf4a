import { readFileSync } from "node:fs";
import { descriptorsOf, listeningSockets, processIds, readable } from "./listening-sockets.ts";

/** A process by its id and the name of its program. */
interface PortHolder {
  readonly pid: number;
  readonly name: string;
}

/** Who listens on a TCP port of this machine; null where the system does not tell, as about processes of others. */
export function findPortHolder(port: number): PortHolder | null {
  const sockets = listeningSockets(port);
  if (sockets.size === 0) return null;
  for (const pid of processIds()) {
    if (descriptorsOf(pid, sockets).length === 0) continue;
    const [name = "unknown"] = readable(() => [readFileSync(`/proc/${pid}/comm`, "utf8").trim()]);
    return { pid, name };
  }
  return null;
}
