import {
  type Aggregate,
  aggregate,
  aggregateCall,
  call,
  columnOf,
  type Expression,
  filter,
  literal,
  observableCandidates,
  type Relation,
  scan,
  timeBucket,
} from "../../query/index.ts";
import { logicalField } from "../rules/fields/logical-field.ts";
import { mayHaveOne, NAMES, textOf } from "./agent-attributes.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** What says that it comes from later than this is told by when it came. */
const FUTURE_MAX_NS = 300_000_000_000n;

/** Which attributes there may be, by their outermost keys. */
type MayHave = (outermostKey: string) => boolean;

/** Rows of `[candidate, host, service, n, firstMs, lastMs, id]`: what entries hold that looks like an address, a domain or a hash. */
export function candidatesPlan(mayHave: MayHave): Aggregate {
  const logs = scan("logs");
  const candidate = observableCandidates(columnOf(logs, "message"), columnOf(logs, "attrs"));
  return seen(logs, [
    { name: "candidate", expression: candidate },
    { name: "host", expression: field("hostName", mayHave) },
    { name: "service", expression: columnOf(logs, "service") },
  ]);
}

/** Rows of `[service, host, user, address, outcome, n, firstMs, lastMs, id]`: who did something, where and from where. */
export function actorsPlan(mayHave: MayHave): Aggregate {
  const logs = scan("logs");
  return seen(logs, [
    { name: "service", expression: columnOf(logs, "service") },
    { name: "host", expression: field("hostName", mayHave) },
    { name: "user", expression: field("userName", mayHave) },
    { name: "address", expression: field("sourceAddress", mayHave) },
    { name: "outcome", expression: field("auth.outcome", mayHave) },
  ]);
}

/** Rows of `[agent, model, tool, service, n, firstMs, lastMs, id]`: what AI agents called; null where no entry may name an agent. */
export function agentsPlan(mayHave: MayHave): Aggregate | null {
  if (!mayHaveOne(NAMES.agent, mayHave)) return null;
  const all = scan("logs");
  const agents = filter(all, call("notEqual", textOf(NAMES.agent), literal("string", "")));
  return seen(agents, [
    { name: "agent", expression: textOf(NAMES.agent) },
    { name: "model", expression: textOf(NAMES.model) },
    { name: "tool", expression: textOf(NAMES.tool) },
    { name: "service", expression: columnOf(agents, "service") },
  ]);
}

function field(name: string, mayHave: MayHave): Expression {
  const expression = logicalField(name, mayHave);
  if (expression === null) throw new Error(`there is no logical field ${name}`);
  return expression;
}

function seen(logs: Relation, keys: readonly { name: string; expression: Expression }[]): Aggregate {
  const own = columnOf(logs, "ts");
  const received = columnOf(logs, "receivedAt");
  const latest = call("add", received, literal("timespan", FUTURE_MAX_NS));
  const time = call("iff", call("greater", own, latest), received, own);
  const millis = timeBucket(time, 0n, NANOS_PER_MILLI);
  return aggregate(logs, keys, [
    aggregateCall("n", "count"),
    aggregateCall("firstMs", "min", millis),
    aggregateCall("lastMs", "max", millis),
    aggregateCall("sample", "max", columnOf(logs, "id")),
  ]);
}
