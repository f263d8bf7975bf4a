import { type TObject, Type } from "typebox";
import { inferMapping, PRESETS } from "../../../ingest/index.ts";
import { route } from "../../http/define-route.ts";
import { SAMPLE_MAX_BYTES } from "./limits.ts";
import type { SourceService } from "./service.ts";
import {
  CreateSourceBody,
  InferBody,
  IngestSource,
  IngestSourceDetails,
  SOURCE_KEY_PATTERN,
  UpdateSourceBody,
} from "./types.ts";

const KeyParams = Type.Object({ key: Type.String({ pattern: SOURCE_KEY_PATTERN }) });
const read = { role: "viewer", scope: "sources:read" } as const;
const write = { role: "member", scope: "sources:write" } as const;
const TAG = "Ingest sources";
const SOURCES = "/api/v1/ingest/sources";
const SOURCE = "/api/v1/ingest/sources/:key";

/** The presets as they are shown: how samples are recognised is not. */
const PRESET_LIST = PRESETS.map(({ signs: _signs, ...preset }) => preset).toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);

const Open: TObject = Type.Object({}, { additionalProperties: true });

/** The configured sources of an organisation. */
export function ingestSourceRoutes(service: SourceService) {
  return [
    route({
      method: "GET",
      path: SOURCES,
      tag: TAG,
      summary: "List the ingest sources",
      access: read,
      responses: { 200: { description: "By their keys", schema: Type.Array(IngestSource) } },
      errors: ["UNAVAILABLE"],
      handler: async ({ principal }) => ({ status: 200, body: await service.list(principal.organizationId) }),
    }),
    route({
      method: "POST",
      path: SOURCES,
      tag: TAG,
      summary: "Create an ingest source",
      access: write,
      audit: "CREATE_INGEST_SOURCE",
      body: { kind: "json", schema: CreateSourceBody },
      responses: { 201: { description: "The source", schema: IngestSource } },
      errors: ["CONFLICT", "UNAVAILABLE"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await service.create(made, body) })),
    }),
    route({
      method: "GET",
      path: SOURCE,
      tag: TAG,
      summary: "Read an ingest source, and what it makes of the last records while it is learning",
      access: read,
      params: KeyParams,
      responses: { 200: { description: "The source", schema: IngestSourceDetails } },
      errors: ["NOT_FOUND", "UNAVAILABLE"],
      handler: async ({ principal }, { params }) => ({
        status: 200,
        body: await service.read(principal.organizationId, params.key),
      }),
    }),
    route({
      method: "PATCH",
      path: SOURCE,
      tag: TAG,
      summary: "Change an ingest source",
      access: write,
      audit: "UPDATE_INGEST_SOURCE",
      params: KeyParams,
      body: { kind: "json", schema: UpdateSourceBody },
      responses: { 200: { description: "The source as it is now", schema: IngestSource } },
      errors: ["NOT_FOUND", "UNAVAILABLE"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 200, body: await service.update(made, params.key, body) })),
    }),
    route({
      method: "DELETE",
      path: SOURCE,
      tag: TAG,
      summary: "Delete an ingest source; what came through it stays",
      access: write,
      audit: "DELETE_INGEST_SOURCE",
      params: KeyParams,
      responses: { 204: { description: "Deleted" } },
      errors: ["NOT_FOUND", "UNAVAILABLE"],
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await service.remove(made, params.key);
          return { status: 204 };
        }),
    }),
    route({
      method: "POST",
      path: "/api/v1/ingest/sources/:key/infer-mapping",
      tag: TAG,
      summary: "Propose a mapping from a sample; changes nothing",
      access: read,
      effect: "read",
      params: KeyParams,
      body: { kind: "json", schema: InferBody, maxBytes: SAMPLE_MAX_BYTES },
      responses: {
        200: { description: "A mapping, how sure it is, and what it makes of the sample", schema: Open },
      },
      errors: ["NOT_FOUND", "PAYLOAD_TOO_LARGE", "UNAVAILABLE"],
      handler: async ({ principal }, { params, body }) => {
        await service.read(principal.organizationId, params.key);
        return { status: 200, body: inferMapping(body.sample, body.hint) };
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/ingest/presets",
      tag: TAG,
      summary: "List the mappings for well-known senders",
      access: read,
      responses: { 200: { description: "By name", schema: Type.Array(Open) } },
      handler: () => ({ status: 200, body: PRESET_LIST }),
    }),
  ];
}
