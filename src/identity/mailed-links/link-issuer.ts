import type { Sql, TransactionSql } from "postgres";
import { hashToken, mintLinkToken } from "../../access/secret-token.ts";
import type { AnonymousChange } from "../../changes/change.ts";
import { type Changes, SERVER_ORIGIN } from "../../changes/changes.ts";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import { DependencyError } from "../../errors.ts";
import { whenDue } from "../../jobs/due-watch.ts";
import type { Logger } from "../../log.ts";
import type { EnqueueMail } from "../../notify/mail/outbox.ts";
import { passwordResetMail, verificationMail } from "../../notify/mail/templates.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { findHomeOrganization } from "../account-store.ts";
import {
  LINK_REQUEST_BATCH_MAX,
  LINK_REQUEST_POLL_MS,
  LINKS_PER_PERSON_MAX,
  RESET_LINK_LIFE_MS,
  VERIFICATION_LINK_LIFE_MS,
} from "../limits.ts";
import {
  dropLinkRequest,
  findOwnerOfEmail,
  insertLink,
  insertLinkRequest,
  type LinkOwner,
  type LinkPurpose,
  type LinkRequest,
  type TakenLinkRequest,
  takeLinkRequest,
} from "./link-store.ts";

interface LinkIssuerOptions {
  readonly sql: Sql;
  readonly changes: Changes;
  readonly enqueueMail: EnqueueMail;
  /** Called when mails may have been put into the outbox. */
  readonly onMail: () => void;
  /** All links begin with it; what a request calls the server is never asked. */
  readonly publicUrl: string;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const ACTIONS = {
  "reset-password": "REQUEST_PASSWORD_RESET",
  "verify-email": "REQUEST_EMAIL_VERIFICATION",
} as const satisfies Record<LinkPurpose, string>;

const MINUTE_MS = 60_000;

/**
 * Mails links. A request by somebody who is not signed in is only written down, the same for every address; whether it
 * has an account is found out afterwards, so that neither the answer nor its time tells.
 */
export class LinkIssuer {
  readonly #options: LinkIssuerOptions;
  readonly #loop: WorkLoop;

  constructor(options: LinkIssuerOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.issueRequested(signal),
      pollMs: LINK_REQUEST_POLL_MS,
      watch: whenDue(options.sql, (sql) => sql`EXISTS (SELECT 1 FROM link_requests)`),
      failure: "requests for mailed links could not be read",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(withinMs: number): Promise<void> {
    await this.#loop.stop(withinMs);
  }

  /** Has a link mailed to an address, if it has an account that needs one. */
  async request(request: LinkRequest): Promise<void> {
    await askPostgres(() => insertLinkRequest(this.#options.sql, request));
    this.#loop.wake();
  }

  /** Makes a link for a person and puts the mail with it into the outbox. */
  async issue(
    tx: TransactionSql,
    purpose: LinkPurpose,
    { userId, email }: Pick<LinkOwner, "userId" | "email">,
  ): Promise<void> {
    const { enqueueMail, publicUrl, now } = this.#options;
    const token = mintLinkToken();
    const createdAtMs = now();
    const lifeMs = purpose === "reset-password" ? RESET_LINK_LIFE_MS : VERIFICATION_LINK_LIFE_MS;
    const expiresAtMs = createdAtMs + lifeMs;
    const link = { tokenHash: hashToken(token), purpose, userId, createdAtMs, expiresAtMs };
    await insertLink(tx, link, LINKS_PER_PERSON_MAX);
    const message =
      purpose === "reset-password"
        ? // Behind the #, so that the token stays out of the logs of proxies and of this server.
          passwordResetMail(email, `${publicUrl}/reset-password#token=${token}`, lifeMs / MINUTE_MS)
        : verificationMail(
            email,
            `${publicUrl}/api/v1/auth/verify-email?token=${token}`,
            lifeMs / (60 * MINUTE_MS),
          );
    await enqueueMail(tx, message, expiresAtMs);
  }

  /** Does a batch of what was requested; true when there may be more. */
  async issueRequested(signal: AbortSignal): Promise<boolean> {
    for (let done = 0; done < LINK_REQUEST_BATCH_MAX; done += 1) {
      if (signal.aborted || !(await this.#issueNext())) return false;
    }
    return true;
  }

  /** Does the oldest request; false when there is none. */
  async #issueNext(): Promise<boolean> {
    const { sql, changes, log, onMail } = this.#options;
    let taken: TakenLinkRequest | null = null;
    try {
      await changes.inAnonymousChange(SERVER_ORIGIN, null, async (change) => {
        taken = await takeLinkRequest(change.tx);
        if (taken !== null) await this.#issueFor(change, taken);
      });
    } catch (error) {
      if (taken === null || error instanceof DependencyError) throw error;
      // Kept, it would stand in the way of all others for ever.
      const { id } = taken;
      log.error({ err: error }, "a request for a mailed link cannot be done and is dropped");
      await askPostgres(() => dropLinkRequest(sql, id));
    }
    if (taken !== null) onMail();
    return taken !== null;
  }

  async #issueFor({ tx, by }: AnonymousChange, request: LinkRequest): Promise<void> {
    const { purpose, email, ip, userAgent, requestedAtMs } = request;
    const owner = await findOwnerOfEmail(tx, email);
    if (owner === null || (purpose === "verify-email" && owner.emailIsVerified)) return;
    await this.issue(tx, purpose, owner);
    const organizationId = await findHomeOrganization(tx, owner.userId);
    if (organizationId === null) return;
    // Whoever has the address asked, or somebody who knows it: that much is sure of no person.
    const asked = { origin: { ip, userAgent }, atMs: requestedAtMs };
    const change = by(organizationId, { kind: "person", userId: null, email }, asked);
    change.record({ resource: `user:${owner.userId}` }, ACTIONS[purpose]);
  }
}
