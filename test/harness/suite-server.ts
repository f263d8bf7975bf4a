import { type ServerProcess, startServer } from "./server-process.ts";
import { openTestStores } from "./stores.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/**
 * The real program over databases of its own in the engines that all suites share, which starts in a third of the time that
 * engines of its own take; for suites that neither kill it nor look at what it stores where. What stops it removes all of it.
 */
export async function startSuiteServer(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const stores = await openTestStores();
  const directory = temporaryDirectory();
  const server = await startServer({
    dataDirectory: directory.path,
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
