/** Of a file whatever can be read is taken, and each row that cannot says why; lists of others are believed no further than that. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";
import { type IocServer, iocServer, PATH } from "./ioc-server.ts";

const HOUR_MS = 3_600_000;

let stores: TestStores;
let server: IocServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await iocServer(stores);
});
afterAll(() => stores.close());

async function newcomer(): Promise<number> {
  own = await makeOrganization(stores);
  return own;
}

/** Deletes a feed, and waits until what it listed is forgotten. */
async function removeFeed(id: number): Promise<void> {
  expect((await server.send(own, "DELETE", `${PATH}/feeds/${id}`)).status).toBe(204);
  expect((await server.send(own, "GET", `${PATH}/feeds/${id}`)).status).toBe(404);
  await server.fetchFeeds();
}

/** What the organisation has, newest last. */
async function values(status?: string): Promise<string[]> {
  const { body } = await server.send(
    own,
    "GET",
    `${PATH}?limit=1000${status === undefined ? "" : `&status=${status}`}`,
  );
  return body.items.map(({ value }: { value: string }) => value).toReversed();
}

describe("an import", () => {
  test("takes what can be read, says why of the rest, and is looked for in what was there before", async () => {
    await newcomer();
    await server.store(own, { host: "web-1", message: "45.33.32.156" });
    await server.seal();
    const file = "type,value,severity\nip,45.33.32.156,high\ndomain,evil.example,\nip,x,\n";
    const dry = await server.upload(own, `${PATH}/import?format=csv&dryRun=true`, file);
    expect(dry).toMatchObject({
      status: 200,
      body: { dryRun: true, rows: 3, added: 2, updated: 0, rejected: 1 },
    });
    expect(await values()).toEqual([]);
    const rowsOf = () => server.sql`SELECT 1 FROM ioc_batches WHERE organization_id = ${own}`;
    expect(await rowsOf()).toHaveLength(0);
    const made = await server.upload(own, `${PATH}/import?format=csv`, file);
    expect(made).toMatchObject({
      status: 200,
      body: { dryRun: false, added: 2, updated: 0, rejected: 1, errors: [{ place: "row 4" }] },
    });
    await server.huntAll();
    expect(await values()).toEqual(["45.33.32.156", "evil.example"]);
    const { body } = await server.send(own, "GET", `${PATH}?value=45.33.32.156`);
    expect(body.items).toMatchObject([{ hits: 1, severity: "high" }]);
    const again = await server.upload(own, `${PATH}/import?format=csv`, file);
    expect(again.body).toMatchObject({ added: 0, updated: 2 });
    await server.huntAll();
    expect((await server.send(own, "GET", `${PATH}?value=45.33.32.156`)).body.items).toMatchObject([
      { hits: 1 },
    ]);
  });

  test("of what is no such file is refused and changes nothing", async () => {
    await newcomer();
    for (const [format, text] of [
      ["stix", "x"],
      ["stix", "{}"],
      ["misp", "[1"],
      ["csv", '"'],
    ] as const) {
      const { status, body } = await server.upload(own, `${PATH}/import?format=${format}`, text);
      expect({ format, status, path: body.fields[0].path }).toEqual({ format, status: 400, path: "/" });
    }
    expect((await server.upload(own, `${PATH}/import?format=pdf`, "x")).status).toBe(400);
    expect((await server.upload(own, `${PATH}/import?format=csv`, "x", "image/png")).status).toBe(415);
    expect(await values()).toEqual([]);
  });
});

