import type { MemoryShare } from "../concurrency/memory-share.ts";
import { piecesOf } from "../concurrency/thread-turns.ts";
import { answerWith } from "./answer-stream.ts";
import { ANSWER_PIECE_BYTES } from "./limits.ts";

interface PagedDownload<Row> {
  /** Read one by one as the client takes them. */
  readonly pages: AsyncGenerator<Iterable<Row>, undefined>;
  readonly line: (row: Row) => string;
  /** What stands before the first line. */
  readonly header: string;
  readonly contentType: string;
  readonly fileName: string;
  /** What the pages hold counts here. */
  readonly memory: MemoryShare;
  /** How long the client may take in all, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Answers with a file that is made while it is downloaded. The first page is read before the answer begins, so that what
 * is wrong with the request is still told as an error; a failure after that, and a client that takes too long, break the
 * connection, and the file is seen to be incomplete. A client that goes away ends the reading.
 */
export function pagedDownload<Row>(download: PagedDownload<Row>): Promise<Response> {
  const { memory, maxMs, contentType, fileName } = download;
  return answerWith({
    pieces: textOf(download),
    memory,
    maxMs,
    headers: {
      "content-type": contentType,
      "content-disposition": `attachment; filename="${fileName}"`,
      "cache-control": "no-store",
    },
  });
}

async function* textOf<Row>({ pages, header, line }: PagedDownload<Row>): AsyncGenerator<string, undefined> {
  if (header !== "") yield header;
  for await (const page of pages) yield* piecesOf(linesOf(page, line), ANSWER_PIECE_BYTES);
}

function* linesOf<Row>(rows: Iterable<Row>, line: (row: Row) => string): Generator<string> {
  for (const row of rows) yield line(row);
}
