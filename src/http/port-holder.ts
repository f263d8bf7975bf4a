import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process by its id and the name of its program. */
interface PortHolder {
  readonly pid: number;
  readonly name: string;
}

/** The state of a listening socket in the kernel's table. */
const LISTENING = "0A";

/** Who listens on a TCP port of this machine; null where the system does not tell, as about processes of others. */
export function findPortHolder(port: number): PortHolder | null {
  const sockets = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)),
  );
  if (sockets.size === 0) return null;
  for (const pid of readable(() => readdirSync("/proc")).filter((name) => /^\d+$/.test(name))) {
    const directory = `/proc/${pid}/fd`;
    const holds = readable(() => readdirSync(directory)).some((descriptor) =>
      readable(() => [readlinkSync(`${directory}/${descriptor}`)]).some((target) => sockets.has(target)),
    );
    if (!holds) continue;
    const [name = "unknown"] = readable(() => [readFileSync(`/proc/${pid}/comm`, "utf8").trim()]);
    return { pid: Number(pid), name };
  }
  return null;
}

/** Sockets that listen on a port, as the links of a process' descriptors call them. */
function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readable(() => readFileSync(table, "utf8").split("\n").slice(1)).flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    return fields[1]?.endsWith(suffix) === true && fields[3] === LISTENING ? [`socket:[${fields[9]}]`] : [];
  });
}

/** Nothing where there is no such table, the process ended meanwhile, or it is another user's. */
function readable(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
