import { Type } from "typebox";
import { route } from "../../../../http/define-route.ts";
import type { HttpMethod } from "../../../../http/route.ts";
import { SENDER, SENDER_HEADERS } from "./sender.ts";

/** Newer than any client of this major version, so that none takes the server for too old for it. */
const VERSION = "9.99.0";
const CLUSTER = "obs";

const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: 255 }) });
/** It differs by the version of Elasticsearch; clients look at little of it. */
const Answer = Type.Object({}, { $id: "ElasticsearchAnswer", additionalProperties: true });

const Index = Type.Object({ index: Type.String({ minLength: 1, maxLength: 255 }) });

/** What a client is told that asks for something it would set up; whatever the name, it is there. */
const NAMED: Readonly<Record<string, (name: string) => unknown>> = {
  "_ilm/policy": (name) => ({ [name]: { version: 1, policy: { phases: {} } } }),
  _index_template: (name) => ({
    index_templates: [{ name, index_template: { index_patterns: ["*"], composed_of: [], data_stream: {} } }],
  }),
  _component_template: (name) => ({
    component_templates: [{ name, component_template: { template: {} } }],
  }),
  _template: (name) => ({
    [name]: { order: 0, index_patterns: ["*"], settings: {}, mappings: {}, aliases: {} },
  }),
  "_ingest/pipeline": (name) => ({ [name]: { processors: [] } }),
  _data_stream: (name) => ({ data_streams: [{ name, status: "GREEN", template: name, indices: [] }] }),
};

/**
 * What Elasticsearch clients ask before they send: who is there, and whether templates, policies and pipelines are set
 * up. They always are, and setting them up is accepted and does nothing: entries need none.
 */
export function elasticsearchProbeRoutes() {
  return [
    probe("", "Who is there, for Elasticsearch clients", () => ({
      name: CLUSTER,
      cluster_name: CLUSTER,
      cluster_uuid: CLUSTER,
      version: {
        number: VERSION,
        build_flavor: "default",
        build_type: "tar",
        build_hash: "unknown",
        build_date: "2026-01-01T00:00:00.000Z",
        build_snapshot: false,
        lucene_version: "10.0.0",
        minimum_wire_compatibility_version: "8.19.0",
        minimum_index_compatibility_version: "8.0.0",
      },
      tagline: "You Know, for Search",
    })),
    probe("/_license", "The licence that clients look for", () => ({
      license: {
        status: "active",
        uid: CLUSTER,
        type: "basic",
        mode: "basic",
        issued_to: CLUSTER,
        issuer: CLUSTER,
      },
    })),
    probe("/_xpack", "The features that clients look for", () => ({
      license: { uid: CLUSTER, type: "basic", mode: "basic", status: "active" },
      features: { ilm: { available: true, enabled: true } },
    })),
    probe("/_cluster/health", "The health that clients look for", () => ({
      cluster_name: CLUSTER,
      status: "green",
      timed_out: false,
      number_of_nodes: 1,
      number_of_data_nodes: 1,
    })),
    // Without addresses: a client that looks for further nodes stays with the address it has.
    ...["/_nodes", "/_nodes/http"].map((path) =>
      probe(path, "The nodes that clients look for", () => ({ cluster_name: CLUSTER, nodes: {} })),
    ),
    ...(["GET", "PUT"] as const).map(indexRoute),
    ...Object.entries(NAMED).flatMap(([path, found]) => [
      named("GET", path, found),
      named("PUT", path, () => ({ acknowledged: true })),
    ]),
  ];
}

function probe(path: string, summary: string, body: () => unknown) {
  return route({
    ...SENDER,
    method: "GET",
    path: `/elasticsearch${path}`,
    summary,
    responses: { 200: { description: "What Elasticsearch answers.", schema: Answer } },
    handler: () => ({ status: 200, headers: SENDER_HEADERS, body: body() }),
  });
}

/** Clients look for the index or alias that they write to, and make it. */
function indexRoute(method: "GET" | "PUT") {
  return route({
    ...SENDER,
    method,
    path: "/elasticsearch/:index",
    summary: method === "GET" ? "An index by name: always there" : "An index: accepted, without effect",
    ...(method === "PUT" && { effect: "read" }),
    params: Index,
    responses: { 200: { description: "What Elasticsearch answers.", schema: Answer } },
    handler: (_context, { params: { index } }) => ({
      status: 200,
      headers: SENDER_HEADERS,
      body:
        method === "GET"
          ? { [index]: { aliases: {}, mappings: {}, settings: {} } }
          : { acknowledged: true, shards_acknowledged: true, index },
    }),
  });
}

function named(method: HttpMethod, path: string, body: (name: string) => unknown) {
  return route({
    ...SENDER,
    method,
    path: `/elasticsearch/${path}/:name`,
    summary: method === "GET" ? `${path} by name: always there` : `${path}: accepted, without effect`,
    ...(method === "PUT" && { effect: "read" }),
    params: Name,
    responses: { 200: { description: "What Elasticsearch answers.", schema: Answer } },
    handler: (_context, { params: { name } }) => ({ status: 200, headers: SENDER_HEADERS, body: body(name) }),
  });
}
