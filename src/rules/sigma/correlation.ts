import type { ConvertedRule, Correlation, RuleText } from "./converted-rule.ts";
import { groupFieldOf, type Logsource } from "./fields.ts";
import { CONVERTED_KQL_MAX_CHARS, GROUPS_MAX_COUNT, STEP_KQL_MAX_CHARS, STEPS_MAX_COUNT } from "./limits.ts";
import { type Place, SigmaRefusal } from "./problem.ts";
import { isMap, requireMap, type SigmaMap, textIn, textsIn } from "./values.ts";
import { windowOf } from "./window.ts";

interface Referred {
  readonly rule: ConvertedRule;
  readonly logsource: Logsource;
}

interface ConvertedCorrelation {
  readonly correlation: ConvertedRule | Correlation;
  readonly uses: readonly ConvertedRule[];
  /** Whether those tell of what they find by themselves as well. */
  readonly generates: boolean;
}

/**
 * What a correlation becomes: a count of entries a log alert, what asks for an order or for values a correlation rule.
 * Source: Sigma specification 2, "Correlation rules". Throws SigmaRefusal.
 */
export function convertCorrelation(
  map: SigmaMap,
  text: RuleText,
  ruleOf: (name: string, at: Place) => Referred,
): ConvertedCorrelation {
  const at = ["correlation"];
  const asked = requireMap(map.correlation, at);
  const names = textsIn(asked, "rules");
  if (names.length === 0) throw new SigmaRefusal(at, "names no rules.");
  const referred = names.map((name, i) =>
    ruleOf(name, Array.isArray(asked.rules) ? [...at, "rules", i] : [...at, "rules"]),
  );
  const rules = referred.map(({ rule }) => rule);
  if (rules.some(({ threshold }) => threshold > 1))
    throw new SigmaRefusal([...at, "rules"], "names a rule that counts by itself.");
  const [{ logsource } = { logsource: NOWHERE }] = referred;
  const windowSec = windowOf(textIn(asked, "timespan", at), [...at, "timespan"]);
  const groupBy = textsIn(asked, "group-by").map((field) =>
    groupFieldOf(aliasOf(field, asked, at), logsource),
  );
  const fields = new Map(rules.flatMap((rule) => [...rule.fields]));
  const generates = asked.generate === true || map.generate === true;
  const made = (correlation: ConvertedRule | Correlation): ConvertedCorrelation => ({
    ...{ correlation, uses: rules, generates },
  });
  const matchKql = joined(rules.map(({ kql }) => kql));
  switch (textIn(asked, "type", at)) {
    case "event_count": {
      if (groupBy.length > GROUPS_MAX_COUNT)
        throw new SigmaRefusal([...at, "group-by"], `has more than ${GROUPS_MAX_COUNT} fields.`);
      requireLength(matchKql, CONVERTED_KQL_MAX_CHARS, at);
      const { threshold } = thresholdOf(asked, at);
      return made({ ...text, kind: "log", kql: matchKql, threshold, windowSec, groupBy, fields });
    }
    case "value_count": {
      requireLength(matchKql, STEP_KQL_MAX_CHARS, at);
      const { threshold, field } = thresholdOf(asked, at);
      if (field === null)
        throw new SigmaRefusal([...at, "condition"], "names no field whose values are counted.");
      return made({
        ...{ ...text, kind: "cardinality", joinField: oneOf(groupBy, at), windowSec, steps: [], matchKql },
        ...{ distinctField: groupFieldOf(field, logsource), threshold, fields },
      });
    }
    case "temporal_ordered": {
      if (rules.length < 2 || rules.length > STEPS_MAX_COUNT)
        throw new SigmaRefusal([...at, "rules"], `has to name 2 to ${STEPS_MAX_COUNT} rules.`);
      for (const { kql } of rules) requireLength(kql, STEP_KQL_MAX_CHARS, at);
      return made({
        ...{
          ...text,
          kind: "sequence",
          joinField: oneOf(groupBy, at),
          windowSec,
          steps: rules.map(({ kql }) => kql),
        },
        ...{ matchKql: null, distinctField: null, threshold: null, fields },
      });
    }
    case "temporal":
      throw new SigmaRefusal(
        [...at, "type"],
        "asks for rules in any order; only temporal_ordered can be told.",
      );
    default:
      throw new SigmaRefusal([...at, "type"], "is none of event_count, value_count and temporal_ordered.");
  }
}

const NOWHERE: Logsource = { product: null, category: null, service: null };

/** The field that an alias stands for, where it is the same in all rules. */
function aliasOf(field: string, asked: SigmaMap, at: Place): string {
  const { aliases } = asked;
  const alias = isMap(aliases) ? aliases[field] : undefined;
  if (alias === undefined) return field;
  const place = [...at, "aliases", field];
  const different = new Set(Object.values(requireMap(alias, place)).map(String));
  const [only] = different;
  if (only === undefined || different.size > 1)
    throw new SigmaRefusal(place, "is another field in each rule; rules are joined by one.");
  return only;
}

function oneOf(groupBy: readonly string[], at: Place): string {
  const [only] = groupBy;
  if (only === undefined || groupBy.length > 1)
    throw new SigmaRefusal([...at, "group-by"], "has to name one field, by which entries are joined.");
  return only;
}

function thresholdOf(
  asked: SigmaMap,
  at: Place,
): { readonly threshold: number; readonly field: string | null } {
  const place = [...at, "condition"];
  const condition = requireMap(asked.condition, place);
  const { field = null, ...operators } = condition;
  const [[operator, value] = [], ...others] = Object.entries(operators);
  const number = Number(value);
  if (
    (operator !== "gte" && operator !== "gt") ||
    others.length > 0 ||
    !Number.isSafeInteger(number) ||
    number < 0
  )
    throw new SigmaRefusal(place, "has to be a number that is reached: gte or gt.");
  const threshold = Math.max(1, number + (operator === "gt" ? 1 : 0));
  if (threshold > THRESHOLD_MAX) throw new SigmaRefusal(place, `is more than ${THRESHOLD_MAX}.`);
  return { threshold, field: typeof field === "string" ? field : null };
}

/** What rules may count to. */
const THRESHOLD_MAX = 1_000_000;

function joined(conditions: readonly string[]): string {
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined
    ? only
    : conditions.map((each) => `(${each})`).join(" or ");
}

function requireLength(kql: string, most: number, at: Place): void {
  if (kql.length > most)
    throw new SigmaRefusal([...at, "rules"], `become ${kql.length} characters of KQL, more than ${most}.`);
}
