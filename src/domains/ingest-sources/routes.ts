import { Type } from "typebox";
import { inferMapping, PRESETS } from "../../../ingest/index.ts";
import { route } from "../../http/define-route.ts";
import { resource } from "../../http/resource.ts";
import { SAMPLE_MAX_BYTES } from "./limits.ts";
import type { SourceService } from "./service.ts";
import {
  CreateSourceBody,
  InferBody,
  InferredMapping,
  IngestSource,
  IngestSourceDetails,
  Preset,
  SOURCE_KEY_PATTERN,
  UpdateSourceBody,
} from "./types.ts";

const KeyParams = Type.Object({ key: Type.String({ pattern: SOURCE_KEY_PATTERN }) });
const read = { role: "viewer", scope: "sources:read" } as const;
const TAG = "Ingest sources";

/** The presets as they are shown: how samples are recognised is not. */
const PRESET_LIST = PRESETS.map(({ signs: _signs, ...preset }) => preset).toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);

/** The configured sources of an organisation. */
export function ingestSourceRoutes(service: SourceService) {
  const sources = resource({
    path: "/api/v1/ingest/sources",
    tag: TAG,
    one: "an ingest source",
    many: "ingest sources",
    by: { param: "key", params: KeyParams, id: ({ key }) => key },
    record: IngestSource,
    read,
    write: { role: "member", scope: "sources:write" },
    audit: "INGEST_SOURCE",
  });
  return [
    sources.list("By their keys", ({ organizationId }) => service.list(organizationId)),
    sources.create(CreateSourceBody, IngestSource, (change, body) => service.create(change, body)),
    sources.read(IngestSourceDetails, ({ organizationId }, key) => service.read(organizationId, key)),
    sources.update(UpdateSourceBody, (change, key, body) => service.update(change, key, body)),
    sources.remove((change, key) => service.remove(change, key)),
    route({
      method: "POST",
      path: "/api/v1/ingest/sources/infer-mapping",
      tag: TAG,
      summary: "Propose a format and a mapping for a source that is still to be made; changes nothing",
      access: read,
      effect: "read",
      body: { kind: "json", schema: InferBody, maxBytes: SAMPLE_MAX_BYTES },
      responses: {
        200: {
          description: "A mapping, how sure it is, and what it makes of the sample",
          schema: InferredMapping,
        },
      },
      handler: (_context, { body }) => ({ status: 200, body: inferMapping(body.sample, body.hint) }),
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
        200: {
          description: "A mapping, how sure it is, and what it makes of the sample",
          schema: InferredMapping,
        },
      },
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
      responses: { 200: { description: "By name", schema: Type.Array(Preset) } },
      handler: () => ({ status: 200, body: PRESET_LIST }),
    }),
  ];
}
