import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CliUser, spawnCli } from "./cli-process.ts";
import { countsOf, differences } from "./found-lines.ts";

const SERVICE = "steady";
const BATCH_ENTRIES = 5;
const BATCH_INTERVAL_MS = 10;
const LINES_BETWEEN_KILLS = 100;

let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;
let user: CliUser;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startServer({ dataDirectory: join(directory.path, "data") });
  token = await makeToken(server.url);
  user = { directory: directory.path, env: { OBS_URL: server.url, OBS_TOKEN: token } };
});

afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

/** Sends numbered lines until it is aborted, each batch again until it is acknowledged. */
function startIngest(signal: AbortSignal): { sent: string[]; ended: Promise<void> } {
  const sent: string[] = [];
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const lines = Array.from({ length: BATCH_ENTRIES }, (_, i) => `line ${sent.length + i}`);
      const body = JSON.stringify(
        lines.map((message) => ({ message, service: SERVICE, event_id: `steady-${message}` })),
      );
      await eventually(`an acknowledgement of ${lines[0]}`, () => isAccepted(body));
      sent.push(...lines);
      await Bun.sleep(BATCH_INTERVAL_MS);
    }
  };
  return { sent, ended: run() };
}

async function isAccepted(body: string): Promise<boolean> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return fetch(`${server.url}/api/v1/logs/ingest`, { method: "POST", headers, body }).then(
    ({ status }) => status === 202,
    () => false,
  );
}

/** Collects a stream's text while the test does something else. */
function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  })();
  return () => text;
}

test("a tail shows each line once although the server is killed and started again under a steady flow", async () => {
  const tail = spawnCli(user, ["tail", "--json", "--service", SERVICE]);
  const [output, notices] = [collect(tail.stdout), collect(tail.stderr)];
  await eventually("an open tail", async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return /tail_streams[^\n]* 1\n/.test(metrics);
  });
  const stop = new AbortController();
  const { sent, ended } = startIngest(stop.signal);
  for (let kill = 1; kill <= 2; kill++) {
    await eventually("lines in the tail", () => output().split("\n").length > kill * LINES_BETWEEN_KILLS);
    server.kill("SIGKILL");
    await server.exited;
    server = await startServer({ dataDirectory: join(directory.path, "data"), port: server.port });
    await eventually("the tail to resume", () => notices().split("has resumed").length > kill);
  }
  const before = sent.length;
  await eventually("lines after the last restart", () => sent.length > before + LINES_BETWEEN_KILLS);
  stop.abort();
  await ended;
  await eventually("the last line", () => output().includes(`"line ${sent.length - 1}"`));
  tail.kill("SIGINT");
  expect(await tail.exited).toBe(130);
  const shown = output()
    .trimEnd()
    .split("\n")
    .map((line): string => JSON.parse(line).message);
  expect(differences(countsOf(sent), countsOf(shown))).toEqual([]);
  expect(notices()).not.toContain("left out");
});
