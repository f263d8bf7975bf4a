/** A server that the recipes of docs/shippers.md are run against, as written but for addresses and the token. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeTenant } from "../../domains/logs/tail/tail-server.ts";
import { eventually } from "../../harness/eventually.ts";
import { serverPort } from "../../harness/server-port.ts";
import { type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const ROOT = join(import.meta.dir, "../../..");
const RECIPES = readFileSync(join(ROOT, "docs/shippers.md"), "utf8");
const DOCUMENTED_SYSLOG_PORT = "5514";
const DOCUMENTED_GELF_PORT = "12201";
/** Some senders have times of whole seconds. */
const SECOND_MS = 1000;

export type Entry = Readonly<Record<string, unknown>>;

export interface RecipeServer {
  readonly url: string;
  readonly token: string;
  /** A code block of the document by the word behind its language, with this server's address and token. */
  recipe(name: string): string;
  /** Waits until there is an entry with this message. */
  arrived(message: string): Promise<unknown>;
  /** The entry with this message: the only one, of a time since then. */
  entry(message: string, sinceMs: number): Promise<Entry>;
  close(): Promise<void>;
}

export async function startRecipeServer(): Promise<RecipeServer> {
  const stores = await openTestStores();
  const directory = temporaryDirectory();
  const { token } = await makeTenant(stores, ["logs:write", "logs:read", "sources:write"]);
  const [syslogPort, gelfPort] = [await serverPort(), await serverPort()];
  const server = await startServer({
    dataDirectory: directory.path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      SYSLOG_TCP_PORT: String(syslogPort),
      SYSLOG_TOKEN: token,
      GELF_UDP_PORT: String(gelfPort),
      GELF_TOKEN: token,
      OTLP_PROTOBUF: "1",
    },
  });
  const entries = (message: string) => entriesWith(server, token, message);
  const arrived = (message: string) =>
    eventually(`an entry with ${message}`, async () => (await entries(message)).length > 0);
  return {
    url: server.url,
    token,
    recipe: (name) =>
      codeBlock(name)
        .replaceAll("http://127.0.0.1:8080", server.url)
        .replaceAll("port: 8080", `port: ${server.port}`)
        .replaceAll(DOCUMENTED_SYSLOG_PORT, String(syslogPort))
        .replaceAll(DOCUMENTED_GELF_PORT, String(gelfPort))
        .replaceAll("obs_YOUR_TOKEN", token),
    arrived,
    entry: async (message, sinceMs) => {
      await arrived(message);
      const found = await entries(message);
      expect(found.map((entry) => entry.message)).toEqual([message]);
      const [entry = {}] = found;
      const time = Date.parse(String(entry.ts));
      expect(time).toBeGreaterThanOrEqual(Math.floor(sinceMs / SECOND_MS) * SECOND_MS);
      expect(time).toBeLessThanOrEqual(Date.parse(String(entry.receivedAt)) + 1);
      return entry;
    },
    close: async () => {
      await server.stop();
      await stores.close();
      directory[Symbol.dispose]();
    },
  };
}

function codeBlock(name: string): string {
  const block = new RegExp(`^\`\`\`\\w+ ${name}\\n([^]*?)^\`\`\``, "m").exec(RECIPES);
  if (block?.[1] === undefined) throw new Error(`docs/shippers.md has no recipe ${name}`);
  return block[1];
}

async function entriesWith(server: ServerProcess, token: string, message: string): Promise<readonly Entry[]> {
  const address = `${server.url}/api/v1/logs/search?q=${encodeURIComponent(`"${message}"`)}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  const body: { entries: Entry[] } = JSON.parse(await response.text());
  return body.entries;
}

/** Runs a sender to its end, by default where Node finds the repository's packages. */
export async function run(
  command: readonly string[],
  { directory = ROOT, env = {} }: { directory?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`ended with ${code}: ${output}${errors}`);
}
