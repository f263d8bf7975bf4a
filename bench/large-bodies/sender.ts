/**
 * Who sends large bodies, a process of its own: makes the bodies of a case first, then sends them, each again after the
 * time it was told to wait, and prints how often each status was answered as one JSON line.
 * Arguments: url, token, case.
 */
import { caseOf } from "./cases.ts";

const [url = "", token = "", name = ""] = process.argv.slice(2);
/** Whoever is still told to wait gives up. */
const PATIENCE_MS = 120_000;

const { path, headers, body, count, atOnce } = caseOf(name);
const bodies = Array.from({ length: count }, (_, index) => new Blob([new Uint8Array(body(index))]));
const statuses: Record<string, number> = {};
const details = new Set<string>();
// The parent starts its clock when it reads this.
process.stdout.write(`ready ${JSON.stringify(bodies.map(({ size }) => size))}\n`);
for await (const _ of Bun.stdin.stream());
const startedAt = performance.now();
const waiting = bodies.entries();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const [index, bytes] of waiting) await sendUntilAnswered(bytes, index);
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${JSON.stringify({ statuses, seconds, details: [...details].slice(0, 1) })}\n`);

async function sendUntilAnswered(bytes: Blob, index: number): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}${path(token)}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers(index) },
      body: bytes,
    });
    const text = await response.text();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    if (response.status >= 300) details.add(text.slice(0, 80));
    const isAgain = response.status === 503 || response.status === 429;
    if (!isAgain || performance.now() - startedAt > PATIENCE_MS) return;
    await Bun.sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
  }
}
