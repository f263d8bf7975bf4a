const SELECT =
  /^\s*select\s+(?<columns>.+?)\s+from\s+\w+(?:\s+where\s+(?<where>.+?))?(?:\s+group\s+by\s+(?<group>.+?))?(?:\s+order\s+by\s+(?<order>.+?))?(?:\s+limit\s+(?<limit>\d+))?\s*;?\s*$/is;

/** What to write instead of a text that is SQL; null for one that is none. */
export function sqlHint(query: string): string | null {
  if (!/^\s*select\b/i.test(query)) return null;
  const parts = SELECT.exec(query)?.groups;
  const instead = parts === undefined ? 'logs | where level == "error" | take 10' : asKql(parts);
  return `this is KQL, not SQL; instead: ${instead}`;
}

function asKql({
  columns = "*",
  where,
  group,
  order,
  limit,
}: Readonly<Record<string, string | undefined>>): string {
  const steps = ["logs"];
  if (where !== undefined) steps.push(`where ${conditionOf(where)}`);
  const isCount = /\bcount\s*\(/i.test(columns);
  if (group !== undefined) steps.push(`summarize count() by ${group}`);
  else if (isCount) steps.push("count");
  else if (columns.trim() !== "*") steps.push(`project ${columns}`);
  if (order !== undefined) steps.push(`order by ${order.toLowerCase()}`);
  if (limit !== undefined) steps.push(`take ${limit}`);
  else if (group === undefined && !isCount) steps.push("take 100");
  return steps.join(" | ");
}

function conditionOf(where: string): string {
  return where
    .replace(/(?<![<>!=])=(?!=)/g, "==")
    .replace(/<>/g, "!=")
    .replace(/\s+like\s+'%([^%']*)%'/gi, " contains '$1'")
    .replace(/\b(and|or|not)\b/gi, (word) => word.toLowerCase());
}
