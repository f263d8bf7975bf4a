import type { Sql } from "postgres";
import {
  type Mapping,
  type RecordDecoder,
  type RecordDecoderSpec,
  type SourceDecoder,
  type SourceFormat,
  sourceDecoder,
  sourceRecordDecoder,
} from "../../../ingest/index.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { LookupCache } from "../../storage/lookup-cache.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { SOURCE_CACHE_LIFE_MS, SOURCE_CACHE_MAX, UNKNOWN_SOURCE_CACHE_MAX } from "./limits.ts";
import { findSource, type StoredSource } from "./store.ts";
import type { IngestSource } from "./types.ts";

/** A source as this instance uses it: its mapping is compiled when it is first needed, once per version. */
export class CompiledSource {
  readonly id: number;
  readonly organizationId: number;
  readonly version: string;
  readonly sourceKey: string;
  readonly status: IngestSource["status"];
  readonly #format: SourceFormat;
  readonly #mapping: Mapping;
  readonly #now: () => number;
  readonly #decoders = new Map<SourceFormat, SourceDecoder>();
  #recordDecoder: RecordDecoder | null = null;

  constructor(organizationId: number, { id, version, source }: StoredSource, now: () => number) {
    this.id = id;
    this.organizationId = organizationId;
    this.version = version;
    this.sourceKey = source.sourceKey;
    this.status = source.status;
    this.#format = source.format;
    this.#mapping = source.mapping;
    this.#now = now;
  }

  /** The decoder of bodies. Lines of JSON are read as such, also where the source says `json`. */
  decoder(isNdjson: boolean): SourceDecoder {
    const spec = this.decoderSpec(isNdjson);
    const known = this.#decoders.get(spec.format);
    if (known !== undefined) return known;
    const decoder = sourceDecoder({ ...spec, now: this.#now });
    this.#decoders.set(spec.format, decoder);
    return decoder;
  }

  /** The same decoder as data. */
  decoderSpec(isNdjson: boolean): RecordDecoderSpec & { kind: "source" } {
    const format = isNdjson && this.#format === "json" ? "ndjson" : this.#format;
    return { kind: "source", format, mapping: this.#mapping, learning: this.status === "learning" };
  }

  /** The decoder of one record by itself, with the mapping, also while the source is learning. */
  get recordDecoder(): RecordDecoder {
    this.#recordDecoder ??= sourceRecordDecoder({
      format: this.#format,
      mapping: this.#mapping,
      now: this.#now,
    });
    return this.#recordDecoder;
  }
}

interface SourceDirectoryOptions {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The configured sources, compiled. What is known of one is trusted for half a second without asking Postgres, so a
 * change takes effect on every instance within a second, and at once on the one that made it.
 */
export class SourceDirectory {
  readonly #options: SourceDirectoryOptions;
  readonly #cache: LookupCache<CompiledSource>;
  /** The compiled version of each source, for look-ups that find it unchanged; the oldest goes first. */
  readonly #compiled = new Map<string, CompiledSource>();

  constructor(options: SourceDirectoryOptions) {
    this.#options = options;
    this.#cache = new LookupCache({
      now: options.now,
      lifeMs: SOURCE_CACHE_LIFE_MS,
      max: SOURCE_CACHE_MAX,
      absentMax: UNKNOWN_SOURCE_CACHE_MAX,
    });
  }

  /** Null when the organisation has no source of that key. Throws DependencyError. */
  get(organizationId: number, sourceKey: string): Promise<CompiledSource | null> {
    const key = cacheKey(organizationId, sourceKey);
    return this.#cache.get(key, () => this.#look(organizationId, sourceKey, key));
  }

  /** The decoder of one record of a source, as the quarantine keeps it; null when there is no such source. Throws DependencyError. */
  async recordDecoderOf(organizationId: number, sourceKey: string): Promise<RecordDecoder | null> {
    return (await this.get(organizationId, sourceKey))?.recordDecoder ?? null;
  }

  /** Makes this instance ask anew. */
  forget(organizationId: number, sourceKey: string): void {
    this.#cache.forget(cacheKey(organizationId, sourceKey));
  }

  async #look(organizationId: number, sourceKey: string, key: string): Promise<CompiledSource | null> {
    const { sql, now } = this.#options;
    const stored = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => findSource(tx, organizationId, sourceKey)),
    );
    const known = this.#compiled.get(key);
    this.#compiled.delete(key);
    if (stored === null) return null;
    const isSame = known !== undefined && known.id === stored.id && known.version === stored.version;
    const compiled = isSame ? known : new CompiledSource(organizationId, stored, now);
    this.#compiled.set(key, compiled);
    for (const oldest of this.#compiled.keys()) {
      if (this.#compiled.size <= SOURCE_CACHE_MAX) break;
      this.#compiled.delete(oldest);
    }
    return compiled;
  }
}

function cacheKey(organizationId: number, sourceKey: string): string {
  return `${organizationId} ${sourceKey}`;
}
