import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { INTERACTIVE_BUDGET } from "../../query/index.ts";
import { patient } from "../../src/concurrency/patience.ts";
import { checkAnswersOf } from "./checked-fetch.ts";
import { eventually } from "./eventually.ts";
import { serverPort } from "./server-port.ts";

const START_TIMEOUT_MS = 300_000;
const SECRET_KEY = Buffer.alloc(32, 7).toString("base64");
const MAIN = join(import.meta.dir, "../../src/main.ts");

interface ServerOptions {
  readonly dataDirectory: string;
  /** A free one by default; pass it on to start again under the same address. */
  readonly port?: number;
  /** Settings beside those above. */
  readonly env?: Readonly<Record<string, string>>;
  /** A script that runs in the server's process before the server does. */
  readonly preload?: string;
}

/** The real program in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What it has written to standard output and error so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code; 128 and more for a signal. */
  readonly exited: Promise<number>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number>;
}

/** Starts the server without waiting for it; ends with the test process in any case, because its engines do. */
export async function spawnServer(options: ServerOptions): Promise<ServerProcess> {
  const port = options.port ?? (await serverPort());
  const preload = options.preload === undefined ? [] : ["--preload", options.preload];
  // Settings of the tests, which the server would refuse.
  const { OBS_PROOF: _, OBS_SEED: __, ...environment } = process.env;
  const child = Bun.spawn([process.execPath, ...preload, MAIN], {
    env: {
      ...environment,
      LOG_LEVEL: "warn",
      RATE_LIMIT_INGEST_PER_MINUTE: "100000000",
      RATE_LIMIT_PER_MINUTE: "100000000",
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000",
      // As patient as this process is: tests are, benchmarks are not.
      TIMEOUT_FACTOR: String(patient(1)),
      QUERY_TIMEOUT_MS: String(patient(INTERACTIVE_BUDGET.maxExecutionMs)),
      // Nobody is to be sent elsewhere before a server stops.
      DRAIN_SECONDS: "0",
      // Instances that share a database share the key; a data directory of its own has its own.
      ...(options.env?.DATABASE_URL !== undefined && { SECRET_KEY }),
      ...options.env,
      PORT: String(port),
      OBS_DATA_DIR: options.dataDirectory,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
  };
  void collect(child.stdout);
  void collect(child.stderr);
  const url = `http://127.0.0.1:${port}`;
  checkAnswersOf(url);
  return {
    url,
    port,
    pid: child.pid,
    output: () => output,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    stop: () => {
      child.kill("SIGTERM");
      return child.exited;
    },
  };
}

/** Starts the server and resolves when it is ready. */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const server = await spawnServer(options);
  const deadline = performance.now() + START_TIMEOUT_MS;
  const ended = server.exited.then((code) => {
    throw new Error(`the server ended with ${code}: ${server.output()}`);
  });
  ended.catch(() => undefined);
  for (;;) {
    const ready = await Promise.race([isReady(server.url), ended]);
    if (ready) return server;
    if (performance.now() > deadline) {
      server.kill("SIGKILL");
      throw new Error(`the server is not ready: ${server.output()}`);
    }
    await Bun.sleep(25);
  }
}

export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    (response) => response.ok,
    () => false,
  );
}

/** The process of an embedded engine under a server, by a word of its command line; null when there is none. */
export function engineProcess(serverPid: number, word: "clickhouse" | "postgres"): number | null {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      if (parent === serverPid && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(word))
        return Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  return null;
}

/** Has the server take entries; once more where the stores of a busy machine answered too late. */
export async function ingestEntries(url: string, token: string, entries: unknown): Promise<void> {
  await eventually("the entries are taken", async () => {
    const response = await fetch(`${url}/api/v1/logs/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(entries),
    });
    const text = await response.text();
    if (response.status !== 202 && response.status !== 503)
      throw new Error(`ingest answered ${response.status}: ${text}`);
    return response.status === 202;
  });
}

/** Registers an account and makes a token with every scope; once more where the stores of a busy machine answered too late. */
export function makeToken(url: string): Promise<string> {
  return eventually("a token", () => tokenUnlessBusy(url));
}

async function tokenUnlessBusy(url: string): Promise<string | null> {
  const json = { "content-type": "application/json" };
  const registered = await fetch(`${url}/api/v1/auth/register`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: crypto.randomUUID() }),
  });
  if (registered.status === 503) return null;
  const cookie = registered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const minted = await fetch(`${url}/api/v1/me/tokens`, {
    method: "POST",
    headers: { ...json, cookie, origin: url },
    body: JSON.stringify({ name: "test" }),
  });
  if (minted.status === 503) return null;
  const body: unknown = await minted.json();
  if (typeof body === "object" && body !== null && "token" in body && typeof body.token === "string")
    return body.token;
  throw new Error(`no token: ${JSON.stringify(body)}`);
}
