import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { SecretBox } from "../../src/access/secret-box.ts";
import { REPLACED_SECRET_LIFE_MS, REPLACED_SECRETS_MAX } from "../../src/notify/limits.ts";
import { WebhookSecret } from "../../src/notify/types.ts";
import { signingSecrets } from "../../src/notify/webhook-secrets.ts";
import { signWebhook } from "../../src/notify/webhook-signature.ts";
import {
  auditOf,
  type OrganizationServer,
  organizationServer,
} from "../domains/organizations/organization-server.ts";
import { TEST_BOX } from "../harness/ledger.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { bodyOf, type Person, refusalOf, START_MS } from "../identity/identity-server.ts";

const SECRET = "/api/v1/me/webhook-secret";
const ROTATE = `${SECRET}/rotate`;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const show = async (server: OrganizationServer, { cookie }: Person): Promise<WebhookSecret> =>
  bodyOf(await server.as(cookie, "GET", SECRET), WebhookSecret);

const rotate = async (server: OrganizationServer, { cookie }: Person): Promise<WebhookSecret> =>
  bodyOf(await server.as(cookie, "POST", ROTATE), WebhookSecret);

const signsWith = (server: OrganizationServer, { account }: Person, box = TEST_BOX): Promise<string[]> =>
  stores.postgres.begin((tx) => signingSecrets(tx, box, account.organization.id, server.clock.now()));

describe("the webhook secret", () => {
  test("is made when first asked for, stays, and is each organisation's own", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const first = await show(server, owner);
    expect(first).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      createdAt: new Date(START_MS).toISOString(),
      previousValidUntil: null,
    });
    server.clock.advance(1000);
    expect(await show(organizationServer(stores), owner)).toEqual(first);
    expect(await signsWith(server, owner)).toEqual([first.secret]);
    expect((await show(server, await server.register())).secret).not.toBe(first.secret);
  });

  test("is the same for all who ask first at once", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const asked = await Promise.all([1, 2, 3, 4].map(() => show(server, owner)));
    expect(new Set(asked.map(({ secret }) => secret)).size).toBe(1);
  });

  test("is audited at every look, without saying what it is", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const { secret } = await show(server, owner);
    await show(server, owner);
    await rotate(server, owner);
    const rows = (await auditOf(stores, owner.account.organization.id)).slice(-3);
    expect(rows.map(({ action }) => action)).toEqual([
      "READ_WEBHOOK_SECRET",
      "READ_WEBHOOK_SECRET",
      "ROTATE_WEBHOOK_SECRET",
    ]);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
  });

  test("is stored encrypted, for this organisation only", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const stranger = await server.register();
    const { secret } = await show(server, owner);
    const [row] = await stores.postgres<{ secret: Uint8Array }[]>`
      SELECT secret FROM webhook_secrets WHERE organization_id = ${owner.account.organization.id}`;
    const stored = Buffer.from(row?.secret ?? []);
    expect(stored.includes(secret.slice(6))).toBe(false);
    expect(stored.includes(Buffer.from(secret.slice(6), "base64"))).toBe(false);
    await expect(signsWith(server, owner, new SecretBox(Buffer.alloc(32, 8)))).rejects.toThrow();
    await stores.postgres`
      INSERT INTO webhook_secrets (organization_id, secret, created_at)
      VALUES (${stranger.account.organization.id}, ${stored}, now())`;
    await expect(signsWith(server, stranger)).rejects.toThrow();
  });

  test.each(["viewer", "member", "admin", "owner"] as const)("is shown and replaced as %s", async (role) => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const { cookie } = await server.recruit(owner.cookie, role);
    const expected = role === "admin" || role === "owner" ? 200 : 403;
    expect((await server.as(cookie, "GET", SECRET)).status).toBe(expected);
    expect((await server.as(cookie, "POST", ROTATE)).status).toBe(expected);
  });

  test("takes the scope secrets:read to see and account:write to replace", async () => {
    const server = organizationServer(stores);
    const { cookie } = await server.register();
    const reader = await server.mint(cookie, { scopes: ["secrets:read", "account:read"] });
    const writer = await server.mint(cookie, { scopes: ["account:*", "tokens:write"] });
    expect((await server.send("GET", SECRET, { as: reader.token })).status).toBe(200);
    expect(await refusalOf(await server.send("GET", SECRET, { as: writer.token }))).toBe(
      "403 PAT_SCOPE_INSUFFICIENT",
    );
    expect((await server.send("POST", ROTATE, { as: writer.token })).status).toBe(200);
    expect(await refusalOf(await server.send("POST", ROTATE, { as: reader.token }))).toBe(
      "403 PAT_SCOPE_INSUFFICIENT",
    );
  });
});

