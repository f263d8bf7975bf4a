import { isRecord, parseJsonExactly } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { DRY_RUN_ENTRIES, LINGER_MS } from "../limits.ts";
import { formatEntry } from "../search/format-entry.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCountOf } from "../terminal/quantities.ts";
import { type Batch, readBatches } from "./batches.ts";
import { type ByteSource, fileSource, streamSource } from "./byte-source.ts";
import { unpackedSource } from "./compression.ts";
import { expandNames } from "./file-names.ts";
import { openInputFile } from "./input-file.ts";
import { inputRules } from "./input-rules.ts";
import { START } from "./position.ts";
import type { ShipRequest } from "./run-ship.ts";
import { emptyTally } from "./tally.ts";

/** Shows what the first lines of each input become. Neither a server nor a token is needed. */
export async function dryRun(context: CliContext, request: ShipRequest): Promise<void> {
  if (request.names.includes("-")) {
    const source = streamSource(Bun.stdin.stream(), new AbortController().signal);
    await show(context, request, null, source, context.now());
    return;
  }
  const paths = await expandNames(request.names, process.cwd());
  if (paths.length === 0)
    throw new CliError(`no file matches ${request.names.map(escapeControls).join(" ")}`);
  for (const path of paths) {
    await using input = await openInputFile(path);
    const { file, compression, modifiedMs } = input;
    if (compression === null) {
      await show(context, request, path, fileSource(file, 0, null), modifiedMs);
      continue;
    }
    const source = unpackedSource(input, compression, 0, null);
    await show(context, request, path, source, modifiedMs);
    source.close();
  }
}

async function show(
  { stdout, stderr, env }: CliContext,
  request: ShipRequest,
  path: string | null,
  source: ByteSource,
  yearReferenceMs: number,
): Promise<void> {
  const { sinceMs, json } = request;
  const { openSession } = inputRules({ ...request, sourceKey: null }, path, sinceMs);
  const batches = readBatches({
    source,
    from: START,
    openSession,
    maxEntries: DRY_RUN_ENTRIES,
    tally: emptyTally(),
    lingerMs: LINGER_MS,
    sinceMs,
    yearReferenceMs,
  });
  const { value: first } = await batches.next();
  const batch: Batch | undefined = first ?? undefined;
  const entries = batch === undefined ? [] : batch.entries.map(parseJsonExactly).filter(isRecord);
  const name = path === null ? "standard input" : escapeControls(path);
  await stderr.write(
    `nothing is sent; the first ${formatCountOf(entries.length, "entry", "entries")} of ${name}:\n`,
  );
  const colors = makeColors(wantsColor(env, stdout.isTerminal));
  const lines = entries.map((entry) =>
    json ? jsonText(entry, stdout) : formatEntry({ ts: TIME_OF_RECEIPT, ...entry }, colors),
  );
  if (lines.length > 0) await stdout.write(`${lines.join("\n")}\n`);
}

/** Stands for the time of an entry that brings none. */
const TIME_OF_RECEIPT = "(time of receipt)";
