/** Metrics over a whole server: what series say is what was sent, and what a search says. */
import { beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";

interface Series {
  points: { start: string; value: number }[];
  bucketSec: number;
}

const MINUTE_MS = 60_000;
/** The beginning of an hour that is over. */
const HOUR_MS = Math.floor(Date.now() / 3_600_000 - 2) * 3_600_000;
const at = (ms: number) => new Date(HOUR_MS + ms).toISOString();

let server: SharedServer;
let token: string;
let foreign: string;

beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
  foreign = await makeToken(server.url);
  const value = (ms: number, number: unknown, service = "api", name = "queue.length") => ({
    ...{ message: "a point", ts: at(ms), service },
    attrs: { "metric.name": name, "metric.value": number },
  });
  await call("POST", "/logs/ingest", [
    value(0, 4),
    value(30_000, 10),
    value(59_999, 1),
    value(2 * MINUTE_MS, "7.5"),
    value(2 * MINUTE_MS + 1, "no number"),
    value(3 * MINUTE_MS, -2, "shop"),
    value(5 * MINUTE_MS, 1, "api", "other"),
    { message: "payment failed", ts: at(6 * MINUTE_MS), service: "shop" },
    { message: "payment failed again", ts: at(6 * MINUTE_MS + 1000), service: "shop" },
  ]);
  await call("POST", "/logs/ingest", [value(1000, 1000)], foreign);
  await eventually("all entries are stored", async () => (await total()) === 9);
});
async function call<T>(method: string, path: string, json?: unknown, as = token) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const body: T = text === "" ? null : JSON.parse(text);
  return { status: response.status, body };
}

async function total(q = ""): Promise<number> {
  const range = `from=${at(0)}&to=${at(10 * MINUTE_MS)}`;
  return (await call<{ total: number }>("GET", `/logs/search?${range}&limit=1&q=${encodeURIComponent(q)}`))
    .body.total;
}

async function values(name: string, parameters: Record<string, string> = {}): Promise<number[]> {
  const search = new URLSearchParams({
    ...{ name, from: at(0), to: at(10 * MINUTE_MS - 1), bucket: "60" },
    ...parameters,
  });
  const { status, body } = await call<Series>("GET", `/metrics/series?${search}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.points.map(({ value }) => value);
}

describe("numbers that entries carry", () => {
  test("come to what they are, in every aggregation, and only where there are any", async () => {
    expect(await values("queue.length", { agg: "avg" })).toEqual([5, 7.5, -2]);
    expect(await values("queue.length", { agg: "sum" })).toEqual([15, 7.5, -2]);
    expect(await values("queue.length", { agg: "min" })).toEqual([1, 7.5, -2]);
    expect(await values("queue.length", { agg: "max" })).toEqual([10, 7.5, -2]);
    expect(await values("queue.length", { agg: "last" })).toEqual([1, 7.5, -2]);
    expect(await values("queue.length", { agg: "sum", bucket: "300" })).toEqual([20.5]);
    expect(await values("queue.length", { agg: "sum", bucket: "30" })).toEqual([4, 11, 7.5, -2]);
    expect(await values("queue.length", { service: "shop" })).toEqual([-2]);
    expect(await values("nobody's")).toEqual([]);
  });

  test("are named with their services, and no number of others is among them", async () => {
    const { body } = await call<unknown[]>("GET", "/metrics/names");
    expect(body).toContainEqual({
      ...{ name: "queue.length", kind: "attribute", services: expect.arrayContaining(["api", "shop"]) },
      lastSeen: at(3 * MINUTE_MS),
    });
    expect(body).toContainEqual({ name: "monitor.up", kind: "monitors", services: [], lastSeen: null });
    expect((await call("GET", "/metrics/names?limit=2")).body).toHaveLength(2);
    const search = new URLSearchParams({
      name: "queue.length",
      from: at(0),
      to: at(MINUTE_MS - 1),
      agg: "sum",
    });
    expect(
      (await call<Series>("GET", `/metrics/series?${search}`, undefined, foreign)).body.points,
    ).toMatchObject([{ value: 1000 }]);
  });
});

test("what is counted has a value for every minute, and all of them are what a search finds", async () => {
  const entries = await values("logs.entries", { agg: "sum" });
  expect(entries).toEqual([3, 0, 2, 1, 0, 1, 2, 0, 0, 0]);
  expect(await values("logs.entries", { agg: "sum", bucket: "300" })).toEqual([6, 3]);
  expect(await values("logs.entries", { agg: "avg", bucket: "300" })).toEqual([1.2, 0.6]);
  expect(await values("logs.entries", { agg: "min", bucket: "300" })).toEqual([0, 0]);
  expect((await values("logs.bytes", { agg: "sum", bucket: "600" }))[0]).toBe(
    7 * "a point".length + "payment failed".length + "payment failed again".length,
  );
  await call("POST", "/log-metrics", { name: "Failed payments", query: "payment failed" });
  const failed = await values("Failed payments", { agg: "sum", bucket: "600" });
  expect(failed).toEqual([await total("payment failed")]);
  expect(await values("Failed payments", { agg: "sum", service: "api" })).not.toContain(2);
});

test("what cannot be asked is refused with its place", async () => {
  const refused = async (search: string) => {
    const { status, body } = await call<{ fields: { path: string }[] }>("GET", `/metrics/series?${search}`);
    return [status, body.fields[0]?.path];
  };
  expect(await refused("")).toEqual([400, "/name"]);
  expect(await refused("name=a&agg=median")).toEqual([400, "/agg"]);
  expect(await refused("name=a&bucket=0")).toEqual([400, "/bucket"]);
  expect(await refused("name=a&from=2020-01-01T00:00:00Z&bucket=1")).toEqual([400, "/bucket"]);
  expect(await refused("name=a&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z")).toEqual([400, "/from"]);
});
