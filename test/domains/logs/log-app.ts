import { logReadRoutes } from "../../../src/domains/logs/read-routes.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../harness/nothing-kept.ts";
import type { TestStores } from "../../harness/stores.ts";
import { byOrganization } from "./viewer-of-organization.ts";

export interface FoundEntry {
  id: string;
  ts: string;
  message: string;
  [field: string]: unknown;
}

export interface FoundPage {
  entries: FoundEntry[];
  nextCursor: string | null;
  total: number;
  totalIsExact: boolean;
  partial: boolean;
  warnings: { code: string; day: string | null; message: string }[];
  stats: {
    rowsRead: number;
    bytesRead: number;
    elapsedMs: number;
    archive: { files: number; rows: number; bytes: number };
  };
}

const LIMITS = {
  queryTimeoutMs: 15_000,
  queryMaxReadBytes: 2 ** 33,
  queryMaxMemoryBytes: 2 ** 30,
  queryMaxResultBytes: 2 ** 27,
};

export interface LogApp extends TestApp {
  /** GETs a path below `/api/v1/logs/` as a viewer of the organization. */
  readonly get: (
    organizationId: number,
    path: string,
    parameters?: Record<string, string>,
  ) => Promise<Response>;
  /** Runs a query as a viewer of the organization. */
  readonly query: (
    organizationId: number,
    body: { query: string; from?: string; to?: string },
    headers?: Record<string, string>,
  ) => Promise<Response>;
  /** Searches as a viewer of the organization; the parameters are encoded here. */
  readonly search: (organizationId: number, parameters?: Record<string, string>) => Promise<Response>;
  /** The answer of a search that succeeds. */
  readonly page: (organizationId: number, parameters?: Record<string, string>) => Promise<FoundPage>;
}

/** The search routes over a suite's stores. A caller's organization is the one that the header `x-organization` names. */
export function logApp(
  stores: Pick<TestStores, "clickhouseEndpoint" | "postgres">,
  limits: Partial<typeof LIMITS> = {},
  choices: Parameters<typeof logRanges>[1] = {},
): LogApp {
  const { queryTimeoutMs, queryMaxReadBytes, queryMaxMemoryBytes, queryMaxResultBytes } = {
    ...LIMITS,
    ...limits,
  };
  const routes = logReadRoutes({
    ranges: logRanges(stores, choices),
    cursorKey: new Uint8Array(32).fill(7),
    budget: {
      maxExecutionMs: queryTimeoutMs,
      maxReadBytes: queryMaxReadBytes,
      maxMemoryBytes: queryMaxMemoryBytes,
      maxResultBytes: queryMaxResultBytes,
    },
    now: Date.now,
    ...KEEPS_NOTHING,
  });
  const base = testApp(routes, { authenticator: byOrganization });
  const get: LogApp["get"] = (organizationId, path, parameters = {}) =>
    base.send("GET", `/api/v1/logs/${path}?${new URLSearchParams(parameters)}`, {
      headers: { "x-organization": String(organizationId) },
    });
  const search: LogApp["search"] = (organizationId, parameters = {}) =>
    base.send("GET", `/api/v1/logs/search?${new URLSearchParams(parameters)}`, {
      headers: { "x-organization": String(organizationId) },
    });
  return {
    ...base,
    get,
    query: (organizationId, json, headers = {}) =>
      base.send("POST", "/api/v1/logs/query", {
        json,
        headers: { ...headers, "x-organization": String(organizationId) },
      }),
    search,
    page: async (organizationId, parameters) => {
      const response = await search(organizationId, parameters);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
      const page: FoundPage = JSON.parse(text);
      return page;
    },
  };
}
