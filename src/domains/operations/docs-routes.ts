import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PackedText } from "../../http/packed-text.ts";
import { API_SUMMARY } from "./api-description.ts";

const PAGE = "/docs";
const SCRIPT = "/docs/reference.js";

/** Files change with the package, that is with a release. */
const CACHE_CONTROL = "public, max-age=3600";

const ICON =
  "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E" +
  "%3Crect width=%2216%22 height=%2216%22 rx=%223%22 fill=%22%23111%22/%3E" +
  "%3Cpath d=%22M3 5h10M3 8h7M3 11h9%22 stroke=%22%23fff%22/%3E%3C/svg%3E";

/** What the reference is not to do: ask other servers for fonts, figures, answers or a proxy, or lead people to them. */
const NOTHING_ELSEWHERE = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
};

/** The page of the reference, rendered by Elysia's plugin; the script comes from this server, and so does the document. */
const reference = new Elysia().use(
  swagger({
    path: PAGE,
    provider: "scalar",
    scalarCDN: SCRIPT,
    scalarConfig: {
      ...NOTHING_ELSEWHERE,
      spec: { url: "/openapi.json" },
      // Calls go to where the page came from, whatever name of the server that is: the policy lets no others pass.
      servers: [{ url: "/" }],
      favicon: ICON,
      customCss: "",
      theme: "default",
      defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
      authentication: { preferredSecurityScheme: "token" },
    },
    documentation: { info: { title: "obs API", description: API_SUMMARY, version: "" } },
  }),
);

/** The interactive reference, which works without the internet: its script comes from the installed package. */
export function docsRoutes() {
  // The only package that has the script by itself; the one it is built in brings a framework of some hundred packages.
  const bundle = fileURLToPath(import.meta.resolve("@scalar/fastify-api-reference"));
  const script = new PackedText(() => Bun.file(join(dirname(bundle), "js", "standalone.js")).bytes(), {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": CACHE_CONTROL,
  });
  return [
    route({
      ...described("text/html; charset=utf-8"),
      path: PAGE,
      summary: "Interactive reference",
      handler: async () => {
        const page = await (await reference.handle(new Request(`http://localhost${PAGE}`))).text();
        const headers = {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policyOf(page),
        };
        return new Response(page, { headers });
      },
    }),
    route({
      ...described("text/javascript; charset=utf-8"),
      path: SCRIPT,
      summary: "The script of the interactive reference",
      handler: ({ request }) => script.answer(request),
    }),
  ];
}

function described(contentType: string) {
  return {
    method: "GET",
    tag: "Operations",
    access: "public",
    rateLimit: "probe",
    responses: {
      200: { description: "The file.", contentType, schema: Type.String() },
      304: { description: "The file that `If-None-Match` names." },
    },
  } as const;
}

/**
 * Everything from this server, and of the scripts in the page those that the plugin has written into it. The reference
 * sets styles of elements, and carries its images as data.
 */
function policyOf(page: string): string {
  const inline = [...page.matchAll(/<script[^>]*>([^<]*)<\/script>/g)].map(([, text = ""]) => text);
  const hashes = inline.filter((text) => text !== "").map((text) => `'sha256-${sha256(text)}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64");
