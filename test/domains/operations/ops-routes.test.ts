import { describe, expect, test } from "bun:test";
import { opsRoutes } from "../../../src/domains/operations/routes.ts";
import { type DependencyCheck, readinessOf } from "../../../src/health/readiness.ts";
import { followPointer } from "../../../src/http/json-pointer.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { testApp } from "../../harness/http-app.ts";

function opsApp(
  checks: readonly DependencyCheck[] = [],
  health: { ingest?: readonly DependencyCheck[]; isDraining?: () => boolean } = {},
) {
  const metrics = createMetrics();
  const routes = opsRoutes(
    {
      readiness: readinessOf(checks),
      ingestReadiness: readinessOf(health.ingest ?? []),
      isDraining: health.isDraining ?? (() => false),
      metrics,
      build: { name: "obs", version: "1.2.3", commit: "abc" },
      storeVersions: async () => ({ clickhouse: "26.7.2.1", postgres: null }),
      publicUrl: "http://localhost:8080",
      tools: [],
    },
    [],
  );
  return { ...testApp(routes, { metrics }), metrics, routes };
}

const up = async () => ({ state: "up" as const });

describe("health", () => {
  test("is up when every dependency is", async () => {
    const { send } = opsApp([{ name: "clickhouse", check: up }]);
    for (const path of ["/health", "/health/ready"]) {
      const response = await send("GET", path);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        status: "up",
        dependencies: [{ name: "clickhouse", state: "up" }],
      });
    }
  });

  test("is 503 in the error envelope when one is down, and names it but not why", async () => {
    const { send } = opsApp([
      { name: "postgres", check: up },
      { name: "clickhouse", check: () => Promise.reject(new Error("ECONNREFUSED 127.0.0.1:8123")) },
    ]);
    const response = await send("GET", "/health/ready");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    const text = await response.text();
    expect(text).not.toContain("8123");
    expect(JSON.parse(text)).toMatchObject({
      code: "UNAVAILABLE",
      status: "down",
      dependencies: [
        { name: "postgres", state: "up" },
        { name: "clickhouse", state: "down" },
      ],
    });
  });

  test("is still ready when one is degraded", async () => {
    const { send } = opsApp([
      { name: "redis", check: async () => ({ state: "degraded", detail: "limits are local" }) },
    ]);
    const response = await send("GET", "/health/ready");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: "degraded" });
  });

  test("is live whatever the dependencies do", async () => {
    const { send } = opsApp([{ name: "clickhouse", check: () => Promise.reject(new Error("down")) }]);
    expect((await send("GET", "/health/live")).status).toBe(200);
  });

  test("of ingest asks what ingest needs and nothing else", async () => {
    const down = () => Promise.reject(new Error("down"));
    const clickhouse: DependencyCheck = { name: "clickhouse", check: down };
    const taking = opsApp([clickhouse], { ingest: [{ name: "disk", check: up }] });
    expect((await taking.send("GET", "/health/ready")).status).toBe(503);
    const response = await taking.send("GET", "/health/ingest");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "up", dependencies: [{ name: "disk", state: "up" }] });
    const full = opsApp([], { ingest: [{ name: "disk", check: down }] });
    expect((await full.send("GET", "/health/ready")).status).toBe(200);
    expect((await full.send("GET", "/health/ingest")).status).toBe(503);
  });

  test("says at once that the server is draining, which is no reason to kill it", async () => {
    let isDraining = false;
    const { send } = opsApp([{ name: "postgres", check: up }], { isDraining: () => isDraining });
    const paths = ["/health", "/health/ready", "/health/ingest"];
    for (const path of paths) expect((await send("GET", path)).status).toBe(200);
    isDraining = true;
    for (const path of paths) {
      const response = await send("GET", path);
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).not.toBeNull();
      expect(await response.json()).toMatchObject({
        code: "UNAVAILABLE",
        status: "down",
        dependencies: [{ name: "server", state: "down", detail: expect.stringContaining("Draining") }],
      });
    }
    expect((await send("GET", "/health/live")).status).toBe(200);
  });

  test("does not ask dependencies once per caller, and does not wait for one that hangs", async () => {
    let asked = 0;
    const readiness = readinessOf([
      {
        name: "clickhouse",
        check: () => {
          asked++;
          return new Promise(() => undefined);
        },
      },
    ]);
    const answers = await Promise.all(Array.from({ length: 100 }, () => readiness.check()));
    expect(asked).toBe(1);
    expect(answers[0]).toEqual([{ name: "clickhouse", state: "down", detail: "no answer in time" }]);
  });
});

