import { ApiError } from "../errors.ts";

export interface PagedDownload<Page> {
  /** Read one by one as the client takes them. */
  readonly pages: AsyncGenerator<Page, undefined>;
  readonly textOf: (page: Page) => string;
  /** What stands before the first page. */
  readonly header: string;
  readonly contentType: string;
  readonly fileName: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long the client may take in all. */
  readonly maxMs: number;
}

/**
 * Answers with a file that is made while it is downloaded. The first page is read before the answer begins, so that what
 * is wrong with the request is still told as an error; a failure after that, or QUERY_TIMEOUT, breaks the connection, and
 * the file is seen to be incomplete. A client that goes away ends the reading.
 */
export async function pagedDownload<Page>(download: PagedDownload<Page>): Promise<Response> {
  const { pages, textOf, now } = download;
  const deadlineMs = now() + download.maxMs;
  const encoder = new TextEncoder();
  const first = await pages.next();
  let pending: string | null = download.header + (first.done === true ? "" : textOf(first.value));
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (now() > deadlineMs) throw new ApiError("QUERY_TIMEOUT", "The export took too long.");
        if (pending !== null && pending !== "") {
          controller.enqueue(encoder.encode(pending));
          pending = null;
          return;
        }
        const page = await pages.next();
        if (page.done === true) controller.close();
        else controller.enqueue(encoder.encode(textOf(page.value)));
      },
      cancel: async () => {
        await pages.return(undefined);
      },
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": download.contentType,
      "content-disposition": `attachment; filename="${download.fileName}"`,
      "cache-control": "no-store",
    },
  });
}
