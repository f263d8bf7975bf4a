import type { Sql } from "postgres";
import {
  type Mapping,
  mappingIssues,
  presetOf,
  previewBody,
  sourceRecordDecoder,
} from "../../../ingest/index.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { SOURCES_MAX } from "./limits.ts";
import type { SourceDirectory } from "./source-directory.ts";
import {
  countSourcesLocked,
  deleteSource,
  findSource,
  insertSource,
  listSources,
  lockSource,
  updateSource,
} from "./store.ts";
import {
  type CreateSourceBody,
  type IngestSource,
  type IngestSourceDetails,
  RESERVED_KEYS,
  type StoredSample,
  type UpdateSourceBody,
} from "./types.ts";

type Format = IngestSource["format"];

interface SourceServiceDependencies {
  readonly sql: Sql;
  readonly sources: SourceDirectory;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What people do with configured sources. */
export class SourceService {
  readonly #deps: SourceServiceDependencies;

  constructor(deps: SourceServiceDependencies) {
    this.#deps = deps;
  }

  list(organizationId: number): Promise<IngestSource[]> {
    return askPostgres(() =>
      inOrganization(this.#deps.sql, organizationId, (tx) => listSources(tx, organizationId)),
    );
  }

  /** The source, and its samples with what its present mapping makes of them. Throws NOT_FOUND. */
  async read(organizationId: number, sourceKey: string): Promise<IngestSourceDetails> {
    const found = await askPostgres(() =>
      inOrganization(this.#deps.sql, organizationId, (tx) => findSource(tx, organizationId, sourceKey)),
    );
    if (found === null) throw noSuchSource();
    const { source, samples } = found;
    return { ...source, samples: samples.map((sample) => this.#preview(source, sample)) };
  }

  /** Throws VALIDATION_FAILED for a reserved key, an unknown preset and a wrong mapping; CONFLICT for a key that is taken. */
  async create(change: Change, body: CreateSourceBody): Promise<IngestSource> {
    const { tx, organizationId, nowMs } = change;
    const { sourceKey, name } = body;
    if (RESERVED_KEYS.has(sourceKey))
      throw invalid("/sourceKey", `is reserved; so are ${[...RESERVED_KEYS].join(", ")}`);
    const preset = body.preset === undefined ? null : presetOf(body.preset);
    if (body.preset !== undefined && preset === null)
      throw invalid("/preset", "is no preset; GET /api/v1/ingest/presets lists them");
    const mapping = body.mapping ?? preset?.mapping ?? {};
    checkMapping(mapping);
    const format = formatOf(body.format, body.mapping, preset?.format ?? "json");
    if (body.mapping === undefined && preset !== null && !suits(format, preset.format))
      throw invalid("/format", `does not suit the preset, whose records are ${preset.format}`);
    if ((await countSourcesLocked(tx, organizationId)) >= SOURCES_MAX)
      throw new ApiError("CONFLICT", `There are ${SOURCES_MAX} ingest sources already; delete one first.`);
    const fresh = { sourceKey, name, format, mapping, preset: body.preset ?? null };
    const source = await insertSource(tx, organizationId, fresh, nowMs);
    if (source === null) throw new ApiError("CONFLICT", `There is an ingest source ${sourceKey} already.`);
    change.record({ resource: resourceOf(sourceKey), after: decided(source) });
    this.#forget(change, sourceKey);
    return source;
  }

  /** Throws NOT_FOUND and, for a wrong mapping, VALIDATION_FAILED. */
  async update(change: Change, sourceKey: string, body: UpdateSourceBody): Promise<IngestSource> {
    const { tx, organizationId, nowMs } = change;
    const found = await lockSource(tx, organizationId, sourceKey);
    if (found === null) throw noSuchSource();
    const { id, source: before } = found;
    const mapping = body.mapping ?? before.mapping;
    if (body.mapping !== undefined) checkMapping(mapping);
    const after = await updateSource(
      tx,
      organizationId,
      id,
      {
        name: body.name ?? before.name,
        format: formatOf(body.format, mapping, before.format),
        mapping,
        status: body.status ?? before.status,
        statusReason: body.status === undefined ? before.statusReason : null,
      },
      nowMs,
    );
    change.record({ resource: resourceOf(sourceKey), before: decided(before), after: decided(after) });
    this.#forget(change, sourceKey);
    return after;
  }

  /** Throws NOT_FOUND. What came through the source stays. */
  async remove(change: Change, sourceKey: string): Promise<void> {
    const { tx, organizationId } = change;
    const found = await lockSource(tx, organizationId, sourceKey);
    if (found === null) throw noSuchSource();
    await deleteSource(tx, organizationId, found.id);
    change.record({ resource: resourceOf(sourceKey), before: decided(found.source) });
    this.#forget(change, sourceKey);
  }

  #forget(change: Change, sourceKey: string): void {
    change.afterCommit(() => this.#deps.sources.forget(change.organizationId, sourceKey));
  }

  #preview(
    { format, mapping }: IngestSource,
    { receivedAt, text }: StoredSample,
  ): IngestSourceDetails["samples"][number] {
    const decoder = sourceRecordDecoder({ format, mapping, now: this.#deps.now });
    const [preview] = previewBody(decoder, Buffer.from(text));
    return {
      receivedAt,
      sample: text,
      entry: preview?.entry ?? null,
      problem: preview === undefined ? "there is no record in it" : preview.problem,
    };
  }
}

/** Throws NOT_FOUND: in the same words for a key that another organisation has. */
export function noSuchSource(): ApiError {
  return new ApiError("NOT_FOUND", "No such ingest source.");
}

function checkMapping(mapping: Mapping): void {
  const issues = mappingIssues(mapping);
  if (issues.length > 0)
    throw validationFailed(issues.map((issue) => ({ ...issue, path: `/mapping${issue.path}` })));
}

/** The format that is asked for; a mapping that names one is for records of that. */
function formatOf(asked: Format | undefined, mapping: Mapping | undefined, otherwise: Format): Format {
  const named = mapping?.format;
  if (asked !== undefined && named !== undefined && asked !== named)
    throw invalid("/mapping/format", `is ${named}, and the format of the source is to be ${asked}`);
  return asked ?? named ?? otherwise;
}

/** A preset for objects is for lines of them, too. */
function suits(format: Format, ofPreset: Format): boolean {
  const isJson = (one: Format): boolean => one === "json" || one === "ndjson";
  return format === ofPreset || (isJson(format) && isJson(ofPreset));
}

/** What a person decides about a source: the rest of it changes with what comes. */
function decided(source: IngestSource): object {
  const { sourceKey, name, format, mapping, preset, status, statusReason } = source;
  return { sourceKey, name, format, mapping, preset, status, statusReason };
}

function resourceOf(sourceKey: string): string {
  return `ingest-source:${sourceKey}`;
}

function invalid(path: string, message: string): ApiError {
  return validationFailed([{ path, code: "custom", message }]);
}
