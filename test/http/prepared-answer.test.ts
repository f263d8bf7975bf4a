import { expect, test } from "bun:test";
import { route } from "../../src/http/define-route.ts";
import { PreparedAnswer } from "../../src/http/prepared-answer.ts";
import { testApp } from "../harness/http-app.ts";

const TEXT = "the same for everyone";
const prepared = new PreparedAnswer(
  200,
  { "cache-control": "public", "content-security-policy": "default-src 'self'" },
  { contentType: "text/plain", bytes: new TextEncoder().encode(TEXT) },
);
const declared = {
  tag: "t",
  summary: "s",
  access: "public",
  responses: { 200: { description: "d", contentType: "text/plain" } },
} as const;
const routes = [
  route({ ...declared, method: "GET", path: "/prepared", handler: () => ({ status: 200, prepared }) }),
  route({
    ...declared,
    method: "GET",
    path: "/made",
    handler: () => ({
      status: 200,
      headers: { "cache-control": "public", "content-security-policy": "default-src 'self'" },
      encoded: { contentType: "text/plain", bytes: new TextEncoder().encode(TEXT) },
    }),
  }),
];

test("a prepared answer has whatever one made for its request has, is logged and counted as one, and of each request its own", async () => {
  const { send, logged, metrics } = testApp(routes, {
    publicUrl: "https://obs.example.com",
    isDraining: () => true,
  });
  const headersOf = ({ headers }: Response) => [...headers.keys()].toSorted();
  for (const method of ["GET", "HEAD"]) {
    const made = await send(method, "/made", { headers: { "x-request-id": "made" } });
    const first = await send(method, "/prepared", { headers: { "x-request-id": "first" } });
    const second = await send(method, "/prepared", { headers: { "x-request-id": "second" } });
    expect(headersOf(first)).toEqual(headersOf(made));
    expect(first.headers.get("strict-transport-security")).not.toBeNull();
    for (const name of [
      "content-type",
      "cache-control",
      "content-security-policy",
      "connection",
      "x-ratelimit-limit",
    ])
      expect([name, first.headers.get(name)]).toEqual([name, made.headers.get(name)]);
    expect([first, second].map(({ headers }) => headers.get("x-request-id"))).toEqual(["first", "second"]);
    if (method === "HEAD")
      for (const { headers } of [made, first])
        expect(headers.get("content-length")).toBe(String(TEXT.length));
    for (const answer of [first, second]) expect(await answer.text()).toBe(method === "GET" ? TEXT : "");
  }
  const lines = logged().filter(({ msg }) => msg === "request");
  expect(lines.filter(({ route: path }) => path === "/prepared").map(({ bytesOut }) => bytesOut)).toEqual(
    lines.filter(({ route: path }) => path === "/made").flatMap(({ bytesOut }) => [bytesOut, bytesOut]),
  );
  expect((await metrics.expose()).text).toContain(
    'obs_http_requests_total{method="GET",route="/prepared",status="200"} 2',
  );
});
