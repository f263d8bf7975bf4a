import { Type } from "typebox";
import { OtlpJsonDecoder } from "../../../../../ingest/index.ts";
import { route } from "../../../../http/define-route.ts";
import { type LogReceiver, RECEIVE_ERRORS, readLogBody } from "../../../../receive/receive-records.ts";
import { partialSuccess, statusMembers } from "./answers.ts";

const ExportLogsServiceRequest = Type.Object(
  {
    resourceLogs: Type.Optional(
      Type.Array(
        Type.Object({
          resource: Type.Optional(Type.Unknown()),
          scopeLogs: Type.Optional(
            Type.Array(
              Type.Object({
                scope: Type.Optional(Type.Unknown()),
                logRecords: Type.Optional(Type.Array(Type.Unknown())),
              }),
            ),
          ),
        }),
      ),
    ),
  },
  {
    $id: "ExportLogsServiceRequest",
    description:
      "As the OpenTelemetry Protocol's JSON encoding has it; fields that are not known are ignored.",
    examples: [
      {
        resourceLogs: [
          {
            resource: { attributes: [{ key: "service.name", value: { stringValue: "checkout" } }] },
            scopeLogs: [
              {
                logRecords: [
                  {
                    timeUnixNano: "1772366398734000000",
                    severityNumber: 17,
                    body: { stringValue: "payment failed: card declined" },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
);

const ExportLogsServiceResponse = Type.Object(
  {
    partialSuccess: Type.Optional(
      Type.Object(
        {
          rejectedLogRecords: Type.String({
            description: "A 64-bit integer as a decimal text.",
            examples: ["1"],
          }),
          errorMessage: Type.String({ examples: ["1 log records were rejected"] }),
        },
        { description: "Absent when every record is stored. Rejected records must not be sent again." },
      ),
    ),
  },
  { $id: "ExportLogsServiceResponse", examples: [{}] },
);

const StatusMembers = Type.Object(
  { message: Type.String({ description: "The text again, where exporters look for it." }) },
  { $id: "OtlpStatus" },
);

/** OTLP over HTTP; exporters append `/v1/logs` to the base `/api/v1/otlp` themselves. */
export function otlpRoutes(receiver: Pick<LogReceiver, "receive">) {
  const decoder = new OtlpJsonDecoder();
  return [
    route({
      method: "POST",
      path: "/api/v1/otlp/v1/logs",
      tag: "Log receivers",
      summary: "OTLP logs over HTTP in the JSON encoding; answered once they are durable",
      access: { role: "member", scope: "logs:write" },
      rateLimit: "ingest",
      effect: "ingest",
      refusalMembers: statusMembers,
      refusalSchema: StatusMembers,
      body: { kind: "raw", contentTypes: ["application/json"], documented: ExportLogsServiceRequest },
      responses: {
        200: {
          description: "Stored durably, searchable within a second; what was rejected is named.",
          schema: ExportLogsServiceResponse,
        },
      },
      errors: RECEIVE_ERRORS,
      handler: async (context) => {
        const received = await receiver.receive({
          principal: context.principal,
          body: await readLogBody(context),
          decoder,
          apart: { kind: "otlp" },
          requestName: context.requestName,
          sourceKey: null,
          quarantines: false,
        });
        const headers = received.replayed ? { "Idempotent-Replayed": "true" } : {};
        return { status: 200, body: partialSuccess(received), headers };
      },
    }),
  ];
}
