import { Type } from "typebox";
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
import { FILE_FORMATS, type FileFormat, type FileReading, readFile } from "./read-file.ts";

interface ImportDependencies {
  /** Rings when there is something to look for in what was found before. */
  readonly onBatch: () => void;
}

const TYPES = ["text/csv", "text/plain", "application/json", "application/stix+json"];

const ImportParameters = Type.Object({
  format: Type.Enum([...FILE_FORMATS], {
    description: "CSV, a bundle of STIX 2.1, or JSON of MISP.",
    examples: ["csv"],
  }),
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
export function importRoute({ onBatch }: ImportDependencies) {
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
    handler: async ({ request, reserveMemory, unpackTurn, change }, { query }) => {
      requireMediaType(request, TYPES);
      const limits = {
        maxPackedBytes: FILE_MAX_BYTES,
        maxUnpackedBytes: FILE_MAX_BYTES,
        encodings: ["gzip"],
      } as const;
      const bytes = await readBody(request, limits, reserveMemory, unpackTurn);
      const file = await readOrRefuse(query.format, bytes);
      const { rows, indicators, rejected } = file;
      const said = { rows, rejected: rejected.length, errors: rejected.slice(0, REJECTED_MAX_SHOWN) };
      const dryRun = query.dryRun === "true";
      return change(async (made) => {
        const { added, updated } = dryRun
          ? await wouldPut(made, indicators)
          : await putIndicators(made, indicators, null);
        // That somebody tried is written down like everything that a call of this kind does.
        made.record({
          resource: "ioc:import",
          facts: { dryRun, rows, added, updated, rejected: rejected.length },
        });
        if (!dryRun) made.afterCommit(onBatch);
        return { status: 200, body: { dryRun, added, updated, ...said } };
      });
    },
  });
}

async function readOrRefuse(format: FileFormat, bytes: Uint8Array): Promise<FileReading> {
  try {
    const file = await readFile(format, decoded(bytes));
    if (file.indicators.length <= CHANGE_MAX_INDICATORS) return file;
    throw new FileProblem(
      `The file has more than ${CHANGE_MAX_INDICATORS} indicators; send it in parts, or make it a feed.`,
    );
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    const { message } = error;
    throw new ApiError("VALIDATION_FAILED", message, { fields: [{ path: "/", code: "custom", message }] });
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new FileProblem("The file is not text in UTF-8.");
  }
}
