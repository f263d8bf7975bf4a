import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../harness/eventually.ts";
import { type CliUser, obs } from "./cli-process.ts";

const DIFFERENCES_SHOWN_MAX = 5;

/** An entry as `obs search --json` prints it, as far as these tests look at it. */
interface FoundEntry {
  readonly message: string;
  readonly service?: string | null;
  readonly attrs?: { readonly _line?: number; readonly _part?: number; readonly _last?: boolean };
}

/** How often each text occurs. */
type Counts = Map<string, number>;

export function countsOf(texts: Iterable<string>): Counts {
  const counts: Counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The first texts that are in one of both more often than in the other, with both numbers; empty when there are none. */
export function differences(wanted: Counts, found: Counts): string[] {
  const all = [...new Set([...wanted.keys(), ...found.keys()])].flatMap((text) => {
    const [expected, actual] = [wanted.get(text) ?? 0, found.get(text) ?? 0];
    return expected === actual
      ? []
      : [`${actual} instead of ${expected}: ${JSON.stringify(text.slice(0, 200))}`];
  });
  return all.slice(0, DIFFERENCES_SHOWN_MAX);
}

/** Every line that `obs search` prints for a service, as soon as there are `count`: what is acknowledged is found soon. */
export async function findLines(user: CliUser, service: string, count: number): Promise<string[]> {
  // Asking for a number takes a hundredth of what a program that prints thousands of entries does.
  await eventually(`${count} entries of ${service}`, async () => (await totalOf(user, service)) >= count);
  let lines: string[] = [];
  await eventually(`${count} entries of ${service}`, async () => {
    const output = await obs(user, ["search", "--all", "--json", "--service", service]);
    lines = output.split("\n").filter((line) => line !== "");
    return lines.length >= count;
  }).catch((error: unknown) => {
    throw new Error(`found ${lines.length}`, { cause: error });
  });
  return lines;
}

/** How many entries of a service the server finds, asked as this user; infinitely many where it does not count on. */
async function totalOf(user: CliUser, service: string): Promise<number> {
  const { url, token } = connectionOf(user);
  const answer = await fetch(`${url}/api/v1/logs/search?${new URLSearchParams({ service, limit: "1" })}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const page: unknown = await answer.json();
  if (typeof page !== "object" || page === null || !("total" in page))
    throw new Error(`no total: ${JSON.stringify(page)}`);
  return "totalIsExact" in page && page.totalIsExact === false
    ? Number.POSITIVE_INFINITY
    : Number(page.total);
}

/** What the environment of a user says, or else what `obs login` has left. */
function connectionOf({ directory, env }: CliUser): { readonly url: string; readonly token: string } {
  const { OBS_URL: url, OBS_TOKEN: token } = env ?? {};
  if (url !== undefined && token !== undefined) return { url, token };
  return JSON.parse(readFileSync(join(directory, "config/obs/credentials.json"), "utf8"));
}

/** Those lines as entries. */
export async function findEntries(user: CliUser, service: string, count: number): Promise<FoundEntry[]> {
  return (await findLines(user, service, count)).map((line): FoundEntry => JSON.parse(line));
}

/** The lines that entries were made of: the parts of a long one are joined in their order. */
export function linesOfEntries(entries: readonly FoundEntry[]): string[] {
  const whole = entries.filter(({ attrs }) => attrs?._line === undefined).map(({ message }) => message);
  const parts = Map.groupBy(
    entries.filter(({ attrs }) => attrs?._line !== undefined),
    ({ attrs }) => attrs?._line,
  );
  const joined = [...parts.values()].map((ofLine) => {
    const sorted = ofLine.toSorted((a, b) => (a.attrs?._part ?? 0) - (b.attrs?._part ?? 0));
    const isComplete = sorted.every(({ attrs }, index) => {
      const isLast = index === sorted.length - 1;
      return attrs?._part === index + 1 && (attrs._last === true) === isLast;
    });
    if (!isComplete)
      throw new Error(`parts are missing: ${JSON.stringify(sorted.map(({ attrs }) => attrs))}`);
    return sorted.map(({ message }) => message).join("");
  });
  return [...whole, ...joined];
}

/** The lines of a text as they are shipped: LF or CRLF ends one, empty ones are left out. */
export function linesOfText(text: string): string[] {
  return text
    .split("\n")
    .map((line, index, all) => (index < all.length - 1 && line.endsWith("\r") ? line.slice(0, -1) : line))
    .filter((line) => line !== "");
}
