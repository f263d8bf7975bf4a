import type { BenchServer } from "./server.ts";

const PROBE_INTERVAL_MS = 200;
const POLL_INTERVAL_MS = 10;
const GIVE_UP_MS = 10_000;

/** Time from an acknowledgement until a search finds the entry, in milliseconds, sorted. */
export async function probeVisibility(server: BenchServer, stop: AbortSignal): Promise<number[]> {
  const timesMs: number[] = [];
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  while (!stop.aborted) {
    const word = `probe${crypto.randomUUID().replaceAll("-", "")}`;
    const response = await fetch(`${server.url}/api/v1/logs/ingest`, {
      method: "POST",
      headers,
      body: JSON.stringify({ message: word }),
    });
    if (response.status !== 202) throw new Error(`a probe was answered with ${response.status}`);
    const acknowledgedAt = performance.now();
    timesMs.push(await untilFound(server.url, word, headers, acknowledgedAt));
    await Bun.sleep(PROBE_INTERVAL_MS);
  }
  return timesMs.sort((a, b) => a - b);
}

async function untilFound(
  url: string,
  word: string,
  headers: Record<string, string>,
  acknowledgedAt: number,
): Promise<number> {
  const from = new Date(Date.now() - 60_000).toISOString();
  for (;;) {
    const response = await fetch(`${url}/api/v1/logs/search?q=${word}&from=${from}&limit=1`, { headers });
    const elapsedMs = performance.now() - acknowledgedAt;
    if ((await response.text()).includes(word)) return elapsedMs;
    if (elapsedMs > GIVE_UP_MS) throw new Error("an acknowledged entry was not found within 10 s");
    await Bun.sleep(POLL_INTERVAL_MS);
  }
}
