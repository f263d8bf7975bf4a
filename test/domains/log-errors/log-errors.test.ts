/** Groups of errors as people see them: what is put together, what follows of it, and what they may do about it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  type Entry,
  type ErrorServer,
  errorServer,
  HOUR_MS,
  makeOrganization,
  PATH,
} from "./error-server.ts";

let stores: TestStores;
let server: ErrorServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await errorServer(stores);
});
afterAll(() => stores.close());

async function newcomer(): Promise<number> {
  own = await makeOrganization(stores);
  return own;
}

function thrown(type: string, call: string, more: Entry = {}): Entry {
  const stack = `${type}: it broke\n    at ${call} (/app/src/pay/${call}.js:${1 + Math.floor(Math.random() * 900)}:7)`;
  const { attrs = [], ...rest } = more;
  return {
    message: "request failed",
    attrs: [["exception.type", type], ["exception.stacktrace", stack], ...attrs],
    ...rest,
  };
}

async function idOf(title: string): Promise<number> {
  const { items } = await server.list(own);
  return items.find((group: { title: string }) => group.title.startsWith(title))?.id ?? 0;
}

async function patch(id: number, body: unknown) {
  return server.send(own, "PATCH", `${PATH}/${id}`, body);
}

describe("finding", () => {
  test("entries of one fault are one group with its count, times, calls, releases, environments and newest entries", async () => {
    await newcomer();
    const { nowMs } = server.clock;
    const named = (release: string): NonNullable<Entry["attrs"]> => [
      ["service.version", release],
      ["deployment.environment", "prod"],
    ];
    const ids = await server.take(
      own,
      thrown("CardError", "charge", { atMs: nowMs - 2 * HOUR_MS, attrs: named("1.0") }),
      thrown("CardError", "charge", { atMs: nowMs - HOUR_MS, attrs: named("1.0") }),
      thrown("CardError", "charge", { atMs: nowMs, attrs: named("1.1") }),
    );
    const group = await server.single(own);
    expect(group).toMatchObject({
      ...{ status: "open", service: "checkout", type: "CardError", title: "CardError: it broke" },
      ...{ culprit: "charge (pay/charge.js)", groupedBy: "frames", runtime: "javascript", count: 3 },
      firstSeen: new Date(nowMs - 2 * HOUR_MS).toISOString(),
      lastSeen: new Date(nowMs).toISOString(),
      ...{ firstRelease: "1.0", lastRelease: "1.1", mergedInto: null, samplesUnavailable: null },
      releases: [
        { value: "1.1", count: 1 },
        { value: "1.0", count: 2 },
      ],
      environments: [{ value: "prod", count: 3 }],
    });
    expect(group.hours.slice(-3).map(({ count }: { count: number }) => count)).toEqual([1, 1, 1]);
    expect(group.hours).toHaveLength(24);
    expect(group.days.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(3);
    expect(group.samples.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(group.samples[0].entry).toMatchObject({ level: "error", message: "request failed" });
    expect(group.exceptions[0]).toMatchObject({
      type: "CardError",
      frames: [{ function: "charge", file: "/app/src/pay/charge.js", column: 7, inApp: true }],
    });
  });

  test("other types, calls, services and organisations are other groups, and nobody sees another's", async () => {
    const first = await newcomer();
    const second = await newcomer();
    await server.store(second, thrown("CardError", "charge"));
    await server.take(
      first,
      thrown("CardError", "charge"),
      thrown("StockError", "charge"),
      thrown("CardError", "refund"),
      thrown("CardError", "charge", { service: "cart" }),
    );
    expect((await server.list(first)).items).toHaveLength(4);
    const [theirs] = (await server.list(second)).items;
    expect(theirs).toMatchObject({ count: 1 });
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["GET", "/similar", undefined],
      ["PATCH", "", { resolved: true }],
      ["POST", "/merge", { into: theirs.id }],
      ["POST", "/unmerge", undefined],
    ] as const)
      expect((await server.send(first, method, `${PATH}/${theirs.id}${path}`, body)).status).toBe(404);
    const [mine] = (await server.list(first)).items;
    expect((await server.send(first, "POST", `${PATH}/${mine.id}/merge`, { into: theirs.id })).status).toBe(
      400,
    );
  });

  test("a level below error is an error where an attribute says that there was an exception, and none where it does not", async () => {
    await newcomer();
    await server.take(
      own,
      { level: "warn", message: "retrying", attrs: [["error.type", "Timeout"]] },
      {
        level: "info",
        message: "deployed",
        attrs: [
          ["stack", "prod"],
          ["error.count", "0"],
        ],
      },
      { level: "info", message: "all is well" },
      { level: "warn", message: "slow" },
    );
    expect((await server.list(own)).items).toMatchObject([{ type: "Timeout", count: 1 }]);
  });

  test("an attribute `fingerprint` decides, whatever else differs", async () => {
    await newcomer();
    await server.take(
      own,
      thrown("A", "one", { attrs: [["fingerprint", "db-down"]] }),
      thrown("B", "two", { attrs: [["fingerprint", "db-down"]], service: "cart" }),
    );
    const group = await server.single(own);
    expect(group).toMatchObject({ count: 2, groupedBy: "attribute" });
    expect(group.entries.query).toContain("db-down");
  });

  test("its query finds its entries", async () => {
    await newcomer();
    const others = [
      thrown("StockError", "reserve"),
      { message: "mail to bob@example.com bounced after 3 tries" },
      { level: "info", message: "fine" },
    ];
    const cases: Entry[] = [
      thrown("CardError", "charge"),
      { message: "Payment 17 of user anna-5 failed: gateway closed" },
      { message: "x", attrs: [["fingerprint", 'a "quoted" \\ one']] },
      {
        message:
          "PHP Fatal error:  Uncaught App\\Errors\\Oops: no in /srv/a.php:3\nStack trace:\n#0 /srv/b.php(3): App\\Job->run()\n#1 {main}",
      },
    ];
    const ids = await server.take(own, ...cases, ...others);
    const { items } = await server.list(own);
    expect(items).toHaveLength(6);
    for (const { entries, id } of items) {
      const query = new URLSearchParams({ query: entries.query, from: entries.from, to: entries.to });
      const { status, body } = await server.send(own, "GET", `/api/v1/logs/search?${query}`);
      expect({ status, query: entries.query }).toMatchObject({ status: 200 });
      const { samples } = (await server.send(own, "GET", `${PATH}/${id}`)).body;
      expect(body.entries.map((entry: { id: string }) => entry.id)).toEqual([samples[0].id]);
      expect(ids).toContain(samples[0].id);
    }
  });

  test("a late entry counts in its own hour, and one from the future is seen when it came", async () => {
    await newcomer();
    const { nowMs } = server.clock;
    await server.take(own, thrown("Late", "f", { atMs: nowMs }));
    await server.take(own, thrown("Late", "f", { atMs: nowMs - 30 * HOUR_MS }));
    await server.take(own, thrown("Late", "f", { atMs: nowMs + 400 * 24 * HOUR_MS }));
    const group = await server.single(own);
    expect(group).toMatchObject({ count: 3, firstSeen: new Date(nowMs - 30 * HOUR_MS).toISOString() });
    expect(Date.parse(group.lastSeen)).toBeLessThan(nowMs + HOUR_MS);
    const counted = (list: { count: number }[]): number => list.reduce((sum, { count }) => sum + count, 0);
    expect([counted(group.hours), counted(group.days)]).toEqual([1, 2]);
  });

  test("a group outlives its entries", async () => {
    await newcomer();
    await server.take(own, thrown("Gone", "f"));
    await stores.clickhouse.command({
      query: `ALTER TABLE logs DELETE WHERE organization_id = ${own} SETTINGS mutations_sync = 2`,
    });
    const group = await server.single(own);
    expect(group).toMatchObject({ count: 1, exceptions: [], samplesUnavailable: null });
    expect(group.samples).toMatchObject([{ entry: null }]);
  });

  test("whoever may not read logs sees no entries of a group, and why", async () => {
    await newcomer();
    await server.take(own, thrown("Secret", "f"));
    const path = `${PATH}/${await idOf("Secret")}`;
    const { body } = await server.send(own, "GET", path, undefined, "viewer/alerts:read");
    expect(body).toMatchObject({ samples: [{ entry: null }], exceptions: [] });
    expect(body.samplesUnavailable).toContain("logs:read");
  });
});

describe("the list", () => {
  test("shows open groups, the latest first, a page at a time, and those of a status or a service when asked", async () => {
    await newcomer();
    for (const call of ["a", "b", "c"]) {
      server.clock.nowMs += 1000;
      await server.take(own, thrown("Paged", call, { service: call === "a" ? "cart" : "checkout" }));
    }
    const culprits = (body: { items: { culprit: string }[] }): string[] =>
      body.items.map(({ culprit }) => culprit.slice(0, 1));
    expect(culprits(await server.list(own, ""))).toEqual(["c", "b", "a"]);
    expect(culprits(await server.list(own, "service=cart"))).toEqual(["a"]);
    const page = await server.list(own, "limit=2");
    expect(culprits(page)).toEqual(["c", "b"]);
    const next = await server.list(own, `limit=2&cursor=${page.nextCursor}`);
    expect([culprits(next), next.nextCursor]).toEqual([["a"], null]);
    const [latest] = page.items;
    await patch(latest.id, { ignored: true });
    expect(culprits(await server.list(own, ""))).toEqual(["b", "a"]);
    expect(culprits(await server.list(own, "status=ignored"))).toEqual(["c"]);
    expect(culprits(await server.list(own, "status=all"))).toEqual(["c", "b", "a"]);
    for (const query of [
      "limit=0",
      "limit=201",
      "status=closed",
      "cursor=x",
      "colour=red",
      `status=all&cursor=${page.nextCursor}`,
    ])
      expect((await server.send(own, "GET", `${PATH}?${query}`)).status).toBe(400);
  });
});

describe("a status", () => {
  test("what is resolved opens when it happens again, with the release, and not by an entry of an earlier time", async () => {
    await newcomer();
    await server.take(own, thrown("Back", "f"));
    const id = await idOf("Back");
    server.clock.nowMs += 60_000;
    const resolvedMs = server.clock.nowMs;
    expect((await patch(id, { resolved: true })).body).toMatchObject({
      status: "resolved",
      regressedAt: null,
    });
    server.clock.nowMs += 60_000;
    await server.take(own, thrown("Back", "f", { atMs: resolvedMs - 1000 }));
    expect(await server.single(own)).toMatchObject({ status: "resolved", count: 2 });
    await server.take(own, thrown("Back", "f", { attrs: [["service.version", "2.0"]] }));
    expect(await server.single(own)).toMatchObject({
      ...{ status: "open", count: 3, regressedRelease: "2.0" },
      regressedAt: new Date(server.clock.nowMs).toISOString(),
    });
  });

  test("what is ignored stays so", async () => {
    await newcomer();
    await server.take(own, thrown("Noise", "f"));
    const id = await idOf("Noise");
    await patch(id, { ignored: true });
    server.clock.nowMs += 60_000;
    await server.take(own, thrown("Noise", "f"));
    expect(await server.single(own)).toMatchObject({ status: "ignored", count: 2, regressedAt: null });
    expect((await patch(id, { ignored: false })).body.status).toBe("open");
  });

  test("both at once, what is no boolean and what there is not are refused with their place and change nothing", async () => {
    await newcomer();
    await server.take(own, thrown("Kept", "f"));
    const id = await idOf("Kept");
    for (const [body, path] of [
      [{ resolved: true, ignored: true }, "/ignored"],
      [{ resolved: null }, "/resolved"],
      [{ ignored: "yes" }, "/ignored"],
      [{ status: "resolved" }, "/status"],
    ] as const) {
      const answer = await patch(id, body);
      expect({ status: answer.status, path: answer.body.fields?.[0]?.path }).toEqual({ status: 400, path });
    }
    expect((await patch(id, {})).body.status).toBe("open");
    expect((await patch(id + 1000, { resolved: true })).status).toBe(404);
  });
});

describe("merging", () => {
  test("counts a group with another one, its later entries too, until it is taken apart", async () => {
    await newcomer();
    await server.take(own, thrown("One", "f"), thrown("Two", "g"), thrown("Two", "g"));
    const [one, two] = [await idOf("One"), await idOf("Two")];
    const merged = await server.send(own, "POST", `${PATH}/${two}/merge`, { into: one });
    expect(merged).toMatchObject({ status: 200, body: { id: two, mergedInto: one } });
    expect(await server.single(own)).toMatchObject({ id: one, count: 3, merged: [{ id: two, count: 2 }] });
    expect((await patch(two, { resolved: true })).status).toBe(409);
    await patch(one, { resolved: true });
    server.clock.nowMs += 60_000;
    await server.take(own, thrown("Two", "g"));
    const joined = await server.single(own);
    expect(joined).toMatchObject({ id: one, status: "open", count: 4 });
    expect(joined.samples).toHaveLength(4);
    expect(joined.days.at(-1).count).toBe(4);
    expect(joined.lastSeen).toBe(new Date(server.clock.nowMs).toISOString());
    expect((await server.send(own, "POST", `${PATH}/${two}/unmerge`)).body).toMatchObject({
      ...{ id: two, mergedInto: null, count: 3 },
    });
    const { items } = await server.list(own);
    expect(items).toMatchObject([
      { id: two, count: 3 },
      { id: one, count: 1 },
    ]);
    expect((await server.send(own, "POST", `${PATH}/${two}/unmerge`)).status).toBe(409);
  });

  test("with itself, in a ring, with what is merged and with what there is not is refused; what was merged comes along", async () => {
    await newcomer();
    await server.take(own, thrown("One", "f"), thrown("Two", "g"), thrown("Three", "h"));
    const [one, two, three] = [await idOf("One"), await idOf("Two"), await idOf("Three")];
    const merge = async (id: number, into: unknown) => {
      const { status, body } = await server.send(own, "POST", `${PATH}/${id}/merge`, { into });
      return status === 200 ? 200 : `${status} ${body.fields?.[0]?.path}`;
    };
    expect(await merge(one, one)).toBe("400 /into");
    expect(await merge(one, 999_999_999)).toBe("400 /into");
    expect(await merge(one, "2")).toBe("400 /into");
    expect(await merge(two, one)).toBe(200);
    expect(await merge(one, two)).toBe("400 /into");
    expect(await merge(three, two)).toBe("400 /into");
    expect(await merge(one, three)).toBe(200);
    expect(await server.single(own)).toMatchObject({
      id: three,
      count: 3,
      merged: [{ id: one }, { id: two }],
    });
  });

  test("is suggested for groups with the same calls or messages of one pattern", async () => {
    await newcomer();
    await server.take(
      own,
      thrown("CardError", "charge"),
      thrown("PaymentError", "charge"),
      { message: "mailbox of tenant blue is full, dropping message 17" },
      { message: "mailbox of tenant blue is full, dropping message 18", service: "mail" },
      { message: "disk is nearly full" },
    );
    const why = async (title: string) => {
      const { body } = await server.send(own, "GET", `${PATH}/${await idOf(title)}/similar`);
      return body.map(({ group, why }: { group: { title: string }; why: string[] }) => [group.title, why]);
    };
    expect(await why("CardError")).toEqual([["PaymentError: it broke", ["calls", "message"]]]);
    expect(await why("mailbox")).toMatchObject([[expect.stringContaining("mailbox"), ["message"]]]);
    expect(await why("disk")).toEqual([]);
  });
});
