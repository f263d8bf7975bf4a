import type { Sql } from "postgres";
import { Type } from "typebox";
import { type BroadReason, broadReasonOf } from "../../entities/indicators/broad-indicator.ts";
import {
  CHANGE_MAX_INDICATORS,
  FILE_MAX_BYTES,
  REJECTED_MAX_SHOWN,
} from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { requireMediaType } from "../../http/media-type.ts";
import { readBody } from "../../http/read-body.ts";
import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import { putIndicators, wouldPut } from "./put-indicators.ts";
import { FILE_FORMATS, type FileFormat, type FileReading, readFile, requireText } from "./read-file.ts";

interface ImportDependencies {
  readonly sql: Sql;
  /** Rings when there is something to look for in what was found before. */
  readonly onBatch: () => void;
}

const TYPES = ["text/csv", "text/plain", "application/json", "application/stix+json"];

const ImportParameters = Type.Object({
  format: Type.Enum([...FILE_FORMATS], {
    description: "CSV, a bundle of STIX 2.1, or JSON of MISP.",
    examples: ["csv"],
  }),
  force: Type.Optional(
    Type.Enum(["true", "false"], {
      description:
        "`true` takes what is about too much to say anything, too: private networks, domains under which anybody registers names, the organisation's own.",
    }),
  ),
  dryRun: Type.Optional(
    Type.Enum(["true", "false"], { description: "`true` says what would happen, and changes no IOC." }),
  ),
});

const ImportResult = Type.Object(
  {
    dryRun: Type.Boolean(),
    rows: Type.Integer(),
    added: Type.Integer(),
    updated: Type.Integer(),
    rejected: Type.Integer(),
    errors: Type.Array(Type.Object({ place: Type.String(), value: Type.String(), reason: Type.String() }), {
      description: `Why rows were refused: the first ${REJECTED_MAX_SHOWN}.`,
    }),
  },
  { $id: "IocImport" },
);

/** Takes indicators from a file: what can be read is taken, and of the rest it is said why not. */
export function importRoute({ sql, onBatch }: ImportDependencies) {
  return route({
    method: "POST",
    path: "/api/v1/iocs/import",
    tag: "Security records",
    summary: "Take in a file of IOCs",
    access: { role: "member", scope: "security:write" },
    audit: "IMPORT_IOCS",
    query: ImportParameters,
    body: {
      kind: "raw",
      contentTypes: TYPES,
      documented: Type.String({
        description: "The file. A CSV may name its columns in its first row.",
        examples: ["type,value,severity\ndomain,evil[.]example,high\n"],
      }),
    },
    responses: { 200: { description: "What became of the rows", schema: ImportResult } },
    errors: ["CONFLICT", "PAYLOAD_TOO_LARGE", "REQUEST_TIMEOUT", "UNSUPPORTED_MEDIA_TYPE"],
    handler: async ({ request, reserveMemory, unpackTurn, change, principal }, { query }) => {
      requireMediaType(request, TYPES);
      const limits = {
        maxPackedBytes: FILE_MAX_BYTES,
        maxUnpackedBytes: FILE_MAX_BYTES,
        encodings: ["gzip"],
      } as const;
      const bytes = await readBody(request, limits, reserveMemory, unpackTurn);
      const broad = query.force === "true" ? undefined : await broadReasonOf(sql, principal.organizationId);
      const file = await readOrRefuse(query.format, bytes, broad);
      const { rows, rejected, errors } = file;
      const { value: indicators = [] } = await file.pieces(CHANGE_MAX_INDICATORS).next();
      const dryRun = query.dryRun === "true";
      return change(async (made) => {
        const { added, updated } = dryRun
          ? await wouldPut(made, indicators)
          : await putIndicators(made, indicators, null);
        // That somebody tried is written down like everything that a call of this kind does.
        made.record({
          resource: "ioc:import",
          facts: { dryRun, rows, added, updated, rejected },
        });
        if (!dryRun) made.afterCommit(onBatch);
        return { status: 200, body: { dryRun, rows, added, updated, rejected, errors } };
      });
    },
  });
}

async function readOrRefuse(
  format: FileFormat,
  bytes: Uint8Array,
  broad: BroadReason | undefined,
): Promise<FileReading> {
  try {
    requireText(bytes);
    const file = await readFile(format, bytes, broad);
    if (file.indicators <= CHANGE_MAX_INDICATORS) return file;
    throw new FileProblem(
      `The file has more than ${CHANGE_MAX_INDICATORS} indicators; send it in parts, or make it a feed.`,
    );
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    const { message } = error;
    throw new ApiError("VALIDATION_FAILED", message, { fields: [{ path: "/", code: "custom", message }] });
  }
}
