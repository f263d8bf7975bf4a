import { type Command, Option } from "commander";
import { UsageError } from "../cli-error.ts";
import { parseTime } from "../search/time-argument.ts";
import { LEVELS } from "../ship/written-entry.ts";

/** Which entries are meant, beside the words that they have. */
export interface FilterFlags {
  query?: string;
  service?: string;
  level?: string;
}

/** The words of the command line, and what narrows them down. */
export function addFilterOptions(command: Command): Command {
  return command
    .argument("[words...]", 'words that must all occur; "a phrase" in quotes of its own, -not, OR')
    .option("--query <kql>", "only entries that this KQL lets through")
    .option("--service <name>", "only entries of this service")
    .addOption(new Option("--level <level>", "only entries of this level").choices(LEVELS));
}

interface Filter extends FilterFlags {
  q?: string;
}

/** The filter as the API names it; all the words become one `q`. */
export function filterOf(words: readonly string[], flags: FilterFlags): Filter {
  const { query, service, level } = flags;
  return {
    ...(words.length > 0 && { q: words.join(" ") }),
    ...(query !== undefined && { query }),
    ...(service !== undefined && { service }),
    ...(level !== undefined && { level }),
  };
}

export interface TimeRange {
  from?: string;
  to?: string;
}

/** Of which time. */
export interface TimeFlags extends TimeRange {
  since?: string;
}

export function addTimeOptions(command: Command): Command {
  return command
    .option("--since <age>", "of the last 15m, 2h, 1d ...")
    .option("--from <time>", "not before: 15m, 2h, 1d, or a time, in this machine's zone if it names none")
    .option("--to <time>", "not after");
}

/** The time as the API takes it. Throws UsageError for what is no time. */
export function timeRangeOf(flags: TimeFlags, nowMs: number): TimeRange {
  const { since, from, to } = flags;
  if (since !== undefined && from !== undefined)
    throw new UsageError("--since and --from both say when to begin: use one of them");
  const begin = since === undefined ? timeOf("--from", from, nowMs) : timeOf("--since", since, nowMs);
  const end = timeOf("--to", to, nowMs);
  return { ...(begin !== undefined && { from: begin }), ...(end !== undefined && { to: end }) };
}

function timeOf(option: string, text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text, nowMs);
  if (time === null)
    throw new UsageError(`${option} takes a date-time or an age such as 15m, 2h or 1d, not ${text}`);
  return time;
}

/** Entries of a time: what `search` and `patterns` ask for. */
export type SelectionFlags = FilterFlags & TimeFlags;

export function addSelectionOptions(command: Command): Command {
  return addTimeOptions(addFilterOptions(command));
}

/** The entries and their time as the API takes them. Throws UsageError for what is no time. */
export function selectionOf(
  words: readonly string[],
  flags: SelectionFlags,
  nowMs: number,
): Filter & TimeRange {
  return { ...filterOf(words, flags), ...timeRangeOf(flags, nowMs) };
}
