import { Type } from "typebox";

export const ExportLogsServiceRequest = Type.Object(
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

export const ExportLogsServiceResponse = Type.Object(
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

export const StatusMembers = Type.Object(
  { message: Type.String({ description: "The text again, where exporters look for it." }) },
  { $id: "OtlpStatus" },
);

export const ExportMetricsServiceRequest = Type.Object(
  { resourceMetrics: Type.Optional(Type.Array(Type.Unknown())) },
  {
    $id: "ExportMetricsServiceRequest",
    description:
      "As the OpenTelemetry Protocol's JSON encoding has it; fields that are not known are ignored.",
    examples: [
      {
        resourceMetrics: [
          {
            resource: { attributes: [{ key: "service.name", value: { stringValue: "checkout" } }] },
            scopeMetrics: [
              {
                metrics: [
                  {
                    name: "queue.length",
                    unit: "{item}",
                    gauge: { dataPoints: [{ timeUnixNano: "1772366398734000000", asInt: "17" }] },
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

export const ExportMetricsServiceResponse = Type.Object(
  {
    partialSuccess: Type.Optional(
      Type.Object(
        {
          rejectedDataPoints: Type.String({
            description: "A 64-bit integer as a decimal text.",
            examples: ["1"],
          }),
          errorMessage: Type.String({ examples: ["1 data points were rejected"] }),
        },
        { description: "Absent when every point is stored. Rejected points must not be sent again." },
      ),
    ),
  },
  { $id: "ExportMetricsServiceResponse", examples: [{}] },
);

export const ExportTraceServiceRequest = Type.Object(
  { resourceSpans: Type.Optional(Type.Array(Type.Unknown())) },
  {
    $id: "ExportTraceServiceRequest",
    description:
      "As the OpenTelemetry Protocol's JSON encoding has it; fields that are not known are ignored.",
    examples: [
      {
        resourceSpans: [
          {
            resource: { attributes: [{ key: "service.name", value: { stringValue: "support-bot" } }] },
            scopeSpans: [
              {
                spans: [
                  {
                    name: "chat small",
                    startTimeUnixNano: "1772366398734000000",
                    endTimeUnixNano: "1772366399734000000",
                    attributes: [
                      { key: "gen_ai.request.model", value: { stringValue: "small" } },
                      { key: "gen_ai.usage.input_tokens", value: { intValue: "1200" } },
                    ],
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

export const ExportTraceServiceResponse = Type.Object(
  {
    partialSuccess: Type.Optional(
      Type.Object(
        {
          rejectedSpans: Type.String({
            description: "A 64-bit integer as a decimal text.",
            examples: ["1"],
          }),
          errorMessage: Type.String({ examples: ["1 spans were rejected"] }),
        },
        { description: "Absent when every span is stored. Rejected spans must not be sent again." },
      ),
    ),
  },
  { $id: "ExportTraceServiceResponse", examples: [{}] },
);
