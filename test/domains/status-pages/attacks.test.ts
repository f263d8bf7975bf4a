import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import RssParser from "rss-parser";
import { CACHED_MAX } from "../../../src/domains/status-pages/limits.ts";
import { PublishedPages } from "../../../src/domains/status-pages/published-pages.ts";
import { copiesIn } from "../../../src/domains/status-pages/sealed-copies.ts";
import { PENDING_MAX } from "../../../src/domains/status-pages/subscribers/limits.ts";
import { MemoryLoginThrottle } from "../../../src/identity/memory-login-throttle.ts";
import { RedisLoginThrottle } from "../../../src/identity/redis-login-throttle.ts";
import { createLogger } from "../../../src/log.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { openTestRedis } from "../../harness/redis.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { freshSlug, NOW_MS, organization, PAGES, type PageServer, pageServer } from "./page-server.ts";
import { subscribedPage } from "./subscribed-page.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let stores: TestStores;
let directory: ReturnType<typeof temporaryDirectory>;
const clock = { nowMs: NOW_MS };
/** Two instances over one database. */
let one: PageServer;
let two: PageServer;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  one = pageServer(stores, { directory: directory.path, clock });
  two = pageServer(stores, { directory: directory.path, clock });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

const get = (on: PageServer, path: string, headers: Record<string, string> = {}, method = "GET") =>
  on.app.send(method, path, { headers });

async function published(fields: object = {}) {
  const made = await organization(stores, one);
  const slug = freshSlug();
  const { status, body } = await made.send("POST", PAGES, { name: "Acme", slug, ...fields });
  expect(status).toBe(201);
  return { ...made, slug, path: `${PAGES}/${body.id}` };
}

