import { domainToASCII } from "node:url";
import { normaliseEmail } from "../../../access/email-address.ts";
import { mintSessionToken } from "../../../access/secret-token.ts";
import { ApiError } from "../../../errors.ts";
import type { DomainRecord } from "./connection-store.ts";
import type { TxtResolver } from "./txt-resolver.ts";
import type { SsoDomain } from "./types.ts";

const RECORD_LABEL = "_obs-verification";
const VALUE_PREFIX = "obs-verification=";

/** A domain as the emails of its mailboxes are stored; null for a text that is none. */
export function normaliseDomainName(text: string): string | null {
  const email = normaliseEmail(`mailbox@${text}`);
  return email === null ? null : domainOfEmail(email);
}

export function domainOfEmail(email: string): string {
  return email.slice(email.lastIndexOf("@") + 1);
}

/** What a new domain has to say of itself. */
export function mintChallenge(): string {
  return mintSessionToken();
}

/** A domain as it is shown, with the record to make. */
export function describeDomain({ domain, challenge, verifiedAt }: DomainRecord): SsoDomain {
  return {
    domain,
    verifiedAt,
    record: { type: "TXT", name: recordName(domain), value: `${VALUE_PREFIX}${challenge}` },
  };
}

/** Throws DOMAIN_NOT_VERIFIED when the record is not there. */
export async function requireRecord(
  resolveTxt: TxtResolver,
  { domain, challenge }: DomainRecord,
): Promise<void> {
  const texts = await resolveTxt(recordName(domain));
  if (texts.includes(`${VALUE_PREFIX}${challenge}`)) return;
  throw new ApiError(
    "DOMAIN_NOT_VERIFIED",
    `The TXT record of ${recordName(domain)} is not there; a new one may take a while to be seen.`,
  );
}

/** Under the domain itself, so that one who may only add names under it can be let do so. */
function recordName(domain: string): string {
  return `${RECORD_LABEL}.${domainToASCII(domain)}`;
}
