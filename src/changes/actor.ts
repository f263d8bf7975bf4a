import type { Principal } from "../access/principal.ts";
import type { AuditActor } from "../audit/audit-entry.ts";
import type { JsonObject } from "../audit/canonical-json.ts";

/** A person who is signed in; of one who is not, the account may be unknown. */
interface Person {
  readonly kind: "person";
  readonly userId: number | null;
  readonly email: string;
}

/** A program with a personal access token. */
interface Token {
  readonly kind: "token";
  readonly userId: number;
  readonly tokenId: number;
  readonly email: string;
}

/** A model that calls with a token, told apart from its owner's own calls by the name it gave. */
interface Agent {
  readonly kind: "agent";
  readonly name: string;
  readonly userId: number;
  readonly tokenId: number;
  readonly email: string;
}

/** A rule of an organisation, as of a detection or a monitor. */
interface Rule {
  readonly kind: "rule";
  readonly id: number;
  readonly name: string;
}

/** A part of the server that works without being asked. */
interface Job {
  readonly kind: "job";
  readonly name: string;
}

/** Whoever changes something. The first three call; the other two belong to the server. */
export type Actor = Person | Token | Agent | Rule | Job;

/** The actor that a credential speaks for. */
export function actorOf({ userId, tokenId, email }: Principal): Actor {
  return tokenId === null ? { kind: "person", userId, email } : { kind: "token", userId, tokenId, email };
}

/** Whether somebody's call is the cause: then the audit log tells of it. */
export function isCaller(actor: Actor): boolean {
  return actor.kind !== "rule" && actor.kind !== "job";
}

/** The person in whose name the actor acts. Throws an Error where there is none: the server has no account. */
export function personOf(actor: Actor): { userId: number; email: string } {
  if (actor.kind === "rule" || actor.kind === "job" || actor.userId === null)
    throw new Error(`no person acts where a ${actor.kind} does`);
  return { userId: actor.userId, email: actor.email };
}

/**
 * How the audit log names the actor. Its columns are a person's: a rule or a job has no user and no token there, and in
 * place of an address, which always has an @, what it is (`rule:17`, `job:housekeeping`).
 */
export function auditActorOf(actor: Actor): AuditActor {
  switch (actor.kind) {
    case "rule":
      return { userId: null, tokenId: null, email: `rule:${actor.id}` };
    case "job":
      return { userId: null, tokenId: null, email: `job:${actor.name}` };
    case "person":
      return { userId: actor.userId, tokenId: null, email: actor.email };
    default:
      return { userId: actor.userId, tokenId: actor.tokenId, email: actor.email };
  }
}

/** What a row of the audit log says of the actor besides: nothing of people and their tokens. */
export function actorFacts(actor: Actor): JsonObject {
  switch (actor.kind) {
    case "rule":
      return { actor: { kind: actor.kind, id: actor.id, name: actor.name } };
    case "agent":
    case "job":
      return { actor: { kind: actor.kind, name: actor.name } };
    default:
      return {};
  }
}