describe("subscriptions", () => {
  const ask = (on: PageServer, slug: string, email: string, peerAddress: string) =>
    on.app.send("POST", `${PAGES}/public/${slug}/subscribe`, { json: { email }, peerAddress });
  const mails = () => [...one.mails, ...two.mails];

  test("of one client are five an hour over all instances, also when they come at once, and again after it", async () => {
    const { slug, subscribers } = await subscribedPage(stores, one);
    const attempt = async (round: string) => {
      const answers = await Promise.all(
        [...Array(12).keys()].map((index) =>
          ask(index % 2 === 0 ? one : two, slug, `${round}-${index}@example.com`, "2001:db8:5:6::1"),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    };
    await attempt("first");
    expect(await subscribers()).toHaveLength(5);
    // The other addresses of a network are the same client.
    await ask(two, slug, "neighbour@example.com", "2001:db8:5:6:ffff::2");
    expect(await subscribers()).toHaveLength(5);
    await ask(two, slug, "somebody@example.com", "2001:db8:5:7::1");
    expect(await subscribers()).toHaveLength(6);
    clock.nowMs += HOUR_MS;
    await attempt("second");
    expect(await subscribers()).toHaveLength(11);
    clock.nowMs += HOUR_MS;
    for (const remove of one.housekeeping) await remove(stores.postgres, clock.nowMs, 1000);
    const left = await stores.postgres`SELECT 1 FROM job_turns WHERE name LIKE 'status-page-subscription:%'`;
    expect(left).toHaveLength(0);
  });

  test("of one address by many clients at once, on all instances and pages, are one mail", async () => {
    const pages = [await subscribedPage(stores, one), await subscribedPage(stores, one)];
    const victim = `${crypto.randomUUID()}@example.com`;
    await Promise.all(
      [...Array(24).keys()].map((index) =>
        ask(
          index % 2 === 0 ? one : two,
          pages[index % 3 === 0 ? 0 : 1]?.slug ?? "",
          victim,
          `192.0.2.${index}`,
        ),
      ),
    );
    expect(mails().filter(({ to }) => to === victim)).toHaveLength(1);
  });

  test("of somebody who never confirms are mailed ever more rarely, whoever goes on asking, and of others as ever", async () => {
    const { slug } = await subscribedPage(stores, one);
    const other = await subscribedPage(stores, one);
    const victim = `${crypto.randomUUID()}@example.com`;
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      await ask(one, minutes % 20 === 0 ? slug : other.slug, victim, `203.0.113.${minutes % 144}`);
      clock.nowMs += 10 * MINUTE_MS;
    }
    // At 0, 10, 20, 40, 80, ... minutes.
    expect(mails().filter(({ to }) => to === victim)).toHaveLength(9);
    const reader = await subscribedPage(stores, one);
    await reader.subscribed();
    for (const next of [slug, other.slug]) {
      clock.nowMs += 10 * MINUTE_MS;
      await ask(one, next, reader.email, "198.18.7.7");
    }
    expect(reader.mailsTo()).toHaveLength(3);
  });

  test("of one mailbox are one mail, whatever stands behind a plus sign", async () => {
    const { slug } = await subscribedPage(stores, one);
    const victim = crypto.randomUUID();
    for (let i = 0; i < 20; i++) await ask(one, slug, `${victim}+${i}@example.com`, `203.0.113.${i}`);
    await ask(two, slug, `${victim}@example.com`, "203.0.113.99");
    expect(mails().filter(({ to }) => to.startsWith(victim))).toHaveLength(1);
  });

  test("that nobody confirms take no place from who does, and give way to others after an hour", async () => {
    const { slug, path } = await published();
    const pageId = Number(path.split("/").at(-1));
    await stores.postgres`
      INSERT INTO status_page_subscribers (organization_id, status_page_id, email, confirm_token_hash, confirmation_sent_at, created_at)
      SELECT organization_id, id, 'flood-' || n || '-' || id || '@example.com', sha256((n || '-' || id)::bytea),
             ${new Date(clock.nowMs)}, ${new Date(clock.nowMs)}
      FROM status_pages, generate_series(1, ${PENDING_MAX}) AS n WHERE id = ${pageId}`;
    await ask(one, slug, "early@example.com", "198.51.100.1");
    const emails = async () => {
      const rows = await stores.postgres<{ email: string }[]>`
        SELECT email FROM status_page_subscribers WHERE status_page_id = ${pageId}`;
      return rows.map(({ email }) => email);
    };
    expect(await emails()).not.toContain("early@example.com");
    clock.nowMs += HOUR_MS;
    await ask(one, slug, "later@example.com", "198.51.100.2");
    expect(await emails()).toContain("later@example.com");
    expect(await emails()).toHaveLength(PENDING_MAX);
  });

  test("are neither confirmed nor ended by what opens the links of mails, whether as a browser or for the head alone", async () => {
    const page = await subscribedPage(stores, one);
    await page.subscribe();
    const scanners = [
      ["HEAD", {}],
      ["HEAD", { accept: "*/*" }],
      ["GET", { "user-agent": "Mozilla/5.0 (compatible; scanner)", accept: "*/*" }],
      ["GET", { accept: "text/html,*/*" }],
    ] as const;
    for (const [method, headers] of scanners) {
      expect((await get(one, page.link(), headers, method)).status).toBe(200);
      expect(await page.subscribers()).toMatchObject([{ confirmed: false }]);
    }
    expect((await get(one, page.link(), {}, "POST")).status).toBe(200);
    await page.tell(await page.incident([page.api], [{ body: "We look", public: true }]), [page.api]);
    await one.tellDue();
    const { pathname, search } = new URL(page.mailsTo().at(-1)?.unsubscribe ?? "");
    for (const [method, headers] of scanners) {
      expect((await get(one, pathname + search, headers, method)).status).toBe(200);
      expect(await page.subscribers()).toMatchObject([{ confirmed: true }]);
    }
  });
});

describe("slugs", () => {
  test("that several want at once become one's, and go on to another only when they are free", async () => {
    const slug = freshSlug();
    const people = await Promise.all([...Array(4).keys()].map(() => organization(stores, one)));
    const answers = await Promise.all(people.map(({ send }) => send("POST", PAGES, { name: "Acme", slug })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 201);
    const loser = people[winner === 0 ? 1 : 0];
    const path = `${PAGES}/${answers[winner]?.body.id}`;
    const taken = await loser?.send("POST", PAGES, { name: "Other", slug: freshSlug() });
    const others = `${PAGES}/${taken?.body.id}`;
    expect((await loser?.send("PATCH", others, { slug }))?.body.code).toBe("CONFLICT");
    expect(await (await get(two, `/status/${slug}`)).text()).toContain("Acme status");
    await people[winner]?.send("PATCH", path, { slug: freshSlug() });
    expect((await loser?.send("PATCH", others, { slug }))?.status).toBe(200);
    clock.nowMs += 10_000;
    for (const server of [one, two]) {
      const text = await (await get(server, `/status/${slug}`)).text();
      expect([text.includes("Other status"), text.includes("Acme")]).toEqual([true, false]);
    }
  });
});

describe("hosts", () => {
  test("however they are written lead to their page alone, and those that are nobody's to no page", async () => {
    const host = `${freshSlug()}.example.com`;
    await published({ customDomain: host });
    const other = await published();
    await one.statusPages.keepCopies(new AbortController().signal);
    const at = (sentTo: string, path: string, headers: Record<string, string> = {}) =>
      one.hosted.handle(new Request(`http://${sentTo}${path}`, { headers: { host: sentTo, ...headers } }), {
        peerAddress: "192.0.2.1",
      });
    for (const own of [host, host.toUpperCase(), `${host}:8443`])
      expect((await at(own, "/")).status).toBe(200);
    for (const path of [
      `/status/${other.slug}`,
      `/../${other.slug}`,
      `/..%2f${other.slug}`,
      `/%2e%2e/${other.slug}`,
      `//${other.slug}`,
      `/\\..\\${other.slug}`,
      "/api/v1/health",
    ])
      expect([path, (await at(host, path)).status]).toEqual([path, 404]);
    const nobodys = `${freshSlug()}.example.com`;
    for (const headers of [
      {},
      { "x-forwarded-host": host },
      { forwarded: `host=${host}` },
      { "x-original-host": host },
    ])
      expect((await at(nobodys, "/", headers)).status).toBe(404);
  });
});

describe("the password of a page", () => {
  const guess = (on: PageServer, slug: string, password: string, peerAddress: string) =>
    on.app.send("POST", `${PAGES}/public/${slug}/unlock`, { json: { password }, peerAddress });

  test("is guessed no faster from many addresses, by neither form, and the right one has to wait, too", async () => {
    const { slug, send, path } = await published();
    await send("PUT", `${path}/password`, { password: "open sesame" });
    const statuses: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      const peerAddress = `198.18.44.${index}`;
      const answer =
        index % 2 === 0
          ? await guess(one, slug, `wrong ${index}`, peerAddress)
          : await one.app.send("POST", `/status/${slug}/unlock`, {
              headers: { "content-type": "application/x-www-form-urlencoded" },
              body: `password=wrong+${index}`,
              peerAddress,
            });
      statuses.push(answer.status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(51);
    expect(statuses.slice(51)).toEqual(statuses.slice(51).map(() => 429));
    expect((await guess(one, slug, "open sesame", "198.18.45.1")).status).toBe(429);
    clock.nowMs += 2_000;
    expect((await guess(one, slug, "open sesame", "198.18.45.1")).status).toBe(204);
  });

  test("is guessed no faster by way of several instances", async () => {
    const redis = await openTestRedis();
    if (redis === null) return;
    const client = new Redis(redis.url);
    const log = createLogger("silent");
    const now = () => clock.nowMs;
    const instances = [1, 2].map(() => {
      const throttle = new RedisLoginThrottle({
        redis: client,
        local: new MemoryLoginThrottle({ now }),
        now,
        log,
      });
      return pageServer(stores, { directory: directory.path, clock, throttle });
    });
    const { slug, send, path } = await published();
    await send("PUT", `${path}/password`, { password: "open sesame" });
    const answers = await Promise.all(
      [...Array(30).keys()].flatMap((index) =>
        instances.map((instance) => guess(instance, slug, `wrong ${index}`, "198.18.46.1")),
      ),
    );
    const judged = answers.filter(({ status }) => status === 401);
    // Those of an address that are free, and the one that begins the waiting.
    expect(judged).toHaveLength(11);
    client.disconnect();
    await redis.close();
  });
});

describe("what is behind a password", () => {
  test("is nobody else's, whatever a cache or a reader without it brings", async () => {
    const { slug, send, path } = await published();
    const places = [
      `/status/${slug}`,
      `/status/${slug}?embed=1`,
      `/status/${slug}/badge.svg`,
      `/status/${slug}/feed.xml`,
      `${PAGES}/public/${slug}`,
      `${PAGES}/public/${slug}/feed.xml`,
    ];
    const tags = new Map<string, string>();
    for (const place of places) tags.set(place, (await get(one, place)).headers.get("etag") ?? "");
    await send("PUT", `${path}/password`, { password: "open sesame" });
    const opened = await one.app.send("POST", `${PAGES}/public/${slug}/unlock`, {
      json: { password: "open sesame" },
    });
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    for (const place of places) {
      // Somebody who may reads first, so that whatever is kept is kept.
      const read = await get(one, place, { cookie });
      expect([place, read.status, read.headers.get("cache-control")]).toEqual([
        place,
        200,
        "private, no-store",
      ]);
      expect(read.headers.get("vary")).toContain("cookie");
      expect(read.headers.get("access-control-allow-origin")).toBeNull();
      const etag = read.headers.get("etag") ?? "";
      expect((await get(one, place, { cookie, "if-none-match": etag })).status).toBe(304);
      for (const method of ["GET", "HEAD"])
        for (const known of [etag, `W/${etag}`, tags.get(place) ?? "", "*"]) {
          const refused = await get(one, place, { "if-none-match": known }, method);
          expect([place, refused.status]).toEqual([place, 401]);
          expect(refused.headers.get("cache-control")).toBe("no-store");
          expect(refused.headers.get("etag")).toBeNull();
        }
      const foreign = cookie.replace(/status_page_\d+/, "status_page_999999999");
      expect((await get(one, place, { cookie: foreign })).status).toBe(401);
    }
  });
});

describe("markup", () => {
  const MARKUP = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>]]>&amp;\u0007\u001b[31m\u202e\uffff`;

  test("in names and updates is text wherever it is shown", async () => {
    const page = await subscribedPage(stores, one);
    const { send, path, slug, api, shop } = page;
    await send("PATCH", path, {
      name: MARKUP,
      description: MARKUP,
      publicNames: [{ monitorId: api, name: MARKUP.slice(0, 100) }],
      groups: [{ name: MARKUP.slice(0, 100), monitorIds: [shop] }],
    });
    await page.subscribed();
    const incident = await page.incident([api], [{ body: MARKUP, public: true }], {
      title: MARKUP,
      sourceKey: null,
    });
    await page.tell(incident, [api]);
    await one.tellDue();
    one.statusPages.forget(slug);
    const harmless = (text: string) =>
      expect(["<script", "<img", `"'>`].filter((markup) => text.includes(markup))).toEqual([]);
    for (const place of [`/status/${slug}`, `/status/${slug}?embed=1`, `/status/${slug}/badge.svg`]) {
      const answer = await get(one, place);
      expect([place, answer.status]).toEqual([place, 200]);
      harmless(await answer.text());
    }
    for (const place of [`/status/${slug}/feed.xml`, `${PAGES}/public/${slug}/feed.xml`]) {
      const text = await (await get(one, place)).text();
      // The characters that no XML may have.
      expect(text).not.toMatch(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/u);
      const feed = await new RssParser().parseString(text);
      expect(feed.items[0]?.title).toContain("<script>alert(1)</script>");
      harmless(feed.items[0]?.content ?? "");
    }
    const json = await get(one, `${PAGES}/public/${slug}`);
    expect(json.headers.get("content-type")).toBe("application/json");
    expect(json.headers.get("x-content-type-options")).toBe("nosniff");
    expect(JSON.parse(await json.text())).toMatchObject({ name: MARKUP, incidents: [{ title: MARKUP }] });
    const told = page.mailsTo();
    expect(told).toHaveLength(2);
    for (const { subject, html } of told) {
      harmless(html);
      expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }
  });
});

describe("slugs that somebody makes up", () => {
  test("drive out of memory neither a page that is read nor more than they may", async () => {
    const reads: string[] = [];
    const pages = new PublishedPages({
      source: {
        read: async (slug) => {
          reads.push(slug);
          return null;
        },
        list: async () => [],
      },
      copies: copiesIn(directory.path, TEST_BOX),
      now: () => NOW_MS,
      log: createLogger("silent"),
    });
    const asked = freshSlug();
    await pages.find(asked);
    for (let index = 0; index < 3 * CACHED_MAX; index += 1) {
      await pages.find(`made-up-${index}`);
      if (index % 500 === 0) await pages.find(asked);
    }
    expect(reads.filter((slug) => slug === asked)).toHaveLength(1);
    await pages.find("made-up-0");
    expect(reads.filter((slug) => slug === "made-up-0")).toHaveLength(2);
  });
});
