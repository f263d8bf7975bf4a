import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import RssParser from "rss-parser";
import { Value } from "typebox/value";
import { HostRecord } from "../../../src/domains/status-pages/host-proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  DAY_MS,
  freshSlug,
  NOW_MS,
  organization,
  PAGES,
  type PageServer,
  pageServer,
} from "./page-server.ts";

let stores: TestStores;
let server: PageServer;
let directory: ReturnType<typeof temporaryDirectory>;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = pageServer(stores, { directory: directory.path });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await server.app.send("GET", path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function published(fields: object = {}) {
  const made = await organization(stores, server);
  const slug = freshSlug();
  const page = await made.send("POST", PAGES, { name: "Acme", slug, ...fields });
  expect(page.status).toBe(201);
  return { ...made, slug, path: `${PAGES}/${page.body.id}`, page: page.body };
}

describe("a status page", () => {
  test("is made, listed, changed and deleted by admins, and leaves its rows in the audit log", async () => {
    const { id, send, path, page, slug } = await published();
    expect(page).toMatchObject({
      slug,
      monitorIds: [],
      groups: [],
      isPublic: true,
      hasPassword: false,
      theme: null,
    });
    const monitorIds: number[] = [];
    const own = await organization(stores, server);
    const foreign = await own.monitor("foreign");
    expect((await send("PATCH", path, { monitorIds: [foreign] })).body).toMatchObject({
      fields: [{ path: "/monitorIds/0", code: "custom" }],
    });
    const changed = await send("PATCH", path, { name: "Acme 2", monitorIds, theme: { accent: "#ff0000" } });
    expect(changed.body).toMatchObject({ name: "Acme 2", theme: { accent: "#ff0000" } });
    expect((await send("GET", path)).body).toEqual(changed.body);
    expect(Object.values((await send("GET", PAGES)).body)).toHaveLength(1);
    expect((await send("GET", PAGES, undefined, "member/*")).status).toBe(403);
    expect((await own.send("GET", path)).status).toBe(404);
    expect((await send("DELETE", path)).status).toBe(204);
    const rows = await stores.postgres<{ action: string }[]>`
      SELECT action FROM audit_log WHERE organization_id = ${id} ORDER BY seq`;
    expect(rows.map(({ action }) => action)).toEqual([
      "CREATE_STATUS_PAGE",
      "UPDATE_STATUS_PAGE",
      "DELETE_STATUS_PAGE",
    ]);
  });

  test("keeps what it shows in order where a monitor of it has been deleted, and takes no other that is gone", async () => {
    const { send, monitor, path } = await published();
    const [first, gone, other] = [await monitor("first"), await monitor("gone"), await monitor("other")];
    await send("PATCH", path, { monitorIds: [first, gone] });
    await stores.postgres`DELETE FROM monitors WHERE id IN ${stores.postgres([gone, other])}`;
    const { monitorIds } = (await send("GET", path)).body;
    expect((await send("PATCH", path, { monitorIds })).status).toBe(200);
    expect((await send("PATCH", path, { monitorIds: [first, other] })).body).toMatchObject({
      fields: [{ path: "/monitorIds/1", code: "custom" }],
    });
  });

  test("has a slug and a host that nobody else has, and none that is reserved", async () => {
    const { slug, send } = await published({ customDomain: `${freshSlug()}.example.com` });
    const other = await organization(stores, server);
    expect((await other.send("POST", PAGES, { name: "b", slug })).body.code).toBe("CONFLICT");
    for (const reserved of ["by-host", "unsubscribe"])
      expect((await send("POST", PAGES, { name: "b", slug: reserved })).body.code).toBe("VALIDATION_FAILED");
    for (const wrong of ["A", "-a", "a b", "ä"])
      expect((await send("POST", PAGES, { name: "b", slug: wrong })).status).toBe(400);
    expect(
      (await send("POST", PAGES, { name: "b", slug: freshSlug(), customDomain: "localhost" })).status,
    ).toBe(400);
  });

  test("shows public names, confirmed states and ninety days, and never an address, an error or an internal name", async () => {
    const { send, monitor, period, incident, path, slug } = await published();
    const [api, shop, database] = [
      await monitor("api-eu-1"),
      await monitor("Shop", "down"),
      await monitor("db-7"),
    ];
    await period(api, "up", NOW_MS - 100 * DAY_MS, null);
    await period(shop, "up", NOW_MS - 10 * DAY_MS, NOW_MS - 3_600_000);
    await period(shop, "down", NOW_MS - 3_600_000, null);
    await period(database, "down", NOW_MS - 30_000, null);
    await incident(
      [database],
      [
        { body: "We look into it <script>alert(1)</script>", public: true },
        { body: "connect ECONNREFUSED 10.0.0.7", public: false },
      ],
    );
    await incident([api], [{ body: "only the server noted this", public: false }], {
      sourceKey: "monitor:2",
    });
    await send("PATCH", path, {
      monitorIds: [api, shop, database],
      publicNames: [
        { monitorId: api, name: "API" },
        { monitorId: database, name: "Storage" },
      ],
      groups: [{ name: "Behind the scenes", monitorIds: [database] }],
    });
    const json = JSON.parse((await read(`${PAGES}/public/${slug}`)).text);
    expect(json).toMatchObject({
      state: "down",
      isStale: false,
      groups: [
        {
          name: null,
          state: "down",
          components: [{ name: "API", state: "operational", uptimePercent: 100 }, { name: "Shop" }],
        },
        { name: "Behind the scenes", components: [{ name: "Storage" }] },
      ],
      incidents: [
        {
          title: "Incident: Storage",
          components: ["Storage"],
          updates: [{ body: "We look into it <script>alert(1)</script>" }],
        },
      ],
    });
    const [first, second] = json.groups[0].components;
    expect(first.days).toHaveLength(90);
    expect(second.days.at(-1)).toMatchObject({ date: "2026-03-08", state: "down" });
    expect(second.days[0]).toMatchObject({ state: "unknown", uptimePercent: null });
    expect(json.groups[1].components[0].uptimePercent).toBeNull();
    const html = await read(`/status/${slug}`);
    // As many days as something is known of.
    expect(html.text).toContain("100 % in 90 days");
    expect(html.text).toMatch(/9\d\.\d+ % in 11 days/);
    expect(html.status).toBe(200);
    expect(html.headers.get("content-security-policy")).toStartWith("default-src 'none'; style-src 'sha256-");
    expect(html.text).toContain("Some systems are down – Acme status</title>");
    for (const text of [html.text, JSON.stringify(json)])
      for (const secret of ["internal.example", "ECONNREFUSED", "api-eu-1", "db-7", "only the server"])
        expect(text).not.toContain(secret);
    expect(html.text).not.toContain("<script");
  });

  test("shows announced work as running or to come", async () => {
    const { id, send, monitor, path, slug } = await published();
    const api = await monitor("API");
    await send("PATCH", path, { monitorIds: [api] });
    const window = (title: string, fromMs: number) => stores.postgres`
      INSERT INTO maintenance_windows (organization_id, monitor_id, title, starts_at, ends_at, created_at, updated_at)
      VALUES (${id}, ${api}, ${title}, ${new Date(fromMs)}, ${new Date(fromMs + 7_200_000)}, now(), now())`;
    await window("now", NOW_MS - 3_600_000);
    await window("later", NOW_MS + DAY_MS);
    await window("over", NOW_MS - DAY_MS);
    server.statusPages.forget(slug);
    const json = JSON.parse((await read(`${PAGES}/public/${slug}`)).text);
    expect(json).toMatchObject({
      state: "maintenance",
      maintenance: [
        { title: "now", isRunning: true, components: ["API"] },
        { title: "later", isRunning: false },
      ],
    });
  });

  test("that is not public answers 404, as one that does not exist", async () => {
    const { slug, send, path } = await published();
    await send("PATCH", path, { isPublic: false });
    for (const where of [`/status/${slug}`, `${PAGES}/public/${slug}`, `${PAGES}/public/${slug}/feed.xml`])
      expect((await read(where)).status).toBe(404);
    expect((await read("/status/..%2f")).status).toBe(404);
  });

  test("of fifty components and five incidents is sent packed and small, is known by its tag, and is kept for ten seconds", async () => {
    const { send, monitor, period, incident, path, slug } = await published();
    const ids: number[] = [];
    for (let index = 0; index < 50; index += 1) {
      const id = await monitor(`Component ${index}`);
      for (let day = 1; day < 80; day += 1 + (index % 7)) {
        await period(id, "down", NOW_MS - day * DAY_MS, NOW_MS - day * DAY_MS + 60_000 * (index + day));
        await period(id, "up", NOW_MS - day * DAY_MS + 60_000 * (index + day), NOW_MS - (day - 1) * DAY_MS);
      }
      ids.push(id);
    }
    for (let index = 0; index < 5; index += 1) {
      const bodies = [...Array(3).keys()].map(
        (nth) => `Requests to ${index} fail: ${crypto.randomUUID()} ${nth}.`,
      );
      await incident(
        ids.slice(index, index + 2),
        bodies.map((body) => ({ body, public: true })),
        { sourceKey: `monitor:${index}` },
      );
    }
    await send("PATCH", path, { monitorIds: ids });
    const response = await server.app.send("GET", `/status/${slug}`, {
      headers: { "accept-encoding": "gzip" },
    });
    const packed = await response.arrayBuffer();
    expect(packed.byteLength).toBeLessThanOrEqual(14 * 1024);
    expect(response.headers.get("cache-control")).toBe("public, max-age=10");
    const etag = response.headers.get("etag") ?? "";
    const again = await read(`/status/${slug}`, { "accept-encoding": "gzip", "if-none-match": etag });
    expect(again.status).toBe(304);
    await stores.postgres`UPDATE status_pages SET name = 'Elsewhere changed' WHERE slug = ${slug}`;
    expect((await read(`/status/${slug}`)).text).not.toContain("Elsewhere changed");
    server.clock.nowMs += 10_000;
    expect((await read(`/status/${slug}`)).text).toContain("Elsewhere changed");
  });

  test("has a feed that a feed reader reads, markup of updates included", async () => {
    const { send, monitor, incident, path, slug } = await published();
    const api = await monitor("internal", "down");
    await incident([api], [{ body: "<b>bold</b> & found", public: true, status: "identified" }]);
    await send("PATCH", path, { monitorIds: [api], publicNames: [{ monitorId: api, name: "A & B" }] });
    const { text, headers } = await read(`${PAGES}/public/${slug}/feed.xml`);
    expect(headers.get("content-type")).toStartWith("application/atom+xml");
    const feed = await new RssParser().parseString(text);
    expect(feed).toMatchObject({
      title: "Acme status",
      items: [{ title: "Investigating: Incident: A & B" }],
    });
    expect(feed.items[0]?.content).toContain("Identified: &lt;b&gt;bold&lt;/b&gt; &amp; found");
  });

  test("has a badge and a view to embed, which other sites may frame", async () => {
    const { slug } = await published();
    expect((await read(`/status/${slug}/badge.svg`)).text).toContain("not known");
    const embedded = await read(`/status/${slug}?embed=1`);
    expect(embedded.headers.get("content-security-policy")).toContain("frame-ancestors *");
    expect(embedded.text).not.toContain("<form");
    expect(embedded.text).toContain(
      `<a href="/status/${slug}" target="_blank" rel="noopener">Acme status</a>`,
    );
    expect((await read(`/status/${slug}`)).headers.get("content-security-policy")).toContain(
      "frame-ancestors 'none'",
    );
  });
});

describe("a password", () => {
  test("locks the page, its data and its feed until it is given, and anew when it changes", async () => {
    const { id, send, path, slug } = await published();
    expect((await send("PUT", `${path}/password`, { password: "open sesame" })).status).toBe(204);
    expect((await send("GET", path)).body).toMatchObject({ hasPassword: true });
    expect(JSON.stringify((await send("GET", path)).body)).not.toContain("hash of");
    for (const where of [`${PAGES}/public/${slug}`, `${PAGES}/public/${slug}/feed.xml`]) {
      const locked = await read(where);
      expect([locked.status, JSON.parse(locked.text).code]).toEqual([401, "PAGE_LOCKED"]);
    }
    const asked = await read(`/status/${slug}`);
    expect(asked.status).toBe(401);
    expect(asked.text).toContain('type="password"');
    const unlock = (password: string) =>
      server.app.send("POST", `${PAGES}/public/${slug}/unlock`, { json: { password } });
    expect((await unlock("wrong")).status).toBe(401);
    const opened = await unlock("open sesame");
    expect(opened.status).toBe(204);
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(cookie).toStartWith("status_page_");
    const page = await read(`/status/${slug}`, { cookie });
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("private, no-store");
    expect(page.headers.get("vary")).toContain("cookie");
    expect((await read(`/status/${slug}`, { cookie: `${cookie}A` })).status).toBe(401);
    await send("PUT", `${path}/password`, { password: "another one" });
    expect((await read(`/status/${slug}`, { cookie })).status).toBe(401);
    await send("PUT", `${path}/password`, { password: null });
    expect((await read(`/status/${slug}`)).status).toBe(200);
    const rows = await stores.postgres<{ had: string | null; has: string | null }[]>`
      SELECT meta #>> '{diff,hasPassword,from}' AS had, meta #>> '{diff,hasPassword,to}' AS has FROM audit_log
      WHERE organization_id = ${id} AND action = 'SET_STATUS_PAGE_PASSWORD' ORDER BY seq`;
    expect(rows.map(({ had, has }) => [had, has])).toEqual([
      ["false", "true"],
      [null, null],
      ["true", "false"],
    ]);
  });

  test("opens by a form without script", async () => {
    const { send, path, slug } = await published();
    await send("PUT", `${path}/password`, { password: "open sesame" });
    const post = (password: string) =>
      server.app.send("POST", `/status/${slug}/unlock`, {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ password }).toString(),
      });
    const wrong = await post("wrong");
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).toContain("That is not the password.");
    const right = await post("open sesame");
    expect([right.status, right.headers.get("location")]).toEqual([303, `/status/${slug}`]);
  });

  test("that is guessed at is asked for ever more slowly", async () => {
    const { send, path, slug } = await published();
    await send("PUT", `${path}/password`, { password: "open sesame" });
    const statuses: number[] = [];
    for (let guess = 0; guess < 15; guess += 1) {
      const answer = await server.app.send("POST", `${PAGES}/public/${slug}/unlock`, {
        json: { password: `${guess}` },
      });
      statuses.push(answer.status);
    }
    expect(statuses).toContain(429);
    expect(statuses.indexOf(429)).toBeGreaterThan(5);
  });
});

