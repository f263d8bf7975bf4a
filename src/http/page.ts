import { Type } from "typebox";
import { route } from "./define-route.ts";

/** A page may run its one script, talk to this server and nothing else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE =
  "body{font:16px/1.5 sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#1c1c1c}" +
  "label{display:block;margin:1rem 0}input{width:100%;padding:.5rem;box-sizing:border-box;font:inherit}" +
  "button{padding:.5rem 1rem;font:inherit}h2{font-size:1.1rem;margin-top:2rem}code{overflow-wrap:anywhere}" +
  "[hidden]{display:none}";

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** A small page of the server's own. The title is escaped, the content is HTML. */
export function page(title: string, content: string): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${content}
</body>
</html>
`;
  return new Response(html, {
    headers: { "content-type": HTML, "content-security-policy": CONTENT_SECURITY_POLICY },
  });
}

/** Whether a person's browser asks rather than a program. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

/** A page that a mailed link leads to, and `form.js` below it, which sends what is typed. */
export function formPageRoutes<const Path extends string>({
  path,
  summary,
  title,
  content,
  script,
}: {
  readonly path: Path;
  readonly summary: string;
  readonly title: string;
  /** Names the script as its last element. */
  readonly content: string;
  readonly script: string;
}) {
  const described = { method: "GET", tag: "Authentication", access: "public" } as const;
  const file = (contentType: string) => ({
    200: { description: "The file.", contentType, schema: Type.String() },
  });
  return [
    route({
      ...{ ...described, path, summary },
      responses: file(HTML),
      handler: () => page(title, content),
    }),
    route({
      ...described,
      path: `${path}/form.js`,
      summary: `${summary}: its script`,
      responses: file(SCRIPT),
      handler: () => new Response(script, { headers: { "content-type": SCRIPT } }),
    }),
  ];
}
