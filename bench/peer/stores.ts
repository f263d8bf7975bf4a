import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBenchServer } from "../ingest/server.ts";

/** A question as the peer is asked it, in its own language, and as we are. */
export interface Question {
  readonly name: string;
  readonly ours: OurQuestion;
  readonly peers: PeerQuestion;
}

type OurQuestion =
  | { readonly path: string }
  /** KQL. */
  | { readonly kql: string };

/** Path and parameters of the peer's API. */
interface PeerQuestion {
  readonly path: "query" | "hits";
  readonly parameters: Readonly<Record<string, string>>;
}

/** A store that is loaded and then asked. */
export interface PeerStore {
  readonly name: string;
  readonly pid: number;
  readonly ingestUrl: string;
  /** The value of the header, or empty. */
  readonly authorization: string;
  readonly dataDirectory: string;
  /** Resolves when so many rows are stored. */
  untilStored(rows: number): Promise<void>;
  /** The text of the answer; throws when there is none. */
  ask(question: Question): Promise<string>;
  stop(): Promise<void>;
}

export async function startOurs(): Promise<PeerStore> {
  const server = await startBenchServer();
  const authorization = `Bearer ${server.token}`;
  return {
    name: "obs",
    pid: server.pid,
    ingestUrl: `${server.url}/api/v1/logs/ingest`,
    authorization,
    dataDirectory: server.dataDirectory,
    untilStored: async (rows) => {
      while ((await server.metric("obs_insert_rows_total")) < rows) await Bun.sleep(20);
    },
    ask: async ({ ours }) =>
      "kql" in ours
        ? textOf(
            await fetch(`${server.url}/api/v1/logs/query`, {
              method: "POST",
              headers: { authorization, "content-type": "application/json" },
              body: JSON.stringify({ query: ours.kql }),
            }),
          )
        : textOf(await fetch(server.url + ours.path, { headers: { authorization } })),
    stop: async () => {
      await server.stop();
      rmSync(server.dataDirectory, { recursive: true, force: true });
    },
  };
}

const PEER_START_TIMEOUT_MS = 30_000;

/** VictoriaLogs on an empty folder. */
export async function startPeer(binary: string): Promise<PeerStore> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "obs-bench-peer-"));
  const port = 20_000 + (process.pid % 20_000);
  const child = Bun.spawn(
    [
      binary,
      `-storageDataPath=${dataDirectory}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      "-retentionPeriod=30d",
    ],
    { stdout: "ignore", stderr: "ignore" },
  );
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + PEER_START_TIMEOUT_MS;
  while (!(await isUp(`${url}/health`))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${binary} does not start`);
    await Bun.sleep(50);
  }
  const fields = new URLSearchParams({ _stream_fields: "service", _time_field: "ts", _msg_field: "message" });
  const ask = async (path: string, parameters: Readonly<Record<string, string>>): Promise<string> =>
    textOf(
      await fetch(`${url}/select/logsql/${path}`, { method: "POST", body: new URLSearchParams(parameters) }),
    );
  return {
    name: "VictoriaLogs",
    pid: child.pid,
    ingestUrl: `${url}/insert/jsonline?${fields}`,
    authorization: "",
    dataDirectory,
    untilStored: async (rows) => {
      while (Number(JSON.parse(await ask("query", { query: "* | stats count() n" })).n) < rows)
        await Bun.sleep(20);
    },
    ask: ({ peers }) => ask(peers.path, peers.parameters),
    stop: async () => {
      child.kill();
      await child.exited;
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function isUp(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text;
}
