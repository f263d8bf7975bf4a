import type { Static, TObject } from "typebox";
import { Value } from "typebox/value";
import { storableText } from "../../storage/storable-text.ts";
import { PAYLOAD_MAX_BYTES, SUBJECT_MAX_CHARS } from "../limits.ts";

/** Something that happens, by which domains meet: one emits it, others subscribe to it in the composition. */
export interface EventKind<S extends TObject> {
  /** A noun and what became of it, for example `incident.opened`. */
  readonly name: string;
  /** Of the payload. Events that are under way are older than the server: fields are added as optional ones. */
  readonly schema: S;
}

/** Declares a kind of event, once, in the domain that emits it. */
export function defineEvent<S extends TObject>(name: string, schema: S): EventKind<S> {
  return { name, schema };
}

/** An event as it is written down. */
export interface EmittedEvent {
  readonly kind: string;
  readonly subject: string;
  /** JSON. */
  readonly payload: string;
}

/** Throws an Error for a payload that is not of the kind or too large, and for such a subject. */
export function encodeEvent<S extends TObject>(
  { name, schema }: EventKind<S>,
  subject: string,
  payload: Static<S>,
): EmittedEvent {
  if (subject.length > SUBJECT_MAX_CHARS) throw new Error(`the subject of ${name} is too long`);
  if (!Value.Check(schema, payload)) throw new Error(`a payload is not that of ${name}`);
  // What the sender of a log wrote may be in it.
  const text = JSON.stringify(payload, (_name, value: unknown) =>
    typeof value === "string" ? storableText(value) : value,
  );
  if (Buffer.byteLength(text) > PAYLOAD_MAX_BYTES) throw new Error(`the payload of ${name} is too large`);
  return { kind: name, subject: storableText(subject), payload: text };
}

/** The payload of a stored event. Throws an Error for one that an earlier server wrote and this one does not know. */
export function payloadOf<S extends TObject>({ name, schema }: EventKind<S>, stored: unknown): Static<S> {
  if (!Value.Check(schema, stored)) throw new Error(`a stored payload is not that of ${name}`);
  return stored;
}
