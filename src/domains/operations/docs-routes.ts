import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PackedText } from "../../http/packed-text.ts";
import { openReference } from "./reference-page.ts";

const PAGE = "/docs";
const SCRIPT = "/docs/reference.js";

/** Files change with the package, that is with a release. */
const CACHE_CONTROL = "public, max-age=3600";

/** The interactive reference, which works without the internet: its script comes from the installed package. */
export function docsRoutes() {
  // `@scalar/api-reference` has the same script, and 240 packages more. Versions after this one have it inside a module.
  const bundle = fileURLToPath(import.meta.resolve("@scalar/fastify-api-reference"));
  const script = new PackedText(() => Bun.file(join(dirname(bundle), "js", "standalone.js")).bytes(), {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": CACHE_CONTROL,
  });
  let reference: ReturnType<typeof openReference> | undefined;
  return [
    route({
      ...described("text/html; charset=utf-8"),
      path: PAGE,
      summary: "Interactive reference",
      handler: async () => {
        reference ??= openReference(PAGE, SCRIPT);
        const page = await (await (await reference).handle(new Request(`http://localhost${PAGE}`))).text();
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