describe("a feed", () => {
  const served = { body: "", status: 200, location: "", asked: [] as (string | null)[] };
  let feedServer: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    feedServer = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const etag = `"${Bun.hash(served.body)}"`;
        served.asked.push(request.headers.get("if-none-match"));
        if (served.location !== "")
          return new Response(null, { status: 302, headers: { location: served.location } });
        if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
        return new Response(served.body, { status: served.status, headers: { etag } });
      },
    });
  });
  afterAll(() => feedServer.stop(true));

  async function makeFeed(name = "Botnets"): Promise<number> {
    Object.assign(served, { body: "", status: 200, location: "", asked: [] });
    const url = `http://127.0.0.1:${feedServer.port}/feed.csv`;
    const { status, body } = await server.send(own, "POST", `${PATH}/feeds`, {
      name,
      url,
      format: "csv",
      severity: "high",
    });
    expect({ status, body }).toMatchObject({ status: 201, body: { status: "new", intervalSec: 3600 } });
    return body.id;
  }

  async function ask(id: number) {
    await server.sql`UPDATE ioc_feeds SET next_fetch_at = now() - interval '1 second' WHERE id = ${id}`;
    server.clock.nowMs += HOUR_MS;
    await server.fetchFeeds();
    return (await server.send(own, "GET", `${PATH}/feeds/${id}`)).body;
  }

  async function find(value: string) {
    const { body } = await server.send(own, "GET", `${PATH}?value=${value}`);
    expect(body.items).toHaveLength(1);
    return body.items[0];
  }

  test("brings what it lists, is asked whether it changed, and what vanishes from it expires", async () => {
    await newcomer();
    const byHand = await server.send(own, "POST", PATH, {
      type: "ip",
      value: "9.9.9.9",
      description: "mine",
    });
    const id = await makeFeed();
    served.body = "1.2.3.4\nevil.example\n9.9.9.9\nbroken\n";
    expect(await ask(id)).toMatchObject({ status: "ok", lastError: null });
    expect(await values("active")).toEqual(["9.9.9.9", "1.2.3.4", "evil.example"]);
    expect((await server.send(own, "GET", `${PATH}/${byHand.body.id}`)).body).toMatchObject({
      feedId: null,
      severity: null,
    });
    expect(await ask(id)).toMatchObject({ status: "unchanged" });
    expect(served.asked.at(-1)).not.toBeNull();
    served.body = "1.2.3.4\nworse.example\n";
    await ask(id);
    expect(await values("expired")).toEqual(["evil.example"]);
    const stats = (await server.send(own, "GET", `${PATH}/feed-stats`)).body;
    expect(stats).toMatchObject({
      total: 4,
      active: 3,
      expired: 1,
      feeds: [{ name: "Botnets", added: 1, updated: 1, expired: 1, rejected: 0 }],
    });
    served.body = "evil.example\n";
    await ask(id);
    expect(await values("active")).toEqual(["9.9.9.9", "evil.example"]);
    await removeFeed(id);
    expect(await values("active")).toEqual(["9.9.9.9"]);
  });

  test("says nothing of what another one lists", async () => {
    await newcomer();
    const one = await makeFeed();
    served.body = "1.2.3.4\n";
    await ask(one);
    const other = await makeFeed("Others");
    served.body = "other.example\n";
    await ask(other);
    served.body = "5.6.7.8\n";
    await ask(one);
    expect(await values("active")).toEqual(["other.example", "5.6.7.8"]);
    expect(await values("expired")).toEqual(["1.2.3.4"]);
  });

  test("keeps what another one goes on listing, until none does, and until the later of two times", async () => {
    await newcomer();
    const one = await makeFeed();
    served.body = "1.2.3.4\nevil.example\n";
    await ask(one);
    const other = await makeFeed("Others");
    const later = "value,expiresAt\n1.2.3.4,2090-01-01\n";
    served.body = later;
    await ask(other);
    const { expiresAt, feedId } = await find("1.2.3.4");
    expect({ expiresAt, feedId }).toEqual({ expiresAt: null, feedId: one });
    served.body = "evil.example\n";
    await ask(one);
    expect(await find("1.2.3.4")).toMatchObject({ expiresAt: "2090-01-01T00:00:00.000Z" });
    served.body = later;
    expect(await ask(other)).toMatchObject({ status: "unchanged" });
    expect(await values("active")).toEqual(["1.2.3.4", "evil.example"]);
    served.body = "5.6.7.8\n";
    await ask(other);
    expect(await values("expired")).toEqual(["1.2.3.4"]);
    served.body = "evil.example\n5.6.7.8\n";
    await ask(one);
    await removeFeed(one);
    expect(await values("active")).toEqual(["5.6.7.8"]);
    served.body = "5.6.7.8\nevil.example\n1.2.3.4\n";
    await ask(other);
    expect(await values("expired")).toEqual([]);
  });

  test("lets nothing expire that a person confirmed, changed or imported, and brings nothing back that one ended", async () => {
    await newcomer();
    const id = await makeFeed();
    served.body = "1.1.1.1\n2.2.2.2\n3.3.3.3\n4.4.4.4\n5.5.5.5\n";
    await ask(id);
    const patch = async (value: string, fields: object) =>
      server.send(own, "PATCH", `${PATH}/${(await find(value)).id}`, fields);
    await server.send(own, "POST", PATH, { type: "ip", value: "1.1.1.1" });
    await patch("2.2.2.2", { severity: "low" });
    await server.upload(own, `${PATH}/import?format=csv`, "3.3.3.3\n");
    await patch("4.4.4.4", { expiresAt: "2020-01-01T00:00:00Z" });
    served.body = "4.4.4.4\n6.6.6.6\n";
    await ask(id);
    expect(await values("active")).toEqual(["1.1.1.1", "2.2.2.2", "3.3.3.3", "6.6.6.6"]);
    expect(await find("2.2.2.2")).toMatchObject({ severity: "low", byPerson: true, feedId: id });
    expect(await find("6.6.6.6")).toMatchObject({ byPerson: false });
    await server.send(own, "POST", PATH, { type: "ip", value: "5.5.5.5" });
    expect(await find("5.5.5.5")).toMatchObject({ expiresAt: null, byPerson: true });
    await removeFeed(id);
    expect(await values("active")).toEqual(["1.1.1.1", "2.2.2.2", "3.3.3.3", "5.5.5.5"]);
    expect(await find("2.2.2.2")).toMatchObject({ feedId: null });
  });

  test("that says the same again writes nothing again, also where two say different things of all they list", async () => {
    await newcomer();
    const one = await makeFeed();
    const list = "1.2.3.4\nevil.example\n";
    served.body = list;
    await ask(one);
    const other = await makeFeed("Others");
    served.body = list;
    await server.sql`UPDATE ioc_feeds SET severity = 'low' WHERE id = ${other}`;
    const versions = () => server.sql<{ version: string }[]>`
      SELECT xmin::text || ctid::text AS version FROM iocs WHERE organization_id = ${own}
      UNION ALL
      SELECT xmin::text || ctid::text FROM ioc_feed_listings WHERE organization_id = ${own} ORDER BY 1`;
    await ask(other);
    const before = [...(await versions())];
    expect(before).toHaveLength(4);
    for (const id of [one, other, one]) {
      await server.sql`UPDATE ioc_feeds SET etag = NULL WHERE id = ${id}`;
      expect(await ask(id)).toMatchObject({ status: "ok" });
    }
    expect([...(await versions())]).toEqual(before);
    expect(await find("1.2.3.4")).toMatchObject({ severity: "high", source: "Botnets" });
  });

  test("counts what it lists and has listed, of which some was found, and forgets what is deleted", async () => {
    await newcomer();
    const id = await makeFeed();
    served.body = "45.33.32.156\n45.33.32.157\n45.33.32.158\n45.33.32.159\n";
    await ask(id);
    await server.store(own, { host: "web-1", message: "45.33.32.156 45.33.32.158" });
    await server.seal();
    await server.huntAll();
    const ratio = async () =>
      (await server.send(own, "GET", `${PATH}/feed-stats`)).body.feeds.map(
        ({ hitRatio }: { hitRatio: number }) => hitRatio,
      );
    expect(await ratio()).toEqual([0.5]);
    served.body = "45.33.32.156\n45.33.32.157\n";
    await ask(id);
    expect(await ratio()).toEqual([0.5]);
    for (const value of ["45.33.32.157", "45.33.32.159"])
      expect((await server.send(own, "DELETE", `${PATH}/${(await find(value)).id}`)).status).toBe(204);
    expect(await ratio()).toEqual([1]);
    // What was deleted and is listed still comes back.
    await server.sql`UPDATE ioc_feeds SET etag = NULL WHERE id = ${id}`;
    await ask(id);
    expect(await values("active")).toEqual(["45.33.32.156", "45.33.32.157"]);
    expect(await values("expired")).toEqual(["45.33.32.158"]);
  });

  test("that answers something else, leads inward or fails loses nothing and says why", async () => {
    await newcomer();
    const id = await makeFeed();
    served.body = "1.2.3.4\n";
    expect(await ask(id)).toMatchObject({ status: "ok", lastError: null });
    const wrongs = [
      { body: "<html>sorry</html>" },
      { body: "x", status: 503 },
      { location: "http://127.0.0.2/x" },
      { location: "http://169.254.169.254/latest" },
    ];
    for (const wrong of wrongs) {
      Object.assign(served, { status: 200, location: "", ...wrong });
      const { status, lastError } = await ask(id);
      expect(status).toBe("failed");
      expect(lastError).not.toBeNull();
    }
    expect(await values("active")).toEqual(["1.2.3.4"]);
    const foreign = await makeOrganization(stores);
    expect((await server.send(foreign, "GET", `${PATH}/feeds`)).body).toEqual([]);
  });
});
