/** Small bodies of a great many records, which no single turn of the loop decodes. */
import { afterEach, describe, expect, test } from "bun:test";
import { EntryRules } from "../../../../ingest/entry-rules.ts";
import {
  DECODE_IN_PLACE_MAX_RECORDS,
  DeliveryDecoder,
  DeploymentDrainDecoder,
  ElasticsearchBulk,
  OtlpJsonDecoder,
  type RecordDecoder,
  type RecordDecoderSpec,
} from "../../../../ingest/index.ts";
import { DECODE_IN_PLACE_MAX_BYTES } from "../../../../ingest/limits.ts";
import { NO_DAILY_CAPS, type Principal } from "../../../../src/access/principal.ts";
import { LogReceiver } from "../../../../src/receive/receive-records.ts";
import { NO_RULES } from "../../../harness/no-rules.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { openLarge } from "../../../ingest/large-bodies.ts";

const directories: ReturnType<typeof temporaryDirectory>[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) directory[Symbol.dispose]();
});

const PRINCIPAL: Principal = {
  ...{ kind: "token", userId: 1, organizationId: 1, email: "a@example.com", role: "member", tokenId: 1 },
  ...{ scopes: ["logs:write"], caps: NO_DAILY_CAPS, credentialKey: "token:1" },
};
const UNCOUNTED = { takeLogBytes: async () => async () => undefined };

interface Format {
  readonly decoder: () => RecordDecoder;
  readonly spec: RecordDecoderSpec;
  readonly body: (records: number) => string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  lines: {
    decoder: () => new DeliveryDecoder(),
    spec: { kind: "stream-a", records: null, attributes: "{}" },
    body: (records) => "a\n".repeat(records),
  },
  objects: {
    decoder: () => new DeploymentDrainDecoder(),
    spec: { kind: "platform-a" },
    body: (records) => "{}\n".repeat(records),
  },
  OTLP: {
    decoder: () => new OtlpJsonDecoder(),
    spec: { kind: "otlp" },
    body: (records) =>
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${Array.from({ length: records }, () => "{}").join()}]}]}]}`,
  },
  bulk: {
    decoder: () => new ElasticsearchBulk("logs"),
    spec: { kind: "elasticsearch-bulk", defaultIndex: "logs" },
    body: (records) => '{"index":{}}\n{}\n'.repeat(records),
  },
};

/** Receives a body; what came of it, and how many records were decoded at a time where others wait. */
async function receive(format: Format, records: number, rulesOf?: () => EntryRules) {
  const directory = temporaryDirectory();
  directories.push(directory);
  const ingest = await openLarge(directory.path, rulesOf === undefined ? {} : { rulesOf });
  let mostInPlace = 0;
  let apart = 0;
  const receiver = new LogReceiver({
    ingest: {
      ingest: (request) =>
        ingest.ingest({
          ...request,
          decode: (batch, skip) => {
            try {
              request.decode(batch, skip);
            } finally {
              mostInPlace = Math.max(mostInPlace, batch.requestRows);
            }
          },
          apart: request.apart && {
            ...request.apart,
            decoded: () => {
              apart++;
            },
          },
        }),
    },
    caps: { token: UNCOUNTED, plan: UNCOUNTED },
    quarantine: { keep: async () => 0 },
    rules: NO_RULES,
  });
  const body = Buffer.from(format.body(records));
  expect(body.length).toBeLessThanOrEqual(DECODE_IN_PLACE_MAX_BYTES);
  const { accepted } = await receiver.receive({
    ...{ principal: PRINCIPAL, body, decoder: format.decoder(), apart: format.spec },
    ...{ requestName: null, sourceKey: null, quarantines: true },
  });
  await ingest.close(0);
  return { accepted, mostInPlace, apart };
}

describe.each(Object.entries(FORMATS))("%s", (_name, format) => {
  test("of a body that says much in few bytes are not decoded where others wait", async () => {
    const records = DECODE_IN_PLACE_MAX_RECORDS + 5_000;
    const received = await receive(format, records);
    expect(received).toEqual({ accepted: records, mostInPlace: DECODE_IN_PLACE_MAX_RECORDS, apart: 1 });
  });

  test("of a body with as many as are sent at a time are", async () => {
    const records = DECODE_IN_PLACE_MAX_RECORDS;
    expect(await receive(format, records)).toEqual({ accepted: records, mostInPlace: records, apart: 0 });
  });
});

test("rules judge each record of such a body once", async () => {
  let dropped = 0;
  const rules = new EntryRules({
    rules: [
      {
        action: { kind: "drop" },
        rowsOf: () => ({ candidates: null, isFor: (row) => row % 2 === 0 }),
      },
    ],
    random: Math.random,
    applied: (outcomes) => {
      dropped += outcomes.reduce((sum, outcome) => sum + outcome.dropped, 0);
    },
  });
  const records = DECODE_IN_PLACE_MAX_RECORDS + 2_000;
  const { accepted } = await receive(FORMATS.lines ?? throwMissing(), records, () => rules);
  expect([accepted, dropped]).toEqual([records, records / 2]);
});

function throwMissing(): never {
  throw new Error("there is no such format");
}
