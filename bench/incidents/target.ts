/**
 * Target and receiver of the incident benchmark, a process of its own. It answers `/m/<monitor>` well until it is told to fail
 * some, takes webhooks at `/hook`, and notes when each monitor was first found failing and when its webhook came. Prints its
 * port, then answers lines on standard input: `fail <from> <to>` forgets what it noted and fails those, from the first to
 * before the last, `report` says what it noted.
 */
export {};

let failing = { from: 0, to: 0 };
let failedAtMs: Record<string, number> = {};
let toldAtMs: Record<string, number> = {};

/** With its fractions: the clock of the processes that are compared. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/hook") {
      const { type, data }: { type: string; data: { monitor: { name: string } | null } } = JSON.parse(
        await request.text(),
      );
      if (type === "incident.opened" && data.monitor !== null) toldAtMs[data.monitor.name] ??= nowMs();
      return new Response(null, { status: 204 });
    }
    const monitor = pathname.slice("/m/".length);
    if (Number(monitor) < failing.from || Number(monitor) >= failing.to) return new Response("welcome");
    failedAtMs[monitor] ??= nowMs();
    return new Response("out of order", { status: 503 });
  },
});
process.stdout.write(`${server.port}\n`);
for await (const line of console) {
  const [command, from, to] = line.split(" ");
  if (command === "fail") {
    failing = { from: Number(from), to: Number(to) };
    failedAtMs = {};
    toldAtMs = {};
    process.stdout.write("\n");
  } else {
    process.stdout.write(`${JSON.stringify({ failedAtMs, toldAtMs })}\n`);
  }
}
// Whoever started it has ended it, or died.
await server.stop(true);
