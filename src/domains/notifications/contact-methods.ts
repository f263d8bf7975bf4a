import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import { normaliseEmail } from "../../access/email-address.ts";
import type { Principal } from "../../access/principal.ts";
import type { SecretBox } from "../../access/secret-box.ts";
import { personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { ALERT_CHANNELS, requireAlertUrl } from "../../notify/alert-channels.ts";
import type { Target } from "../../notify/channels/target.ts";
import type { Teller } from "../../notify/deliveries/tell.ts";
import { openContact, sealContact } from "../../notify/people.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import {
  type ContactRow,
  codesSentSince,
  countContacts,
  deleteContact,
  insertContact,
  listContacts,
  lockContact,
  setCode,
  updateAttempt,
} from "./contact-store.ts";

const CONTACTS_MAX = 10;
const CODE_LIFE_MS = 15 * 60_000;
const CODE_ATTEMPTS_MAX = 5;
/** Codes that one person has sent in a day: each may be a message to somebody else. */
const CODES_PER_DAY_MAX = 20;
const DAY_MS = 86_400_000;

const closed = { additionalProperties: false };
const Label = Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ["my phone"] }));

export const CreateContactBody = Type.Union(
  [
    Type.Object({ kind: Type.Literal("email"), address: ALERT_CHANNELS.alertEmail, label: Label }, closed),
    Type.Object({ kind: Type.Literal("sms"), number: ALERT_CHANNELS.alertSmsNumber, label: Label }, closed),
    Type.Object(
      { kind: Type.Literal("voice"), number: ALERT_CHANNELS.alertVoiceNumber, label: Label },
      closed,
    ),
    Type.Object(
      {
        kind: Type.Literal("push"),
        url: Type.String({
          format: "uri",
          maxLength: 2048,
          description:
            "A topic of ntfy, or what takes messages as it does: the text as the body, a header `title`.",
          examples: ["https://ntfy.example.com/ana"],
        }),
        label: Label,
      },
      closed,
    ),
  ],
  {
    $id: "CreateContactMethod",
    examples: [{ kind: "sms", number: "+491701234567", label: "my phone" }],
  },
);
export type CreateContactBody = Static<typeof CreateContactBody>;

export const ContactMethod = Type.Object(
  {
    id: Type.Integer({ examples: [4] }),
    kind: Type.Enum(["email", "sms", "voice", "push"]),
    label: Type.String({ examples: ["my phone"] }),
    verified: Type.Boolean({
      description: "Whether pages go there: it has shown the code that it was sent.",
    }),
    createdAt: Type.String({ format: "date-time" }),
  },
  { $id: "ContactMethod" },
);
export type ContactMethod = Static<typeof ContactMethod>;

export const VerifyContactBody = Type.Object(
  { code: Type.String({ pattern: "^[0-9]{6}$", examples: ["042117"] }) },
  { $id: "VerifyContactMethod", ...closed },
);

export interface ContactDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly policy: OutboundPolicy;
  readonly teller: Teller;
  readonly onTold: () => void;
}

/** The caller's own, oldest first. */
export function listOwnContacts(
  { sql }: Pick<ContactDependencies, "sql">,
  { organizationId, userId }: Principal,
): Promise<ContactMethod[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) =>
      (await listContacts(tx, organizationId, userId)).map(shown),
    ),
  );
}

/** Adds one and sends it a code. Throws VALIDATION_FAILED, ALERT_URL_BLOCKED, and CONFLICT for one too many. */
export async function createContact(
  change: Change,
  deps: ContactDependencies,
  body: CreateContactBody,
): Promise<ContactMethod> {
  const { tx, organizationId, nowMs } = change;
  const { userId } = personOf(change.actor);
  const target = targetOf(deps.policy, body);
  if ((await countContacts(tx, organizationId, userId)) >= CONTACTS_MAX)
    throw new ApiError("CONFLICT", `There are ${CONTACTS_MAX} contact methods already; delete one first.`);
  const row = await insertContact(tx, organizationId, {
    userId,
    kind: body.kind === "push" ? "template" : body.kind,
    label: body.label ?? body.kind,
    sealed: sealContact(deps.box, userId, target),
    nowMs,
  });
  await sendCode(change, deps, row, target);
  change.record({ resource: `contact-method:${row.id}`, after: shown(row) });
  return shown(row);
}

/** Sends another code; the one before ends. Throws NOT_FOUND, CONFLICT for one that is verified, and RATE_LIMITED. */
export async function resendCode(
  change: Change,
  deps: ContactDependencies,
  id: number,
): Promise<ContactMethod> {
  const row = await requireContact(change, id);
  if (row.verifiedAt !== null) throw new ApiError("CONFLICT", "The contact method is verified already.");
  await sendCode(change, deps, row, openContact(deps.box, row.userId, row.sealed));
  change.record({ resource: `contact-method:${id}`, facts: { code: "sent" } });
  return shown(row);
}

