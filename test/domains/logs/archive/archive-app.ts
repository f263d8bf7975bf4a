import { INTERACTIVE_BUDGET } from "../../../../query/index.ts";
import { NO_DAILY_CAPS } from "../../../../src/access/principal.ts";
import type { ArchiveFiles } from "../../../../src/archive/files/archive-files.ts";
import { logArchiveRoutes } from "../../../../src/domains/logs/archive/routes.ts";
import { logPatternRoutes } from "../../../../src/domains/logs/patterns/routes.ts";
import { logReadRoutes } from "../../../../src/domains/logs/read-routes.ts";
import { testApp } from "../../../harness/http-app.ts";
import { logRanges } from "../../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../../harness/nothing-kept.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { queryRunner } from "../../../query/query-store.ts";
import type { FoundPage } from "../log-app.ts";

/** A page, with its entries as the text that was sent. */
export interface Page extends FoundPage {
  entriesText: string;
}

/** What reads logs, over a suite's stores; the caller's organisation is the one that a header names. */
export function archiveApp(
  stores: TestStores,
  files: ArchiveFiles | null,
  choices: Parameters<typeof logRanges>[1] = {},
) {
  const ranges = logRanges(stores, { files, ...choices });
  const options = {
    cursorKey: new Uint8Array(32).fill(7),
    budget: INTERACTIVE_BUDGET,
    now: Date.now,
    ...KEEPS_NOTHING,
  };
  const routes = [
    ...logArchiveRoutes({ ...options, runner: queryRunner(stores), sql: stores.postgres, files }),
    ...logReadRoutes({ ...options, ranges }),
    ...logPatternRoutes({ ...options, ranges }),
  ];
  const app = testApp(routes, {
    authenticator: {
      authenticate: (request) => ({
        kind: "token",
        userId: 1,
        organizationId: Number(request.headers.get("x-organization")),
        email: "ana@example.com",
        role: "viewer",
        scopes: ["logs:read"],
        caps: NO_DAILY_CAPS,
        tokenId: 3,
        credentialKey: "token:3",
      }),
    },
  });
  const get = (
    where: string,
    organizationId: number,
    parameters: Record<string, string> = {},
  ): Promise<Response> =>
    app.send("GET", `/api/v1/logs/${where}?${new URLSearchParams(parameters)}`, {
      headers: { "x-organization": String(organizationId) },
    });
  const page = async (
    where: "search" | "archive",
    organizationId: number,
    parameters: Record<string, string> = {},
  ): Promise<Page> => {
    const response = await get(where, organizationId, parameters);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    const found: FoundPage = JSON.parse(text);
    return { ...found, entriesText: text.slice(0, text.lastIndexOf('],"nextCursor"') + 1) };
  };
  const query = (organizationId: number, json: object): Promise<Response> =>
    app.send("POST", "/api/v1/logs/query", {
      json,
      headers: { "x-organization": String(organizationId) },
    });
  return { ...app, get, page, query };
}
