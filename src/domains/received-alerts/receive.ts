import { createHash } from "node:crypto";
import type { Sql } from "postgres";
import { hashToken } from "../../access/secret-token.ts";
import type { Change } from "../../changes/change.ts";
import { Admission } from "../../concurrency/admission.ts";
import { ApiError } from "../../errors.ts";
import { MemoryRateLimiter } from "../../http/rate-limit/memory-limiter.ts";
import { readBody } from "../../http/read-body.ts";
import { parseJson } from "../../http/read-json.ts";
import type { RequestContext } from "../../http/route.ts";
import { CONTENT_ENCODINGS } from "../../http/unpack.ts";
import { problemCleared, problemRaised, problemSubject } from "../../problems/events.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import {
  BODIES_PER_MINUTE,
  BODY_MAX_BYTES,
  KEY_MAX_CHARS,
  OPEN_MAX,
  WRITING_MAX,
  WRITING_MAX_OF_ONE,
  WRITING_WAITING_MAX,
  WRITING_WAITING_MAX_OF_ONE,
} from "./limits.ts";
import { type ReceivedAlert, readAlerts } from "./payload.ts";
import { findReceiver, type KnownReceiver, openKeys } from "./store.ts";

/** How many keys a body says are wrong, and how many are well. */
interface Taken {
  readonly firing: number;
  readonly resolved: number;
}

const BODY_LIMITS = {
  maxPackedBytes: BODY_MAX_BYTES,
  maxUnpackedBytes: BODY_MAX_BYTES,
  encodings: CONTENT_ENCODINGS,
};

/** Takes in what others say is wrong: written down before it is answered, incidents a moment later. */
export class AlertIntake {
  readonly #sql: Sql;
  /** Beside the bucket of the sender's address, which many senders may share. */
  readonly #limiter: MemoryRateLimiter;
  readonly #admission = new Admission({
    what: "an alert",
    dependency: "postgres",
    maxRunning: WRITING_MAX,
    maxRunningOfOne: WRITING_MAX_OF_ONE,
    maxWaiting: WRITING_WAITING_MAX,
    maxWaitingOfOne: WRITING_WAITING_MAX_OF_ONE,
  });

  /** `now` in milliseconds since 1970. */
  constructor({ sql, now }: { readonly sql: Sql; readonly now: () => number }) {
    this.#sql = sql;
    this.#limiter = new MemoryRateLimiter({ nowMs: now });
  }

  /**
   * Throws NOT_FOUND for a token that opens nothing, before the body is looked at; RATE_LIMITED; VALIDATION_FAILED with
   * the place of what is wrong; CONFLICT while too many incidents of the receiver are open.
   */
  async receive(context: RequestContext, token: string): Promise<Taken> {
    const tokenHash = hashToken(token);
    const { organizationId, id } = required(await askPostgres(() => findReceiver(this.#sql, tokenHash)));
    const { allowed, retryAfterSec: retryAfterSeconds } = this.#limiter.take(
      `receiver:${id}`,
      BODIES_PER_MINUTE,
    );
    if (!allowed)
      throw new ApiError("RATE_LIMITED", "Too many bodies of this receiver.", { retryAfterSeconds });
    const { request, reserveMemory, unpackTurn } = context;
    const bytes = await readBody(request, BODY_LIMITS, reserveMemory, unpackTurn);
    const body = parseJson(bytes);
    return this.#admission.run({ organizationId }, request.signal, () =>
      context.changeAnonymously(async ({ tx, nowMs, by }) => {
        // Again, for by now it may have another token, or be gone.
        const receiver = required(await findReceiver(tx, tokenHash));
        const alerts = readAlerts(body, nowMs);
        const change = by(receiver.organizationId, { kind: "job", name: "received-alerts" });
        await requireRoom(change, receiver, alerts);
        for (const alert of alerts) emit(change, receiver, alert);
        const firing = alerts.filter(({ isFiring }) => isFiring).length;
        return { firing, resolved: alerts.length - firing };
      }),
    );
  }
}

async function requireRoom(
  { tx }: Change,
  receiver: KnownReceiver,
  alerts: readonly ReceivedAlert[],
): Promise<void> {
  const open = new Set(await openKeys(tx, receiver.organizationId, receiver.id, OPEN_MAX));
  const opening = alerts.filter(({ isFiring, key }) => isFiring && !open.has(problemKey(receiver, key)));
  if (opening.length > 0 && open.size + opening.length > OPEN_MAX)
    throw new ApiError("CONFLICT", `${OPEN_MAX} incidents of this receiver are open; end some first.`);
}

function emit(change: Change, receiver: KnownReceiver, alert: ReceivedAlert): void {
  const key = problemKey(receiver, alert.key);
  const at = new Date(alert.atMs).toISOString();
  const { summary } = alert;
  if (!alert.isFiring) {
    change.emit(problemCleared, problemSubject(key), { key, at, cause: "sender", summary });
    return;
  }
  const { id, name, severity, escalationPolicyId } = receiver;
  change.emit(problemRaised, problemSubject(key), {
    key,
    source: { kind: "alert", id, name },
    title: alert.title,
    severity: alert.severity ?? severity,
    since: at,
    monitorIds: [],
    summary,
    evidence: { ...alert.evidence },
    ...(escalationPolicyId !== null && { escalationPolicyId }),
  });
}

/** What the incident is known by; a key that is long or unusual is known by its hash. */
function problemKey({ id }: KnownReceiver, key: string): string {
  const isPlain = key.length <= KEY_MAX_CHARS && key.isWellFormed() && !key.includes("\0");
  return `alert:${id}:${isPlain ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`}`;
}

function required(receiver: KnownReceiver | null): KnownReceiver {
  if (receiver === null) throw new ApiError("NOT_FOUND", "No such receiver of alerts.");
  return receiver;
}
