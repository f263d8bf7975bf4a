import {
  aggregate,
  aggregateCall,
  call,
  columnOf,
  countsPerValue,
  differentValues,
  type Expression,
  filteredLogs,
  isAmong,
  keep,
  type LogFilter,
  limit,
  literal,
  type MessageKind,
  messageForm,
  messageKind,
  oneText,
  type Relation,
  sort,
  timeBucket,
} from "../../../../query/index.ts";
import {
  FORM_SERVICES_MAX_COUNT,
  FREQUENT_FORMS_MAX_COUNT,
  TEXT_MAX_CHARS,
  TREND_BUCKETS,
} from "./limits.ts";
import type { PatternWindow } from "./window.ts";

/**
 * What messages are counted by: their forms; or for those of the most frequent forms the form and for the others their
 * kind; or the kind alone. Null is one kind for all.
 */
export type Grouping =
  | { readonly by: "form" }
  | { readonly by: "frequentFormOrKind" | "kind"; readonly kind: MessageKind | null };

/** Kinds from the finest to the coarsest. */
export const MESSAGE_KINDS = [
  "shapeAndSubject",
  "shape",
  "subject",
] as const satisfies readonly MessageKind[];

/** One row with the number of different forms. */
export function formCountPlan(filter: LogFilter): Relation {
  const logs = filteredLogs(filter);
  return aggregate(logs, [], [differentValues("forms", messageForm(columnOf(logs, "message")))]);
}

/** One row with the number of different messages of each of `MESSAGE_KINDS`. */
export function kindCountPlan(filter: LogFilter): Relation {
  const logs = filteredLogs(filter);
  const message = columnOf(logs, "message");
  return aggregate(
    logs,
    [],
    MESSAGE_KINDS.map((kind) => differentValues(kind, messageKind(kind, message))),
  );
}

/**
 * One row for each group of messages in the window, and one for the same group in the time before. Its columns:
 * number of the group, whether in the window, entries, first and last time, three of the messages, counts of levels,
 * of services and of the parts of the window.
 */
export function groupsPlan(filter: LogFilter, window: PatternWindow, grouping: Grouping): Relation {
  const logs = filteredLogs(filter);
  const message = columnOf(logs, "message");
  const ts = columnOf(logs, "ts");
  const bucket = timeBucket(ts, window.from, window.bucketNs);
  return aggregate(
    logs,
    [
      { name: "group", expression: groupOf(logs, grouping) },
      { name: "isCurrent", expression: call("greaterOrEqual", ts, literal("datetime", window.from)) },
    ],
    [
      aggregateCall("count", "count"),
      aggregateCall("firstSeen", "min", ts),
      aggregateCall("lastSeen", "max", ts),
      oneText("least", "least", message, TEXT_MAX_CHARS),
      oneText("greatest", "greatest", message, TEXT_MAX_CHARS),
      oneText("arbitrary", "arbitrary", message, TEXT_MAX_CHARS),
      countsPerValue("levels", columnOf(logs, "level"), FORM_SERVICES_MAX_COUNT),
      countsPerValue("services", columnOf(logs, "service"), FORM_SERVICES_MAX_COUNT),
      countsPerValue("trend", bucket, TREND_BUCKETS + 1),
    ],
  );
}

function groupOf(logs: Relation, grouping: Grouping): Expression {
  const message = columnOf(logs, "message");
  if (grouping.by === "form") return messageForm(message);
  const kind = grouping.kind === null ? literal("long", 0n) : messageKind(grouping.kind, message);
  if (grouping.by === "kind") return kind;
  const form = messageForm(message);
  return call("iff", isAmong(form, frequentForms(logs)), form, kind);
}

function frequentForms(logs: Relation): Relation {
  const counted = aggregate(
    logs,
    [{ name: "form", expression: messageForm(columnOf(logs, "message")) }],
    [aggregateCall("entries", "count")],
  );
  const ordered = sort(counted, [
    { expression: columnOf(counted, "entries"), direction: "descending" },
    { expression: columnOf(counted, "form"), direction: "descending" },
  ]);
  return keep(limit(ordered, FREQUENT_FORMS_MAX_COUNT), ["form"]);
}
