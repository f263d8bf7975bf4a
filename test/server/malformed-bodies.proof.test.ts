/** Many thousand malformed requests to the ingest endpoint of the real program. */
import { expect, test } from "bun:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { proofRounds } from "../harness/proof.ts";
import { makeToken } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

const REQUESTS = proofRounds({ sample: 5_000, whole: 100_000 });
const WARM_UP_REQUESTS = REQUESTS / 5;
const CLIENTS = 32;
/** What a garbage collector may leave lying around between two looks. */
const MEMORY_SLACK_BYTES = 96 * 1024 * 1024;

const SEEDS = [
  '{"message":"hello","ts":"2026-01-01T00:00:00Z","level":"info","service":"api","attrs":{"a":[1,{"b":null}],"c":"\\u00e9"}}',
  '[{"message":"one","event_id":"x"},{"message":"two","host":"h","ts":1767225600000}]',
  '{"message":"漢字 😀 \\ud83d\\ude00","attrs":{"k":-1.5e3,"t":true}}',
];
const SCRAPS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  ",",
  ":",
  "\\u12",
  "\0",
  "1e",
  "-",
  "tru",
  '"message":',
  "{}",
  "[[",
  "\xff\xfe",
  "null",
];

/** The same bodies in every run: the mulberry32 generator. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function malformed(random: () => number): { body: Uint8Array<ArrayBuffer>; encoding: string | null } {
  let bytes = Buffer.from(SEEDS[Math.floor(random() * SEEDS.length)] ?? "", "utf8");
  for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
    const at = Math.floor(random() * bytes.length);
    const scrap = Buffer.from(SCRAPS[Math.floor(random() * SCRAPS.length)] ?? "", "latin1");
    const removed = Math.floor(random() * 4);
    bytes = Buffer.concat([bytes.subarray(0, at), scrap, bytes.subarray(at + removed)]);
  }
  if (random() < 0.05) bytes = Buffer.from("[".repeat(1 + Math.floor(random() * 5000)));
  const pack = random();
  if (pack < 0.85) return { body: Uint8Array.from(bytes), encoding: null };
  const packers = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["zstd", zstdCompressSync],
  ] as const;
  const [encoding, packWith] = packers[Math.floor(random() * packers.length)] ?? packers[0];
  const damaged = Uint8Array.from(packWith(bytes));
  if (random() < 0.7) damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
  return { body: damaged, encoding: pack < 0.97 ? encoding : "gzip" };
}

test("many thousand malformed bodies give no 5xx, no growth in memory, and the next good request is accepted", async () => {
  const server = await startSuiteServer({ LOG_LEVEL: "error" });
  const token = await makeToken(server.url);
  const random = seeded(7);
  const statuses = new Map<number, number>();
  const send = async (body: Uint8Array<ArrayBuffer>, encoding: string | null): Promise<number> => {
    const headers = new Headers({ authorization: `Bearer ${token}`, "content-type": "application/json" });
    if (encoding !== null) headers.set("content-encoding", encoding);
    const response = await fetch(`${server.url}/api/v1/logs/ingest`, { method: "POST", headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const sendMany = async (count: number): Promise<void> => {
    let left = count;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (left-- > 0) {
          const { body, encoding } = malformed(random);
          const status = await send(body, encoding);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
  };
  const residentBytes = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
  };
  await sendMany(WARM_UP_REQUESTS);
  const before = await residentBytes();
  await sendMany(REQUESTS - WARM_UP_REQUESTS);
  expect((await residentBytes()) - before).toBeLessThan(MEMORY_SLACK_BYTES);
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  expect(statuses.get(400)).toBeGreaterThan(REQUESTS / 2);
  expect(await send(Uint8Array.from(Buffer.from('{"message":"good"}')), null)).toBe(202);
  expect(await server.stop()).toBe(0);
});