describe("/metrics", () => {
  test("counts requests by method, route and status, with their durations", async () => {
    const { send } = opsApp();
    await send("GET", "/health/live");
    await send("GET", "/health/live");
    await send("HEAD", "/health/live");
    await send("GET", "/nowhere/at/all");
    const response = await send("GET", "/metrics");
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    const text = await response.text();
    expect(text).toContain('obs_http_requests_total{method="GET",route="/health/live",status="200"} 2\n');
    expect(text).toContain('obs_http_requests_total{method="HEAD",route="/health/live",status="200"} 1\n');
    expect(text).toContain('obs_http_requests_total{method="GET",route="unmatched",status="404"} 1\n');
    expect(text).toContain(
      'obs_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/health/live"} 2\n',
    );
    expect(text).toContain('obs_http_request_duration_seconds_count{method="GET",route="/health/live"} 2\n');
    expect(text).not.toContain("nowhere");
  });

  test("is a well-formed exposition with monotonic buckets", async () => {
    const { send, metrics } = opsApp();
    metrics.onCollect(() => metrics.wal.bytes.set(4096));
    metrics.ingest.records.inc({ format: "native", outcome: "accepted" }, 5);
    metrics.query.durationSec.observe({ operation: "search", outcome: "ok" }, 0.02);
    for (let i = 0; i < 5; i++) await send("GET", "/health/live");
    const { text } = await metrics.expose();
    for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
      expect(line).toMatch(/^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+0-9.e]+$/i);
    }
    const buckets = [...text.matchAll(/^obs_http_request_duration_seconds_bucket\{.*\} (\d+)$/gm)].map((m) =>
      Number(m[1]),
    );
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    expect(text).toContain("obs_wal_bytes 4096");
    expect(text).toMatch(/process_resident_memory_bytes \d+/);
  });

  test("grows no series with what callers make up", async () => {
    const { send, metrics } = opsApp();
    for (let i = 0; i < 50; i++) await send(`GET`, `/made/up/${i}`);
    const { text } = await metrics.expose();
    expect(text.split("\n").filter((line) => line.startsWith("obs_http_requests_total{"))).toHaveLength(1);
  });
});

describe("/version", () => {
  test("is for known callers and tells what runs", async () => {
    const { send } = opsApp();
    expect((await send("GET", "/version")).status).toBe(401);
    expect(await (await send("GET", "/version", { as: "viewer" })).json()).toEqual({
      name: "obs",
      version: "1.2.3",
      commit: "abc",
      bun: Bun.version,
      clickhouse: "26.7.2.1",
      postgres: null,
    });
  });
});

