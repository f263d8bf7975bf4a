/**
 * KQL: the time from text to SQL, and the time of the statement in ClickHouse on a table made from real log lines,
 * beside hand-written SQL for the same question and beside ClickHouse's own Kusto dialect, in turn in the same run.
 * Usage: bun bench/kql.ts [rows] [rounds]. Prints a table and appends a line to bench/results/kql.jsonl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileKql, emit, guardPlan, INTERACTIVE_BUDGET, type QuerySettings } from "../query/index.ts";
import { createLogger } from "../src/log.ts";
import { basicAuthorization } from "../src/storage/embedded/clickhouse-config.ts";
import { openStores, type Stores } from "../src/storage/open.ts";
import { answerText } from "./kql/answer.ts";
import { type KqlCase, kqlCases } from "./kql/cases.ts";
import { measureCompilation } from "./kql/compile-time.ts";
import { quantile } from "./kql/quantile.ts";
import { fillLogs } from "./search/fill.ts";
import { dayMs, dayStartMs } from "./storage/rows.ts";

const rows = Number(process.argv[2] ?? 10_000_000);
const rounds = Number(process.argv[3] ?? 9);
/** Long enough for every case on ten million rows of a busy machine; the product's default stops such a join. */
const MAX_EXECUTION_MS = 120_000;
const MAX_ROWS = 10_000;
const REFUSAL_MAX_CHARS = 100;
const nowNs = BigInt(dayStartMs + dayMs) * 1_000_000n;
const scope = {
  organizationId: 1,
  timeRange: { from: BigInt(dayStartMs) * 1_000_000n, to: nowNs - 1n },
  maxRows: MAX_ROWS,
  budget: { ...INTERACTIVE_BUDGET, maxExecutionMs: MAX_EXECUTION_MS },
};
const GUARDS =
  "organization_id = 1 AND ts >= '2026-01-10 00:00:00' AND ts <= '2026-01-10 23:59:59.999999999'";
const KUSTO_GUARDS =
  "organization_id == 1 and ts >= datetime(2026-01-10T00:00:00Z) and ts < datetime(2026-01-11T00:00:00Z)";

type Rows = unknown[][];
type Ask = () => Promise<Rows>;

async function ask(
  { clickhouseEndpoint: { origin, database, user, password } }: Stores,
  query: string,
  settings: QuerySettings,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Rows> {
  const url = new URLSearchParams({ database, default_format: "JSONCompactEachRow", ...settings });
  for (const [name, value] of Object.entries(parameters)) url.set(`param_${name}`, escapeParameter(value));
  const headers = { authorization: basicAuthorization(user, password) };
  const response = await fetch(`${origin}/?${url}`, { method: "POST", headers, body: query });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown[] => JSON.parse(line));
}

/** ClickHouse reads a parameter as a field of TSV. */
function escapeParameter(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");
}

function kustoAsk(stores: Stores, kql: string, settings: QuerySettings): Promise<Rows> {
  const text = kql.replaceAll(/\blogs\b/g, `logs | where ${KUSTO_GUARDS}`).replaceAll("traceId", "trace_id");
  return ask(stores, text, { ...settings, allow_experimental_kusto_dialect: "1", dialect: "kusto" });
}

async function timed(question: Ask, times: number[], isKept: boolean): Promise<string> {
  const startMs = performance.now();
  const answer = await question();
  const endMs = performance.now();
  if (isKept) times.push(endMs - startMs);
  return answerText(answer);
}

async function measureCase(stores: Stores, kqlCase: KqlCase): Promise<Record<string, unknown>> {
  const { sql, parameters, settings } = emitted(kqlCase);
  const ours: Ask = () => ask(stores, sql, settings, parameters);
  const handSql = kqlCase.sql.replaceAll("LOGS", `logs WHERE ${GUARDS}`);
  const hand: Ask = () =>
    ask(stores, / LIMIT \d+$/.test(handSql) ? handSql : `${handSql} LIMIT ${MAX_ROWS}`, settings);
  const kusto: Ask = () => kustoAsk(stores, kqlCase.kql, settings);
  let refusal: string | null = null;
  const times: [number[], number[], number[]] = [[], [], []];
  let answers: [string, string, string] = ["", "", ""];
  for (let round = -1; round < rounds; round++) {
    const isKept = round >= 0;
    const our = await timed(ours, times[0], isKept);
    const byHand = await timed(hand, times[1], isKept);
    let byKusto = "";
    if (refusal === null) {
      try {
        byKusto = await timed(kusto, times[2], isKept);
      } catch (error) {
        refusal = String(error).replaceAll(/\s+/g, " ").slice(0, REFUSAL_MAX_CHARS);
      }
    }
    answers = [our, byHand, byKusto];
  }
  const [oursMs, handMs, kustoMs] = times.map((list) => round2(quantile(list, 0.5)));
  return {
    oursMs,
    handMs,
    ratio: round2((oursMs ?? 0) / (handMs ?? 1)),
    answer: kqlCase.isApproximate ? "approximate" : answers[0] === answers[1] ? "same" : "DIFFERENT",
    kusto: refusal ?? (kqlCase.isApproximate ? "ran" : answers[2] === answers[1] ? "right" : "wrong"),
    kustoMs: refusal === null ? kustoMs : null,
  };
}

function emitted({ name, kql }: KqlCase): ReturnType<typeof emit> {
  const compilation = compileKql(kql, { nowNs });
  if (!compilation.ok) throw new Error(`${name}: ${compilation.diagnostics[0]?.message}`);
  return emit(guardPlan(compilation.query.relation, scope));
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

const compile = measureCompilation(
  kqlCases.map(({ kql }) => kql),
  nowNs,
  scope,
);
const directory = mkdtempSync(join(tmpdir(), "obs-bench-kql-"));
const stores = await openStores(
  { dataDirectory: join(directory, "stores"), clickhouseUrl: null, databaseUrl: null, redisUrl: null },
  createLogger("silent"),
);
try {
  await fillLogs(stores.clickhouse, rows);
  const results: Record<string, object> = {};
  const differing: string[] = [];
  for (const [i, kqlCase] of kqlCases.entries()) {
    const measured = await measureCase(stores, kqlCase);
    if (measured.answer === "DIFFERENT") differing.push(kqlCase.name);
    results[kqlCase.name] = { ...compile[i], ...measured };
  }
  process.stdout.write(`${Bun.inspect.table(results)}\n`);
  if (differing.length > 0) throw new Error(`other answers than by hand: ${differing.join(", ")}`);
  const report = { at: new Date().toISOString(), rows, rounds, results };
  mkdirSync(join(import.meta.dir, "results"), { recursive: true });
  appendFileSync(join(import.meta.dir, "results/kql.jsonl"), `${JSON.stringify(report)}\n`);
} finally {
  await stores.close();
  rmSync(directory, { recursive: true, force: true });
}
