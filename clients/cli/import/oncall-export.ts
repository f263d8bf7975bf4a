import { readFile, stat } from "node:fs/promises";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { ONCALL_ANSWER_MAX_BYTES, ONCALL_PAGES_MAX, ONCALL_TIMEOUT_MS } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { ForeignRecord } from "./foreign-record.ts";
import { ONCALL_LISTS, type OnCallExport, type OnCallList } from "./grafana-oncall.ts";

const DAY_MS = 86_400_000;
/** How far shifts are worked out. */
const SHIFT_DAYS = 90;

/**
 * Reads a file of answers of the API by the names of its lists, each as it was answered or as the list alone; `final_shifts` by
 * the ids of schedules. Throws CliError for what is none.
 */
export async function readOnCallFile(path: string): Promise<OnCallExport> {
  const text = await readBounded(path);
  const value = parseJsonOrUndefined(text);
  if (!isRecord(value) || !ONCALL_LISTS.some((name) => name in value))
    throw new CliError(`${path} is no export of Grafana OnCall: it has none of ${ONCALL_LISTS.join(", ")}`);
  const shifts = isRecord(value.final_shifts) ? value.final_shifts : {};
  return {
    lists: listsOf((name) => resultsOf(value[name])),
    finalShifts: new Map(Object.entries(shifts).map(([id, answer]) => [id, resultsOf(answer)])),
  };
}

/** Asks the API of Grafana OnCall itself; nothing of it is changed. Throws CliError for what it refuses. */
export async function readOnCallApi(
  context: CliContext,
  address: string,
  token: string,
): Promise<OnCallExport> {
  const base = URL.parse(address);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new CliError("--from takes the address of the API of Grafana OnCall");
  const root = base.href.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
  const ask = (path: string): Promise<unknown[]> => readPages(context, `${root}/api/v1/${path}`, token);
  const found = new Map<OnCallList, unknown[]>();
  for (const name of ONCALL_LISTS) found.set(name, await ask(`${name}/`));
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const range = `start_date=${day(context.now())}&end_date=${day(context.now() + SHIFT_DAYS * DAY_MS)}`;
  const finalShifts = new Map<string, unknown[]>();
  for (const each of found.get("schedules") ?? []) {
    const id = new ForeignRecord(each).text("id") ?? "";
    finalShifts.set(id, await ask(`schedules/${encodeURIComponent(id)}/final_shifts?${range}`));
  }
  return { lists: listsOf((name) => found.get(name) ?? []), finalShifts };
}

function listsOf(of: (name: OnCallList) => readonly unknown[]): OnCallExport["lists"] {
  return {
    users: of("users"),
    schedules: of("schedules"),
    escalation_chains: of("escalation_chains"),
    escalation_policies: of("escalation_policies"),
    integrations: of("integrations"),
  };
}

async function readPages({ fetch }: CliContext, first: string, token: string): Promise<unknown[]> {
  const { origin } = new URL(first);
  const items: unknown[] = [];
  let next: string | null = first;
  for (let page = 0; next !== null; page++) {
    if (page === ONCALL_PAGES_MAX) throw new CliError(`${first} has more than ${ONCALL_PAGES_MAX} pages`);
    const signal = AbortSignal.timeout(ONCALL_TIMEOUT_MS);
    const asked: string = next;
    const response = await fetch(asked, {
      headers: { authorization: token },
      redirect: "manual",
      signal,
    }).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new CliError(`${asked} does not answer: ${escapeControls(why)}`, { cause: error });
    });
    const text = await response.text();
    const answer = parseJsonOrUndefined(text);
    if (!response.ok || answer === undefined) throw new CliError(`${asked} answered ${response.status}`);
    items.push(...resultsOf(answer));
    const following: unknown = isRecord(answer) ? answer.next : null;
    // The token goes to nobody else.
    next = typeof following === "string" && URL.parse(following)?.origin === origin ? following : null;
  }
  return items;
}

function resultsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  return isRecord(answer) && Array.isArray(answer.results) ? answer.results : [];
}

async function readBounded(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > ONCALL_ANSWER_MAX_BYTES)
      throw new CliError(`${path} is larger than ${ONCALL_ANSWER_MAX_BYTES / 1024 / 1024} MiB`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read`, { cause: error });
  }
}
