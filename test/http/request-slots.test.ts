/** What requests that are being answered may hold together, and what one caller leaves to others. */
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { route } from "../../src/http/define-route.ts";
import {
  MAX_BODY_MEMORY_BYTES,
  MAX_IN_FLIGHT_PROBES,
  MAX_IN_FLIGHT_REQUESTS,
} from "../../src/http/limits.ts";
import { type SendOptions, testApp } from "../harness/http-app.ts";

const described = { tag: "Things", summary: "A thing", responses: { 200: { description: "It." } } };

/** An app whose requests wait, holding bytes of a body, until the gate is opened. */
function waitingApp() {
  const gate = Promise.withResolvers<void>();
  const waiting = (path: string, access: "public" | "authenticated", isProbe = false) =>
    route({
      ...described,
      method: "GET",
      path,
      access,
      isProbe,
      query: Type.Object({ bytes: Type.Optional(Type.Integer()) }),
      handler: async (context, { query }) => {
        if (query.bytes !== undefined) context.reserveMemory(query.bytes);
        await gate.promise;
        return { status: 200 };
      },
    });
  const app = testApp([
    waiting("/open", "public"),
    waiting("/mine", "authenticated"),
    waiting("/probe", "public", true),
  ]);
  return { ...app, gate };
}

/** A person of an organisation, with a token. */
const person = (userId: number, organizationId: number): SendOptions => ({
  as: `viewer/*/${userId}/${organizationId}`,
});

describe("slots", () => {
  /** Sends as many requests as there are slots in all; those that wait, and those that were refused. */
  async function flood(
    app: ReturnType<typeof waitingApp>,
    path: string,
    options: (i: number) => SendOptions,
  ) {
    const refused: Response[] = [];
    const sent = Array.from({ length: MAX_IN_FLIGHT_REQUESTS }, async (_, index) => {
      const response = await app.send("GET", path, options(index));
      if (response.status !== 200) refused.push(response);
      return response;
    });
    // Refusals are answered without waiting for anything but the turn of the loop.
    await Bun.sleep(0);
    return { sent, refused };
  }

  async function expectAnswered(app: ReturnType<typeof waitingApp>, ...requests: [string, SendOptions][]) {
    const answers = requests.map(([path, options]) => app.send("GET", path, options));
    app.gate.resolve();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  }

  test("of one person are a share, whatever they hold in tokens, and others have the rest", async () => {
    const app = waitingApp();
    const { sent, refused } = await flood(app, "/mine", () => person(1, 1));
    expect(refused).toHaveLength(MAX_IN_FLIGHT_REQUESTS - Math.floor(MAX_IN_FLIGHT_REQUESTS / 3));
    const [first] = refused;
    expect(first?.status).toBe(429);
    expect(first?.headers.get("retry-after")).toBe("1");
    expect(await first?.json()).toMatchObject({ code: "RATE_LIMITED" });
    await expectAnswered(
      app,
      ["/mine", person(2, 1)],
      ["/mine", person(3, 2)],
      ["/open", {}],
      ["/probe", {}],
    );
    await Promise.all(sent);
    expect((await app.send("GET", "/mine", person(1, 1))).status).toBe(200);
    const { text } = await app.metrics.expose();
    expect(text).toContain(`obs_http_capacity_rejections_total{bound="share"} ${refused.length}\n`);
    expect(text).toContain("obs_http_requests_in_flight 0\n");
  });

  test("of one organisation are a share, however many people it has", async () => {
    const app = waitingApp();
    const { refused } = await flood(app, "/mine", (index) => person(index + 1, 1));
    expect(refused.length).toBeGreaterThanOrEqual(MAX_IN_FLIGHT_REQUESTS / 2);
    await expectAnswered(app, ["/mine", person(-1, 2)], ["/open", {}], ["/probe", {}]);
  });

  test("of strangers are a share for each address, and one for all of them", async () => {
    const app = waitingApp();
    const { refused } = await flood(app, "/open", (index) => ({
      peerAddress: `192.0.${index % 7}.${index % 200}`,
    }));
    expect(refused.length).toBeGreaterThanOrEqual(MAX_IN_FLIGHT_REQUESTS / 2);
    await expectAnswered(app, ["/mine", person(1, 1)], ["/probe", {}]);
  });

  test("are never more than there are: then the answer is 503, but not to probes", async () => {
    const app = waitingApp();
    const { sent } = await flood(app, "/mine", (index) => person(index + 1, index + 1));
    const refused = await app.send("GET", "/mine", person(-1, -1));
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    await expectAnswered(app, ["/probe", {}]);
    await Promise.all(sent);
    expect((await app.send("GET", "/mine", person(-1, -1))).status).toBe(200);
  });

  test("of probes are taken by nobody else, and bounded as well", async () => {
    const app = waitingApp();
    const { refused } = await flood(app, "/probe", () => ({}));
    expect(refused.length).toBeGreaterThanOrEqual(MAX_IN_FLIGHT_REQUESTS - MAX_IN_FLIGHT_PROBES);
    await expectAnswered(
      app,
      ["/probe", { peerAddress: "192.0.2.9" }],
      ["/open", {}],
      ["/mine", person(1, 1)],
    );
  });
});

describe("bytes of bodies", () => {
  test("are bounded, in shares of organisations, and free again when the requests are answered", async () => {
    const app = waitingApp();
    const hold = (bytes: number, options: SendOptions) => app.send("GET", `/mine?bytes=${bytes}`, options);
    const half = MAX_BODY_MEMORY_BYTES / 2;
    const held = hold(half, person(1, 1));
    const beyondShare = await hold(1, person(2, 1));
    expect(beyondShare.status).toBe(429);
    expect(beyondShare.headers.get("retry-after")).toBe("1");
    expect((await hold(half, person(3, 2))).status).toBe(503);
    const others = hold(half / 2, person(3, 2));
    app.gate.resolve();
    for (const answer of await Promise.all([held, others])) expect(answer.status).toBe(200);
    expect((await hold(half, person(2, 1))).status).toBe(200);
    expect((await hold(MAX_BODY_MEMORY_BYTES + 1, person(2, 1))).status).toBe(503);
  });
});
