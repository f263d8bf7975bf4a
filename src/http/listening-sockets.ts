import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The state of a listening socket in the kernel's table. */
const LISTENING = "0A";

/** Sockets that listen on a TCP port, as the links of a process' descriptors call them; none where the system does not tell. */
export function listeningSockets(port: number): ReadonlySet<string> {
  return new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)));
}

/** The descriptors that a process has of some sockets; none where the system does not tell. */
export function descriptorsOf(pid: number, sockets: ReadonlySet<string>): number[] {
  const directory = `/proc/${pid}/fd`;
  return readable(() => readdirSync(directory))
    .filter((descriptor) =>
      readable(() => [readlinkSync(`${directory}/${descriptor}`)]).some((target) => sockets.has(target)),
    )
    .map(Number);
}

/** The processes of this machine that can be seen. */
export function processIds(): number[] {
  return readable(() => readdirSync("/proc"))
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Nothing where there is no such file, the process ended meanwhile, or it is another user's. */
export function readable(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readable(() => readFileSync(table, "utf8").split("\n").slice(1)).flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    return fields[1]?.endsWith(suffix) === true && fields[3] === LISTENING ? [`socket:[${fields[9]}]`] : [];
  });
}
