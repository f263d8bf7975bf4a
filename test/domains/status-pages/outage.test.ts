import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { eventually } from "../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { freshSlug, organization, PAGES, type PageServer, pageServer } from "./page-server.ts";

let stores: TestStores;
/** Nobody listens there: as the database looks from here while it is stopped. It is asked anew at once. */
const away = postgres("postgres://obs@127.0.0.1:1/obs", { connect_timeout: 1, max: 1, backoff: () => 0 });
const signal = new AbortController().signal;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(async () => {
  await away.end({ timeout: 0 });
  await stores.close();
});

/** A page that is published and kept on disk, in a directory of its own, and a server over it that has just started without its database. */
async function keptPage(fields: object = {}, password: string | null = null) {
  const directory = temporaryDirectory();
  const first = pageServer(stores, { directory: directory.path });
  const { send, monitor } = await organization(stores, first);
  const slug = freshSlug();
  const made = await send("POST", PAGES, {
    name: "Acme",
    slug,
    monitorIds: [await monitor("API")],
    ...fields,
  });
  if (password !== null) await send("PUT", `${PAGES}/${made.body.id}/password`, { password });
  await first.statusPages.keepCopies(signal);
  const second = pageServer(stores, { directory: directory.path, sql: away });
  await second.statusPages.start();
  return { directory, first, second, slug, send, path: `${PAGES}/${made.body.id}` };
}

async function text(server: PageServer, path: string, headers: Record<string, string> = {}) {
  const response = await server.app.send("GET", path, { headers });
  return { status: response.status, text: await response.text() };
}

describe("while the database is away", () => {
  test("a server that has just started shows its copy and says so; other pages are unavailable", async () => {
    const { second, slug, directory } = await keptPage({ customDomain: "kept.example.com" });
    using _directory = directory;
    const page = await text(second, `/status/${slug}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Live data cannot be reached");
    expect(page.text).toContain("API");
    const data = await text(second, `${PAGES}/public/${slug}`);
    expect(JSON.parse(data.text)).toMatchObject({ isStale: true, name: "Acme" });
    const feed = await text(second, `/status/${slug}/feed.xml`);
    expect([feed.status, feed.text.includes("Acme status")]).toEqual([200, true]);
    const badge = await text(second, `/status/${slug}/badge.svg`);
    expect([badge.status, badge.text.includes("status: operational")]).toEqual([200, true]);
    const embedded = await text(second, `/status/${slug}?embed=1`);
    expect([embedded.status, embedded.text.includes("Live data cannot")]).toEqual([200, true]);
    expect(second.statusPages.slugOfHost("kept.example.com")).toBe(slug);
    // Nothing is offered that cannot be done, and people are told so in words.
    expect(page.text).not.toContain("<form");
    const unknown = await text(second, `/status/${freshSlug()}`);
    expect([unknown.status, unknown.text.includes("try again in a minute")]).toEqual([503, true]);
    await second.statusPages.stop();
  });

  test("a password still locks and opens", async () => {
    const { second, slug, directory } = await keptPage({}, "open sesame");
    using _directory = directory;
    expect((await text(second, `/status/${slug}`)).status).toBe(401);
    const opened = await second.app.send("POST", `${PAGES}/public/${slug}/unlock`, {
      json: { password: "open sesame" },
    });
    expect(opened.status).toBe(204);
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await text(second, `/status/${slug}`, { cookie })).status).toBe(200);
    await second.statusPages.stop();
  });

  test("what was in memory is shown with the banner, and without it when the database is back", async () => {
    using directory = temporaryDirectory();
    let isAway = false;
    const sql = new Proxy(stores.postgres, {
      apply: (target, self, args) => Reflect.apply(isAway ? away : target, self, args),
      get: (target, name) => Reflect.get(isAway ? away : target, name),
    });
    const server = pageServer(stores, { directory: directory.path, sql });
    const { send } = await organization(stores, server);
    const slug = freshSlug();
    await send("POST", PAGES, { name: "Acme", slug });
    expect((await text(server, `/status/${slug}`)).text).not.toContain("Live data");
    isAway = true;
    server.clock.nowMs += 11_000;
    const shown = await text(server, `/status/${slug}`);
    expect([shown.status, shown.text.includes("Live data cannot")]).toEqual([200, true]);
    expect(JSON.parse((await text(server, `${PAGES}/public/${slug}`)).text)).toMatchObject({ isStale: true });
    for (const place of ["feed.xml", "badge.svg"])
      expect((await text(server, `/status/${slug}/${place}`)).status).toBe(200);
    isAway = false;
    await eventually("the page is read again", async () => {
      server.clock.nowMs += 11_000;
      return (await text(server, `/status/${slug}`)).text.includes("Live data") ? null : true;
    });
  });
});

describe("copies on disk", () => {
  test("show nobody what they hold, and one that is torn or strange is as good as none", async () => {
    const { second, slug, directory } = await keptPage({}, "open sesame");
    using _directory = directory;
    const folder = join(directory.path, "status-pages");
    const names = readdirSync(folder);
    expect(names.every((name) => /^[0-9a-f]{64}\.sealed$/.test(name))).toBe(true);
    for (const name of names) {
      const bytes = readFileSync(join(folder, name));
      expect(bytes.includes("Acme") || bytes.includes("hash of")).toBe(false);
      writeFileSync(join(folder, name), bytes.subarray(0, bytes.length - 5));
    }
    expect((await text(second, `/status/${slug}`)).status).toBe(503);
    await second.statusPages.stop();
  });

  test("are removed with their pages", async () => {
    const { first, second, send, path, directory } = await keptPage();
    using _directory = directory;
    const folder = join(directory.path, "status-pages");
    const before = readdirSync(folder).length;
    await send("DELETE", path);
    await first.statusPages.keepCopies(signal);
    expect(readdirSync(folder)).toHaveLength(before - 1);
    await second.statusPages.stop();
  });
});
