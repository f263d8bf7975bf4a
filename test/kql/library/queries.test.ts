import { afterAll, beforeAll, expect, test } from "bun:test";
import { INTERACTIVE_BUDGET, type Library } from "../../../query/index.ts";
import { logReadRoutes } from "../../../src/domains/logs/read-routes.ts";
import { openLibrary } from "../../../src/kql/library/open-library.ts";
import { Places } from "../../../src/kql/library/places.ts";
import { insertRows } from "../../domains/logs/stored-rows.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../harness/nothing-kept.ts";
import { placesDatabase } from "../../harness/places-database.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const OWN = 1;
const OTHER = 2;

let stores: TestStores;
let app: TestApp;
beforeAll(async () => {
  stores = await openTestStores();
  const place = { country: { names: { en: "Sweden" } }, location: { latitude: 59.85, longitude: 17.63 } };
  const library: Library = {
    ...(await openLibrary(null)),
    geo_info_from_ip_address: new Places(placesDatabase({ "203.0.113.0/24": place })).describe,
  };
  const options = { ranges: logRanges(stores), cursorKey: new Uint8Array(32), budget: INTERACTIVE_BUDGET };
  app = testApp(logReadRoutes({ ...options, now: Date.now, ...KEEPS_NOTHING, library }));
  const entry = (id: bigint, organizationId: number, attrs: Record<string, string>) => ({
    ...{ id, organizationId, ts: BigInt(Date.now()) * 1_000_000n, message: "sign-in" },
    attrs: Object.entries(attrs),
  });
  await insertRows(stores.clickhouse, [
    entry(1n, OWN, { ip: "203.0.113.7", agent: "curl/8.5.0", event: "<e><d>1</d></e>" }),
    entry(2n, OWN, { ip: "203.0.113.8", agent: "curl/7.1.0" }),
    entry(3n, OWN, { ip: "198.51.100.1" }),
    entry(4n, OTHER, { ip: "203.0.113.9", agent: "Wget/1.21" }),
  ]);
});
afterAll(() => stores.close());

async function rowsOf(query: string): Promise<unknown> {
  const response = await app.send("POST", "/api/v1/logs/query", {
    as: `viewer/*/1/${OWN}`,
    json: { query },
  });
  const { rows, error } = JSON.parse(await response.text());
  return rows ?? error;
}

test("functions of libraries are computed of what the rows of the organisation have, wherever they stand", async () => {
  expect(
    await rowsOf(
      "logs | extend country = tostring(geo_info_from_ip_address(tostring(ip)).country) | summarize count() by country | order by country",
    ),
  ).toEqual([
    ["Sweden", 2],
    ["", 1],
  ]);
  expect(
    await rowsOf(
      'logs | where parse_user_agent(tostring(agent), "browser").Browser.Family == "curl" | summarize versions = make_set(toint(parse_user_agent(tostring(agent), "browser").Browser.MajorVersion))',
    ),
  ).toEqual([[[8, 7]]]);
  expect(await rowsOf("logs | where isnotempty(event) | project d = parse_xml(tostring(event)).e.d")).toEqual(
    [["1"]],
  );
  expect(
    await rowsOf(
      'let agentOf = (a: string) { parse_user_agent(a, "browser") }; logs | extend b = agentOf(tostring(agent)) | count',
    ),
  ).toEqual([[3]]);
  expect(await rowsOf('print geo_info_from_ip_address("203.0.113.1").country')).toEqual([["Sweden"]]);
});
