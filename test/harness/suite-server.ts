import { type ServerProcess, startServer } from "./server-process.ts";
import { openTestStores } from "./stores.ts";
import { sweepAfterwards, temporaryDirectory } from "./temporary-directory.ts";

/** Bun runs every test file in one process; what the files share hangs on the process, under a name nobody else takes. */
const KEY: unique symbol = Symbol.for("obs.test.shared-server");
const registry: typeof globalThis & { [KEY]?: Promise<SharedServer> } = globalThis;

/** What all suites of a process use; therefore nobody may stop it, nor look at what it says. */
export type SharedServer = Pick<ServerProcess, "url">;

interface SuiteServerOptions {
  /** A free one by default. */
  readonly port?: number;
}

/**
 * The real program over databases of its own in the engines that all suites share, which starts in half of the time that
 * engines of its own take; for suites that neither kill it nor look at what it stores where. What stops it removes all of it.
 */
export async function startSuiteServer(
  env: Readonly<Record<string, string>> = {},
  { port }: SuiteServerOptions = {},
): Promise<ServerProcess> {
  const stores = await openTestStores();
  const directory = temporaryDirectory();
  const server = await startServer({
    dataDirectory: directory.path,
    ...(port !== undefined && { port }),
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl, ...env },
  });
  return {
    ...server,
    stop: async () => {
      const code = await server.stop();
      await stores.close();
      directory[Symbol.dispose]();
      return code;
    },
  };
}

/**
 * The real program, started once for all suites that ask for it here and ended with the process: for suites that see
 * nothing but their own organisations, by tokens they make, count on no id and leave no work behind that goes on.
 */
export function sharedServer(): Promise<SharedServer> {
  registry[KEY] ??= startShared();
  return registry[KEY];
}

async function startShared(): Promise<SharedServer> {
  const stores = await openTestStores();
  const directory = temporaryDirectory();
  const { url, pid } = await startServer({
    dataDirectory: directory.path,
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });
  sweepAfterwards(directory.path, pid);
  return { url };
}
