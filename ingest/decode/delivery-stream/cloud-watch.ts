import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../json-body.ts";

/** What a log group sends through a subscription: several events of one of its streams. */
interface Subscription {
  readonly messageType: string;
  readonly logGroup: string;
  readonly logStream: string;
  readonly owner: unknown;
  readonly logEvents: readonly unknown[];
}

/** What the events of a delivery have in common. */
interface Delivery {
  readonly attributes: JsonObject;
  readonly bodies: BodyReader;
}

/** Before an event's id: what another sender calls its own entries by must not be taken for a repetition. */
const EVENT_ID_PREFIX = "stream-a:";

/**
 * The envelope of a log group's subscription; null for any other object.
 * Source: Amazon CloudWatch Logs, "Subscription filters"; OpenTelemetry Collector, awsfirehosereceiver.
 */
export function asSubscription(record: JsonObject): Subscription | null {
  const { messageType, logGroup, logStream, owner, logEvents } = record;
  if (messageType !== "DATA_MESSAGE" && messageType !== "CONTROL_MESSAGE") return null;
  if (typeof logGroup !== "string" || typeof logStream !== "string" || !Array.isArray(logEvents)) return null;
  return { messageType, logGroup, logStream, owner, logEvents };
}

/**
 * Writes each event of a subscription as a record: its id is the same when it is sent again, the log group is the
 * service unless the message names one. A control message, by which the sender finds out whether somebody listens, is none.
 */
export function writeSubscription(
  writer: RecordWriter,
  subscription: Subscription,
  delivery: Delivery,
  place: string,
): void {
  if (subscription.messageType === "CONTROL_MESSAGE") return;
  for (const [index, event] of subscription.logEvents.entries()) {
    const message = isJsonObject(event) ? event.message : undefined;
    if (isJsonObject(event) && typeof message === "string")
      writeEvent(writer, event, message, subscription, delivery);
    else
      writer.reject({
        place: `${place} /logEvents/${index}`,
        reason: "is no log event with a message",
        raw: JSON.stringify({ ...subscription, logEvents: [event] }),
      });
  }
}

function writeEvent(
  writer: RecordWriter,
  event: JsonObject,
  message: string,
  { logGroup, logStream, owner }: Subscription,
  { attributes, bodies }: Delivery,
): void {
  writer.begin();
  if (typeof event.id === "string" && event.id !== "") writer.eventId(EVENT_ID_PREFIX + event.id);
  const object = messageObject(message);
  if (object === null) {
    // When the program said it is more exact than when its line was collected, if it is sure.
    bodies.write(message.trimEnd(), writer, event.timestamp !== undefined);
    writeTime(writer, event.timestamp);
  } else {
    // What the program said is more exact than when its line was collected.
    writeJsonRecord(writer, object);
    writeTime(writer, event.timestamp);
  }
  writer.service(logGroup);
  writer.attribute("logGroup", logGroup);
  writer.attribute("logStream", logStream);
  writer.attribute("owner", owner);
  if (isJsonObject(event.extractedFields)) writer.attributes("extractedFields.", event.extractedFields);
  writer.attributes("", attributes);
  writer.end();
}

/** The object that a message is; null for text. */
function messageObject(message: string): JsonObject | null {
  if (!/^\s*\{/.test(message)) return null;
  const parsed = tryParseJson(message, JSON_MAX_DEPTH);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}
