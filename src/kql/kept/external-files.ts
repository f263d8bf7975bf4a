import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type ExternalSource, externalKey, type KeptTable } from "../../../query/index.ts";
import type { Admission } from "../../concurrency/admission.ts";
import type { GuardedFetch } from "../../outbound/guarded-fetch.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import { plainHost } from "../../outbound/outbound-policy.ts";
import { LookupCache } from "../../storage/lookup-cache.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { FileProblem } from "./delimited-rows.ts";
import { externalRows } from "./external-rows.ts";
import type { KeptRows } from "./kept-rows.ts";
import {
  EXTERNAL_LIFE_MS,
  EXTERNAL_MAX_REDIRECTS,
  EXTERNAL_TIMEOUT_MS,
  EXTERNALS_MAX,
  TABLE_MAX_BYTES,
  TABLE_MAX_PACKED_BYTES,
  TABLE_MAX_ROWS,
} from "./limits.ts";

interface ExternalFilesOptions {
  /** Hosts whose files may be read, in small letters; `*` is every one. None of them: no file may. */
  readonly hosts: readonly string[];
  readonly fetch: GuardedFetch;
  readonly rows: Pick<KeptRows, "write">;
  /** How many files are read at a time. */
  readonly admission: Admission;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const unpack = promisify(gunzip);

/** Files of other servers that queries read as tables. What was read is taken for unchanged for a minute. */
export class ExternalFiles {
  readonly #options: ExternalFilesOptions;
  readonly #known: LookupCache<KeptTable>;

  constructor(options: ExternalFilesOptions) {
    this.#options = options;
    const { now } = options;
    this.#known = new LookupCache({ now, lifeMs: EXTERNAL_LIFE_MS, max: EXTERNALS_MAX, absentMax: 1 });
  }

  /**
   * The files as a table of the organisation. Throws FileProblem, which says for whoever wrote the query why there is none, and
   * DependencyError.
   */
  async tableOf(source: ExternalSource, caller: QueryCaller): Promise<KeptTable> {
    for (const url of source.urls) this.#check(url);
    const { organizationId } = caller;
    const table = await this.#known.get(`${organizationId} ${externalKey(source)}`, () =>
      this.#options.admission.run({ organizationId }, AbortSignal.timeout(EXTERNAL_TIMEOUT_MS), () =>
        this.#read(source, organizationId),
      ),
    );
    if (table === null) throw new TypeError("a file that was read is no table");
    return table;
  }

  #check(url: string): void {
    const { hosts } = this.#options;
    if (hosts.length === 0)
      throw new FileProblem(
        "externaldata is off on this server: the setting EXTERNALDATA_HOSTS names the hosts whose files may be read.",
      );
    const host = plainHost(new URL(url).hostname);
    if (!hosts.includes("*") && !hosts.includes(host))
      throw new FileProblem(
        `Files of ${host} may not be read here: the setting EXTERNALDATA_HOSTS does not name it.`,
      );
  }

  async #read(source: ExternalSource, organizationId: number): Promise<KeptTable> {
    const rows: string[][] = [];
    let bytesLeft = TABLE_MAX_BYTES;
    for (const url of source.urls) {
      const file = await this.#fetch(url, bytesLeft);
      bytesLeft -= file.length;
      const found = await externalRows(textOf(file), source, TABLE_MAX_ROWS);
      if (rows.length + found.length > TABLE_MAX_ROWS)
        throw new FileProblem(`The files have more than ${TABLE_MAX_ROWS} rows.`);
      for (const row of found) rows.push(row);
    }
    return { rowsId: await this.#options.rows.write(organizationId, rows), columns: source.columns };
  }

  async #fetch(url: string, maxBytes: number): Promise<Uint8Array> {
    const body = await this.#options
      .fetch(url, {
        timeoutMs: EXTERNAL_TIMEOUT_MS,
        maxBytes: Math.min(maxBytes, TABLE_MAX_PACKED_BYTES),
        // Where only some hosts may be read, no other is reached by a redirect of theirs.
        maxRedirects: this.#options.hosts.includes("*") ? EXTERNAL_MAX_REDIRECTS : 0,
      })
      .then(
        async (response) => {
          if (response.status !== 200)
            throw new FileProblem(`The file cannot be read: HTTP ${response.status}.`);
          return new Uint8Array(await response.arrayBuffer());
        },
        (error: unknown) => {
          throw error instanceof OutboundError
            ? new FileProblem(`The file cannot be read: ${error.message}`)
            : error;
        },
      );
    if (body[0] !== GZIP[0] || body[1] !== GZIP[1]) return body;
    try {
      return await unpack(body, { maxOutputLength: maxBytes });
    } catch {
      throw new FileProblem(`The file does not unpack, or to more than ${TABLE_MAX_BYTES} bytes.`);
    }
  }
}

/** What every file begins with that is packed with gzip; RFC 1952, section 2.3.1. */
const GZIP = [0x1f, 0x8b] as const;

function textOf(file: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    throw new FileProblem("The file is not text in UTF-8.");
  }
}
