import { INTERACTIVE_BUDGET, NO_LIBRARY } from "../../../query/index.ts";
import { Admission } from "../../../src/concurrency/admission.ts";
import { kqlFunctionRoutes } from "../../../src/domains/kql-functions/routes.ts";
import { kqlTableRoutes } from "../../../src/domains/kql-tables/routes.ts";
import { logReadRoutes } from "../../../src/domains/logs/read-routes.ts";
import { savedSearchRoutes } from "../../../src/domains/saved-searches/routes.ts";
import { ExternalFiles } from "../../../src/kql/kept/external-files.ts";
import { KeptDirectory } from "../../../src/kql/kept/kept-directory.ts";
import { KeptRows } from "../../../src/kql/kept/kept-rows.ts";
import { createLogger } from "../../../src/log.ts";
import { createGuardedFetch } from "../../../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import type { TestStores } from "../../harness/stores.ts";

interface Choices {
  readonly hosts?: readonly string[];
  readonly allow?: readonly string[];
  readonly now?: () => number;
}

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** One instance of a server with all that organisations keep for their queries, over a suite's stores. */
export function keptApp(stores: TestStores, { hosts = [], allow = [], now = Date.now }: Choices = {}) {
  const { postgres: sql, clickhouse } = stores;
  const kept = new KeptDirectory({ sql, now, log: createLogger("silent") });
  const keptRows = new KeptRows({ sql, clickhouse, now });
  const externals = new ExternalFiles({
    hosts,
    fetch: createGuardedFetch(new OutboundPolicy({ allow, allowPrivate: false })),
    rows: keptRows,
    admission: new Admission({ what: "a file", dependency: "externaldata", maxRunning: 2, maxWaiting: 4 }),
    now,
  });
  const routes = [
    ...kqlFunctionRoutes({ sql, kept }),
    ...kqlTableRoutes({ sql, kept, keptRows }),
    ...savedSearchRoutes({ sql }),
    ...logReadRoutes({
      ranges: logRanges(stores),
      budget: INTERACTIVE_BUDGET,
      cursorKey: new Uint8Array(32),
      ...{ now, kept, externals, library: NO_LIBRARY },
    }),
  ];
  const app = testApp(routes, { ledger: testLedger(sql) });
  const answered = async (response: Response): Promise<Answered> => {
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  const memberOf = (organization: number) => `member/*/1/${organization}`;
  return {
    externals,
    keptRows,
    send: async (organization: number, method: string, path: string, json?: unknown): Promise<Answered> =>
      answered(
        await app.send(method, `/api/v1${path}`, {
          as: memberOf(organization),
          ...(json !== undefined && { json }),
        }),
      ),
    upload: async (
      organization: number,
      name: string,
      csv: string | Uint8Array<ArrayBuffer>,
      query = "",
      headers: Record<string, string> = {},
    ): Promise<Answered> =>
      answered(
        await app.send("PUT", `/api/v1/kql/tables/${name}${query}`, {
          as: memberOf(organization),
          headers: { "content-type": "text/csv", ...headers },
          body: csv,
        }),
      ),
    query: async (organization: number, query: string): Promise<Answered> =>
      answered(await app.send("POST", "/api/v1/logs/query", { as: memberOf(organization), json: { query } })),
  };
}

export async function makeOrganization({ postgres }: TestStores, name: string): Promise<number> {
  const [row] = await postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES (${name}, now()) RETURNING id`;
  return row?.id ?? 0;
}
