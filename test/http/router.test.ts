import { expect, test } from "bun:test";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import postgres from "postgres";
import { kqlRoutes } from "../../src/domains/kql/routes.ts";
import { elasticsearchRoutes } from "../../src/domains/logs/receive/elasticsearch/routes.ts";
import { savedSearchRoutes } from "../../src/domains/saved-searches/routes.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { testApp } from "../harness/http-app.ts";

const HEAD = {
  serverUrl: "http://localhost:8080",
  description: "Routes of several kinds.",
  license: { name: "All rights reserved", identifier: "LicenseRef-all-rights-reserved" },
  tags: { KQL: "Queries." },
};

test("Elysia's own plugin makes our document of the router, which describes every route to it", async () => {
  const routes = [
    ...kqlRoutes(),
    ...savedSearchRoutes({ sql: postgres() }),
    ...elasticsearchRoutes({ receive: () => Promise.reject(new Error("nothing is received here")) }),
  ];
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument(routes, HEAD)));
  const { paths, ...documentation } = Object(document);
  expect(Object.keys(paths).length).toBeGreaterThan(10);
  const described = new Elysia()
    .use(testApp(routes).app.router())
    .use(
      swagger({ path: "/reference", specPath: "/reference/json", documentation, excludeStaticFile: false }),
    );
  const answer = await described.handle(new Request("http://localhost/reference/json"));
  expect(await answer.json()).toEqual(document);
});
