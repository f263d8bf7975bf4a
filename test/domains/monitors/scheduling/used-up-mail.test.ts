/** The owners of an organisation are told by mail that the month's checks are used up. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SecretBox } from "../../../../src/access/secret-box.ts";
import { SERVER_ORIGIN } from "../../../../src/changes/changes.ts";
import { usedUpMailer } from "../../../../src/domains/monitors/scheduling/used-up-mail.ts";
import { openMail, outbox } from "../../../../src/notify/mail/outbox.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { insertOrganization, openRunner } from "./monitor-fixture.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const BOX = new SecretBox(new Uint8Array(32).fill(7));
const tell = usedUpMailer({
  enqueueMail: outbox({ box: BOX, now: Date.now }),
  publicUrl: "https://obs.example.com",
});

async function join(organizationId: number, email: string, role: string): Promise<void> {
  const { postgres: sql } = stores;
  await sql`
    WITH person AS (
      INSERT INTO users (email, password_hash, created_at) VALUES (${email}, 'x', now()) RETURNING id)
    INSERT INTO memberships (organization_id, user_id, role, created_at)
    SELECT ${organizationId}, id, ${role}, now() FROM person`;
}

/** Tells of an organisation as the commit of its rounds does, which is kept or not. */
async function tellOf(organizationId: number, isKept: boolean): Promise<void> {
  const { changes } = openRunner({ sql: stores.postgres });
  const cause = { organizationId, actor: { kind: "job", name: "monitors" }, origin: SERVER_ORIGIN } as const;
  const telling = changes.inChange(cause, null, async (change) => {
    await tell(change, 1_000);
    if (!isKept) throw new Error("not kept");
  });
  if (isKept) await telling;
  else await expect(telling).rejects.toThrow("not kept");
}

async function mails(): Promise<{ to: string; text: string }[]> {
  const rows = await stores.postgres<{ sealed: Uint8Array }[]>`SELECT sealed FROM mail_outbox ORDER BY id`;
  return rows.map(({ sealed }) => openMail(BOX, sealed));
}

test("its owners are, each once, nobody else is, and nobody when the rounds are not kept", async () => {
  const [own, foreign] = [
    await insertOrganization(stores.postgres),
    await insertOrganization(stores.postgres),
  ];
  for (const [email, role] of [
    ["ana@example.com", "owner"],
    ["ben@example.com", "owner"],
    ["cleo@example.com", "admin"],
    ["dan@example.com", "viewer"],
  ] as const)
    await join(own, email, role);
  await join(foreign, "eve@example.com", "owner");
  await tellOf(own, false);
  expect(await mails()).toEqual([]);
  await tellOf(own, true);
  const told = await mails();
  expect(told.map(({ to }) => to)).toEqual(["ana@example.com", "ben@example.com"]);
  expect(told.every(({ text }) => text.includes("1000 checks") && text.includes("Tests"))).toBe(true);
});
