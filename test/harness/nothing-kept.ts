import { type Library, NO_LIBRARY, NOTHING_KEPT } from "../../query/index.ts";
import { FileProblem } from "../../src/kql/kept/delimited-rows.ts";
import type { ExternalFiles } from "../../src/kql/kept/external-files.ts";
import type { NamesOf } from "../../src/kql/kept/kept-directory.ts";

interface NothingKept {
  readonly kept: NamesOf;
  readonly externals: Pick<ExternalFiles, "tableOf">;
  readonly library: Library;
}

/** Of organisations that keep nothing for their queries, on a server that reads no files elsewhere and has no library. */
export const KEEPS_NOTHING: NothingKept = {
  kept: { namesOf: () => Promise.resolve(NOTHING_KEPT) },
  externals: { tableOf: () => Promise.reject(new FileProblem("No files elsewhere are read here.")) },
  library: NO_LIBRARY,
};