describe("rotating the webhook secret", () => {
  test("makes another one and signs with both for a day", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const old = await show(server, owner);
    server.clock.advance(1000);
    const fresh = await rotate(server, owner);
    expect(fresh).toEqual({
      secret: expect.not.stringContaining(old.secret),
      createdAt: new Date(START_MS + 1000).toISOString(),
      previousValidUntil: new Date(START_MS + 1000 + REPLACED_SECRET_LIFE_MS).toISOString(),
    });
    expect(await show(server, owner)).toEqual(fresh);
    const message = { id: "msg_1", timestampSec: 1, body: "{}" };
    const delivered = signWebhook(await signsWith(server, owner), message)["webhook-signature"].split(" ");
    for (const { secret } of [old, fresh])
      expect(delivered).toContain(signWebhook([secret], message)["webhook-signature"]);
    server.clock.advance(REPLACED_SECRET_LIFE_MS - 1);
    expect(await signsWith(server, owner)).toEqual([fresh.secret, old.secret]);
    server.clock.advance(1);
    expect(await signsWith(server, owner)).toEqual([fresh.secret]);
    expect(await show(server, owner)).toEqual({ ...fresh, previousValidUntil: null });
  });

  test("is noticed by no receiver that has the old one for a day, and then by each, as the verifier of Standard Webhooks sees it", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const old = await show(server, owner);
    const fresh = await rotate(server, owner);
    const verifies = async ({ secret }: WebhookSecret): Promise<boolean> => {
      // The verifier looks at the clock of this machine, what signs at that of the server.
      const message = { id: "msg_1", timestampSec: Math.floor(Date.now() / 1000), body: '{"type":"test"}' };
      const headers = signWebhook(await signsWith(server, owner), message);
      try {
        return new Webhook(secret).verify(message.body, { ...headers }) !== undefined;
      } catch {
        return false;
      }
    };
    expect([await verifies(old), await verifies(fresh)]).toEqual([true, true]);
    server.clock.advance(REPLACED_SECRET_LIFE_MS - 1);
    expect([await verifies(old), await verifies(fresh)]).toEqual([true, true]);
    server.clock.advance(1);
    expect([await verifies(old), await verifies(fresh)]).toEqual([false, true]);
  });

  test("again and again keeps each old one for its day, up to a bound", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const all = [(await show(server, owner)).secret];
    for (let time = 0; time < REPLACED_SECRETS_MAX; time += 1) {
      server.clock.advance(1000);
      all.unshift((await rotate(server, owner)).secret);
    }
    expect(await signsWith(server, owner)).toEqual(all);
    expect(await refusalOf(await server.as(owner.cookie, "POST", ROTATE))).toBe("409 CONFLICT");
    server.clock.advance(REPLACED_SECRET_LIFE_MS);
    const latest = await rotate(server, owner);
    expect(await signsWith(server, owner)).toEqual([latest.secret, all[0] ?? ""]);
    const rows = await stores.postgres`
      SELECT 1 FROM webhook_secrets WHERE organization_id = ${owner.account.organization.id}`;
    expect(rows).toHaveLength(2);
  });

  test("from two instances at once replaces one after the other", async () => {
    const server = organizationServer(stores);
    const owner = await server.register();
    const first = await show(server, owner);
    const rotated = await Promise.all([server, organizationServer(stores)].map((at) => rotate(at, owner)));
    const secrets = await signsWith(server, owner);
    expect(secrets.toSorted()).toEqual([first.secret, ...rotated.map(({ secret }) => secret)].toSorted());
    expect(new Set(secrets).size).toBe(3);
  });
});
