import type { PatternsAnswer } from "../../src/domains/logs/patterns/types.ts";
import { PatternMiner } from "../../src/mining/miner.ts";
import type { ClickHouseEndpoint } from "../../src/storage/clickhouse.ts";
import { basicAuthorization } from "../../src/storage/embedded/clickhouse-config.ts";

/** A time of an organization's entries. */
export interface PatternRequest {
  readonly organizationId: number;
  readonly token: string;
  readonly from: string;
  readonly to: string;
}

/** Patterns as a client of the server gets them. */
export async function askPatterns(url: string, { token, from, to }: PatternRequest): Promise<PatternsAnswer> {
  const parameters = new URLSearchParams({ from, to, limit: "200" });
  const response = await fetch(`${url}/api/v1/logs/patterns?${parameters}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const answer: PatternsAnswer = JSON.parse(text);
  return answer;
}

/** What patterns take without help of the store: every message comes out of it, one JSON text a line, and is mined. */
export async function mineEverything(
  endpoint: ClickHouseEndpoint,
  { organizationId, from, to }: PatternRequest,
): Promise<{ messages: number; forms: number; patterns: number }> {
  const response = await fetch(
    `${endpoint.origin}/?database=${endpoint.database}&date_time_input_format=best_effort`,
    {
      method: "POST",
      headers: { authorization: basicAuthorization(endpoint.user, endpoint.password) },
      body: `SELECT message FROM logs WHERE organization_id = ${organizationId}
      AND ts >= parseDateTime64BestEffort('${from}', 9, 'UTC') AND ts <= parseDateTime64BestEffort('${to}', 9, 'UTC') FORMAT JSONCompactEachRow`,
    },
  );
  if (response.body === null || !response.ok) throw new Error(await response.text());
  const miner = new PatternMiner();
  const decoder = new TextDecoder();
  let messages = 0;
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [message]: [string] = JSON.parse(line);
      miner.add(message);
      messages++;
    }
  }
  return { messages, forms: miner.formCount, patterns: miner.patterns().length };
}
