import type { Static, TObject } from "typebox";
import type { Change, ChangeOptions } from "../change.ts";
import type { StoredEvent } from "./delivery-claims.ts";
import { type EventKind, payloadOf } from "./event-kind.ts";

/** An event as a subscriber is told of it. */
interface DeliveredEvent<Payload> extends Omit<StoredEvent, "payload"> {
  readonly payload: Payload;
}

/** What is done about events of one kind; the payload is erased. */
export interface EventHandler {
  readonly kind: string;
  /** Throws an Error for a payload that is not of the kind. */
  readonly run: (event: StoredEvent, change: Change) => Promise<void>;
}

/** A subscription to one or several kinds of event. */
export interface Subscription {
  /** Stands with every delivery, so that it never changes; also the name of the job that acts. */
  readonly name: string;
  /** One of each kind. */
  readonly handlers: readonly EventHandler[];
  readonly options: ChangeOptions;
}

/** What is done about each event of a kind; see `subscribe`. */
export function on<S extends TObject>(
  kind: EventKind<S>,
  handle: (event: DeliveredEvent<Static<S>>, change: Change) => Promise<void>,
): EventHandler {
  return {
    kind: kind.name,
    run: (event, change) => handle({ ...event, payload: payloadOf(kind, event.payload) }, change),
  };
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
  return { name, handlers: [on(kind, handle)], options };
}

/**
 * The same for several kinds that are told in one order: what begins something and what ends it reach the subscriber as
 * they happened, which those of two subscriptions do not.
 */
export function subscribeInOrder(
  name: string,
  handlers: readonly EventHandler[],
  options: ChangeOptions = {},
): Subscription {
  if (new Set(handlers.map(({ kind }) => kind)).size < handlers.length)
    throw new Error(`${name} handles a kind of event twice`);
  return { name, handlers, options };
}
