import type { Static, TObject } from "typebox";
import type { Change, ChangeOptions } from "../change.ts";
import type { StoredEvent } from "./delivery-claims.ts";
import { type EventKind, payloadOf } from "./event-kind.ts";

/** An event as a subscriber is told of it. */
interface DeliveredEvent<Payload> extends Omit<StoredEvent, "payload"> {
  readonly payload: Payload;
}

/** A subscription whose payload is erased. */
export interface Subscription {
  readonly kind: string;
  /** Stands with every delivery, so that it never changes; also the name of the job that acts. */
  readonly name: string;
  readonly options: ChangeOptions;
  /** Throws an Error for a payload that is not of the kind. */
  readonly run: (event: StoredEvent, change: Change) => Promise<void>;
}

/**
 * Has `handle` called for each event of a kind, in a change of its own. What it does through that change is done once,
 * whatever dies in between; what it does otherwise may be done again. It waits for nothing but its transaction: what
 * is to be sent goes into an outbox.
 */
export function subscribe<S extends TObject>(
  kind: EventKind<S>,
  name: string,
  handle: (event: DeliveredEvent<Static<S>>, change: Change) => Promise<void>,
  options: ChangeOptions = {},
): Subscription {
  return {
    kind: kind.name,
    name,
    options,
    run: (event, change) => handle({ ...event, payload: payloadOf(kind, event.payload) }, change),
  };
}
