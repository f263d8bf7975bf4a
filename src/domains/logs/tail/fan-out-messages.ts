import { type Static, Type } from "typebox";
import { compileSchema } from "../../../http/validate.ts";

/** What servers tell each other about live tails, through Redis. */

/** Every server hears these. */
export const SERVERS_CHANNEL = "obs:tail:servers";

/** One server hears these. */
export function inboxChannel(server: string): string {
  return `obs:tail:to:${server}`;
}

const Interest = Type.Object({
  /** Of a stream, as its server calls it. */
  stream: Type.Integer(),
  organizationId: Type.Integer(),
  /** Of its filter: see `readFilterKey`. */
  key: Type.String(),
});
export type Interest = Static<typeof Interest>;

/** A server is there, and its streams want these entries. */
const Hello = Type.Object({
  type: Type.Literal("hello"),
  from: Type.String(),
  source: Type.Integer(),
  /** Grows whenever the server may have missed something: then all others begin anew. */
  epoch: Type.Integer(),
  interests: Type.Array(Interest),
});
export type Hello = Static<typeof Hello>;

/** A server stops. */
const Bye = Type.Object({ type: Type.Literal("bye"), from: Type.String() });

/** Members of every message to one server. */
const LETTER = {
  from: Type.String(),
  source: Type.Integer(),
  /** Of the receiver, as the sender knows it. */
  epoch: Type.Integer(),
  /** Counts the messages of an epoch from 1: a missing one shows. */
  number: Type.Integer(),
};

/** Everything for a stream up to `mark` is in the store; what is beyond it has been sent, or will be. */
const Stored = Type.Object({
  type: Type.Literal("stored"),
  ...LETTER,
  stream: Type.Integer(),
  mark: Type.String({ pattern: "^[0-9]{1,19}$" }),
});

/** Entries that a filter let through, with their ids, in order, and how many more could not be sent. */
const Entries = Type.Object({
  type: Type.Literal("entries"),
  ...LETTER,
  organizationId: Type.Integer(),
  key: Type.String(),
  entries: Type.Array(Type.Tuple([Type.String({ pattern: "^[0-9]{1,19}$" }), Type.String()])),
  lost: Type.Integer(),
  /** Only the store can tell which there are. */
  isUndecided: Type.Boolean(),
});

const announcement = compileSchema(Type.Union([Hello, Bye]));
const letter = compileSchema(Type.Union([Stored, Entries]));

type Announcement = Static<typeof Hello> | Static<typeof Bye>;
export type Letter = Static<typeof Stored> | Static<typeof Entries>;
/** A letter before it is addressed. */
export type LetterBody =
  | Pick<Static<typeof Stored>, "type" | "stream" | "mark">
  | Pick<Static<typeof Entries>, "type" | "organizationId" | "key" | "entries" | "lost" | "isUndecided">;

/** Null for a text that another version may have sent. */
export function readAnnouncement(text: string): Announcement | null {
  const value = parse(text);
  return announcement.check(value) ? value : null;
}

export function readLetter(text: string): Letter | null {
  const value = parse(text);
  return letter.check(value) ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