/**
 * Takes the code that was sent; the answer says whether it was that. A wrong one is counted, and after five, or a quarter of
 * an hour, the code is of no use any more. Throws NOT_FOUND.
 */
export async function verifyContact(change: Change, id: number, code: string): Promise<ContactMethod> {
  const { tx, organizationId, nowMs } = change;
  const row = await requireContact(change, id);
  if (row.verifiedAt !== null) return shown(row);
  const isRight = isCodeOf(row, code, nowMs);
  await updateAttempt(tx, organizationId, id, isRight ? nowMs : null);
  const after = { ...row, verifiedAt: isRight ? new Date(nowMs) : null };
  change.record({ resource: `contact-method:${id}`, before: shown(row), after: shown(after) });
  return shown(after);
}

/** Throws NOT_FOUND. */
export async function removeContact(change: Change, id: number): Promise<void> {
  const row = await requireContact(change, id);
  await deleteContact(change.tx, change.organizationId, id);
  change.record({ resource: `contact-method:${id}`, before: shown(row) });
}

function targetOf(policy: OutboundPolicy, body: CreateContactBody): Target {
  switch (body.kind) {
    case "email": {
      const address = normaliseEmail(body.address);
      if (address === null)
        throw validationFailed([
          { path: "/address", code: "invalid_string", message: "must be an email address" },
        ]);
      return { channel: "email", address };
    }
    case "sms":
    case "voice":
      return { channel: body.kind, number: body.number };
    case "push":
      requireAlertUrl(policy, body.url, "/url");
      return {
        channel: "template",
        url: body.url,
        method: "POST",
        headers: {
          "content-type": "text/plain; charset=utf-8",
          title: "{{title}}",
          click: "{{acknowledgeLink}}",
        },
        body: "{{title}}\n{{text}}",
      };
  }
}

async function sendCode(
  { tx, organizationId, nowMs, afterCommit }: Change,
  { teller, onTold }: ContactDependencies,
  { id, userId }: ContactRow,
  target: Target,
): Promise<void> {
  const prefix = `contact:${userId}:`;
  if ((await codesSentSince(tx, organizationId, prefix, new Date(nowMs - DAY_MS))) >= CODES_PER_DAY_MAX)
    throw new ApiError("RATE_LIMITED", `There have been ${CODES_PER_DAY_MAX} codes in a day.`, {
      retryAfterSeconds: DAY_MS / 1000,
    });
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  await setCode(tx, organizationId, id, {
    hash: hashOf(id, code),
    expiresAt: new Date(nowMs + CODE_LIFE_MS),
  });
  const notification = {
    type: "contact.code",
    tone: "note" as const,
    at: new Date(nowMs).toISOString(),
    severity: "low" as const,
    title: `${code} confirms that pages of obs reach you here`,
    lines: ["It is good for 15 minutes. If you do not know what this is about, ignore it."],
    incidentId: null,
    incident: null,
    monitor: null,
    link: null,
    acknowledgeLink: null,
  };
  const eventId = `${prefix}${crypto.randomUUID()}`;
  await teller.tell(
    tx,
    organizationId,
    { incidentId: null, eventId, notification, targets: [target], isPage: true },
    nowMs,
  );
  afterCommit(onTold);
}

/** Only the caller's own. */
async function requireContact({ tx, organizationId, actor }: Change, id: number): Promise<ContactRow> {
  const row = await lockContact(tx, organizationId, personOf(actor).userId, id);
  if (row === null) throw new ApiError("NOT_FOUND", "No such contact method.");
  return row;
}

function isCodeOf(
  { id, codeHash, codeExpiresAt, codeAttempts }: ContactRow,
  code: string,
  nowMs: number,
): boolean {
  if (codeHash === null || codeExpiresAt === null) return false;
  if (codeAttempts >= CODE_ATTEMPTS_MAX || codeExpiresAt.getTime() < nowMs) return false;
  return timingSafeEqual(hashOf(id, code), codeHash);
}

/** Six digits can be guessed from any hash; five attempts within a quarter of an hour are what guards them. */
function hashOf(id: number, code: string): Buffer {
  return createHash("sha256").update(`contact-code\0${id}\0${code}`).digest();
}

function shown({ id, kind, label, verifiedAt, createdAt }: ContactRow): ContactMethod {
  return {
    id,
    kind: kind === "template" ? "push" : kind,
    label,
    verified: verifiedAt !== null,
    createdAt: createdAt.toISOString(),
  };
}
