import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PackedText } from "../../http/packed-text.ts";
import type { Route } from "../../http/route.ts";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>obs API</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

/** Starts the reference; a file of its own, because the content policy allows no script in the page. */
const SCRIPT = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  persistAuthorization: false,
  validatorUrl: null,
});
`;

/** Everything from this server. The stylesheet carries its images as data, and the reference sets styles of elements. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Files change with the package, that is with a release. */
const CACHE_CONTROL = "public, max-age=3600";

const FILES = [
  { name: "swagger-ui.css", contentType: "text/css; charset=utf-8" },
  { name: "swagger-ui-bundle.js", contentType: "text/javascript; charset=utf-8" },
  { name: "favicon-32x32.png", contentType: "image/png" },
] as const;

/** The interactive reference, which works without the internet: its script and styles come from the installed package. */
export function docsRoutes() {
  const packageFolder = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
  return [
    page("/docs", "text/html; charset=utf-8", PAGE),
    page("/docs/reference.js", "text/javascript; charset=utf-8", SCRIPT),
    ...FILES.map(({ name, contentType }) => file(`/docs/${name}`, contentType, join(packageFolder, name))),
  ];
}

function page(path: string, contentType: string, text: string): Route {
  return route({
    ...described(path, contentType),
    handler: () =>
      new Response(text, {
        headers: { "content-type": contentType, "content-security-policy": CONTENT_SECURITY_POLICY },
      }),
  });
}

function file(path: string, contentType: string, fileName: string): Route {
  const packed = new PackedText(() => Bun.file(fileName).bytes(), {
    "content-type": contentType,
    "cache-control": CACHE_CONTROL,
  });
  return route({
    ...described(path, contentType),
    handler: ({ request }) => packed.answer(request),
  });
}

function described(path: string, contentType: string) {
  return {
    method: "GET",
    path,
    tag: "Operations",
    summary: path === "/docs" ? "Interactive reference" : "A file of the interactive reference",
    access: "public",
    rateLimit: "probe",
    responses: {
      200: { description: "The file.", contentType, schema: Type.String() },
      304: { description: "The file that `If-None-Match` names." },
    },
  } as const;
}