describe("a host of its own", () => {
  test("shows the page alone, and a host that is nobody's shows the server", async () => {
    const customDomain = `${freshSlug()}.example.com`;
    const { slug } = await published({ customDomain });
    await server.statusPages.keepCopies(new AbortController().signal);
    const get = (host: string, path: string) =>
      server.hosted.handle(new Request(`http://${host}${path}`, { headers: { host } }), {
        peerAddress: "192.0.2.1",
      });
    const page = await get(customDomain, "/");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('action="/subscribe"');
    expect((await get(customDomain, "/feed.xml")).status).toBe(200);
    for (const elsewhere of ["/api/v1/status-pages", "/status/other", "/docs"])
      expect((await get(customDomain, elsewhere)).status).toBe(404);
    expect((await get("nobody.example.com", "/")).status).toBe(404);
    const found = await read(`${PAGES}/public/by-host/${customDomain}`);
    expect(JSON.parse(found.text)).toEqual({ slug, name: "Acme" });
    expect((await read(`${PAGES}/public/by-host/nobody.example.com`)).status).toBe(404);
  });

  test("is who proves it by a record that nobody else was given, and shows nothing of whoever only names it", async () => {
    const customDomain = `${freshSlug()}.example.net`;
    const squatter = await published({ customDomain });
    const owner = await published({ customDomain });
    const host = async ({ send, path }: typeof owner) =>
      Value.Parse(HostRecord, (await send("GET", `${path}/host`)).body);
    const verify = ({ send, path }: typeof owner) => send("POST", `${path}/host/verify`);
    const shown = async () => {
      await server.statusPages.keepCopies(new AbortController().signal);
      return server.statusPages.slugOfHost(customDomain);
    };
    expect(await host(owner)).toMatchObject({ customDomain, provenAt: null });
    expect((await verify(owner)).body.code).toBe("DOMAIN_NOT_VERIFIED");
    expect(await shown()).toBeNull();
    const { record } = await host(owner);
    expect(record.name).toBe(`_obs.${customDomain}`);
    server.records.set(record.name, ["v=spf1 -all", record.value]);
    expect((await verify(squatter)).body.code).toBe("DOMAIN_NOT_VERIFIED");
    expect((await verify(owner)).status).toBe(200);
    expect(await shown()).toBe(owner.slug);
    server.records.set(record.name, [(await host(squatter)).record.value]);
    expect((await verify(squatter)).body.code).toBe("CONFLICT");
    // Its links lead to the host since it is proven; to another one only when that is proven, too.
    const other = `${freshSlug()}.example.net`;
    await owner.send("PATCH", owner.path, { customDomain: other });
    expect(await host(owner)).toMatchObject({ customDomain: other, provenAt: null });
    expect(await shown()).toBeNull();
    expect((await verify(squatter)).status).toBe(200);
    expect(await shown()).toBe(squatter.slug);
  });

  test("that the operator vouches for since needs no record once it is saved again", async () => {
    const customDomain = `${freshSlug()}.example.com`;
    const { id, send, path } = await published({ customDomain });
    await stores.postgres`UPDATE status_pages SET custom_domain_proven_at = NULL WHERE organization_id = ${id}`;
    expect((await send("PATCH", path, { name: "Acme" })).body).toMatchObject({ customDomainProvenAt: null });
    const { body } = await send("PATCH", path, { customDomain });
    expect(body.customDomainProvenAt).toBeString();
    expect((await send("PATCH", path, { customDomain })).body).toMatchObject(body);
  });

  test("is asked for by its page alone", async () => {
    const { send, path } = await published();
    expect((await send("GET", `${path}/host`)).status).toBe(404);
    expect((await send("POST", `${path}/host/verify`)).status).toBe(404);
  });
});