describe("/docs", () => {
  test("is a page whose script comes from this server, and whose policy lets through no other", async () => {
    const { send } = opsApp();
    for (const path of ["/docs", "/docs/"]) {
      const page = await send("GET", path);
      expect(page.status).toBe(200);
      expect(page.headers.get("content-type")).toStartWith("text/html");
      expect(page.headers.get("x-request-id")).not.toBeNull();
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[^']+'; .*connect-src 'self';/);
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
      const html = await page.text();
      const links = [...html.matchAll(/(?:src|href|data-url)="([^"]+)"/g)].map((match) => match[1] ?? "");
      expect(links).toEqual(["/openapi.json", "/docs/reference.js"]);
    }
  });

  test("has a script that comes packed, and once an hour", async () => {
    const { send } = opsApp();
    const headers = { "accept-encoding": "zstd" };
    const script = await send("GET", "/docs/reference.js", { headers });
    expect(script.headers.get("content-type")).toStartWith("text/javascript");
    expect(script.headers.get("content-encoding")).toBe("zstd");
    expect(script.headers.get("cache-control")).toBe("public, max-age=3600");
    expect((await script.bytes()).length).toBeLessThan(1_500_000);
    const etag = script.headers.get("etag") ?? "";
    const again = await send("GET", "/docs/reference.js", { headers: { ...headers, "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("serves nothing else of the package", async () => {
    const { send } = opsApp();
    for (const path of ["/docs/package.json", "/docs/../package.json", "/docs/%2e%2e%2fpackage.json"]) {
      expect((await send("GET", path)).status).toBe(404);
    }
  });
});

describe("/openapi.json", () => {
  test("describes every route of the server, itself included, once", async () => {
    const { send, routes } = opsApp();
    const document: unknown = await (await send("GET", "/openapi.json")).json();
    const paths = Object.entries(Object(followPointer(document, "/paths")));
    const described = paths.flatMap(([path, item]) =>
      Object.keys(Object(item)).map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(
      routes
        .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`)
        .toSorted(),
    );
  });

  test("comes packed as the client takes it, with a tag that spares it the next time", async () => {
    const { send } = opsApp();
    const plain = await send("GET", "/openapi.json");
    const text = await plain.text();
    expect(plain.headers.get("content-encoding")).toBeNull();
    const tags = new Set([plain.headers.get("etag")]);
    const unpack = { gzip: Bun.gunzipSync, zstd: Bun.zstdDecompressSync };
    for (const [accepted, coding] of [
      ["gzip, deflate", "gzip"],
      ["gzip;q=0, *", "zstd"],
      ["gzip, br, zstd", "zstd"],
    ] as const) {
      const packed = await send("GET", "/openapi.json", { headers: { "accept-encoding": accepted } });
      expect(packed.headers.get("content-encoding")).toBe(coding);
      expect(packed.headers.get("content-type")).toBe("application/json");
      expect(packed.headers.get("vary")).toBe("Accept-Encoding");
      expect(packed.headers.get("cache-control")).toBe("no-cache");
      expect(Buffer.from(unpack[coding](Uint8Array.from(await packed.bytes()))).toString()).toBe(text);
      const etag = packed.headers.get("etag") ?? "";
      tags.add(etag);
      const again = await send("GET", "/openapi.json", {
        headers: { "accept-encoding": accepted, "if-none-match": `"other", W/${etag}` },
      });
      expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
    }
    expect(tags.size).toBe(3);
  });

  test("comes as it is to who refuses every coding, and not at all for HEAD", async () => {
    const { send } = opsApp();
    const head = await send("HEAD", "/openapi.json", {
      headers: { "accept-encoding": "gzip;q=0, zstd;q=0" },
    });
    expect([head.status, head.headers.get("content-encoding"), await head.text()]).toEqual([200, null, ""]);
  });
});

describe("the addresses that people open", () => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";

  test("say in a browser what this is and how to begin", async () => {
    const { send } = opsApp();
    const answer = await send("GET", "/", { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const text = await answer.text();
    for (const said of ["obs login --url http://localhost:8080", 'href="/docs"', 'href="/health/ready"'])
      expect(text).toContain(said);
  });

  test("say how an incident or a monitor is seen that a message links to", async () => {
    const { send } = opsApp();
    for (const collection of ["incidents", "monitors"]) {
      const answer = await send("GET", `/${collection}/12`, { headers: { accept } });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      for (const said of [`obs ${collection} show 12`, `/api/v1/${collection}/12`, 'href="/docs"'])
        expect(text).toContain(said);
    }
    for (const id of ["0", "x", "%3Cb%3E", "1".repeat(16)])
      expect((await send("GET", `/incidents/${id}`, { headers: { accept } })).status).toBe(404);
  });

  test.each(["/", "/incidents/12", "/monitors/12"])(
    "are 404 in the envelope for a program: %s",
    async (path) => {
      const { send } = opsApp();
      for (const headers of [undefined, { accept: "*/*" }, { accept: "application/json" }]) {
        const answer = await send("GET", path, headers && { headers });
        expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({ code: "NOT_FOUND", error: "No such resource." });
      }
    },
  );
});
