import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from "../limits.ts";

/** The page may run its one script, talk to this server and nothing else. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE =
  "body{font:16px/1.5 sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#1c1c1c}" +
  "label{display:block;margin:1rem 0}input{width:100%;padding:.5rem;box-sizing:border-box;font:inherit}" +
  "button{padding:.5rem 1rem;font:inherit}";

const RESET_FORM = `<h1>Choose a new password</h1>
<form id="form">
<label>New password
<input id="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN_CHARS}"
 maxlength="${PASSWORD_MAX_CHARS}"></label>
<button>Change the password</button>
</form>
<p id="message" role="status"></p>
<noscript><p>This page needs JavaScript; without it, post token and newPassword to /api/v1/auth/reset-password.</p></noscript>
<script src="/reset-password/form.js"></script>`;

/** The token stays behind the # of the address, which browsers send to nobody, and leaves the address at once. */
const RESET_SCRIPT = `const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
history.replaceState(null, "", location.pathname);
const form = document.getElementById("form");
const message = document.getElementById("message");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  message.textContent = "";
  try {
    const answer = await fetch("/api/v1/auth/reset-password", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, newPassword: document.getElementById("password").value }),
    });
    const body = await answer.json();
    message.textContent = answer.ok ? body.message : (body.fields ?? []).map((field) => field.message).join(" ") || body.error;
    if (answer.ok) form.remove();
  } catch {
    message.textContent = "The server does not answer; try again.";
  }
});
`;

/** The page that a mailed link to choose a new password leads to. */
export function resetPageRoutes() {
  return [
    pageRoute("/reset-password", "text/html; charset=utf-8", () => page("Choose a new password", RESET_FORM)),
    pageRoute(
      "/reset-password/form.js",
      "text/javascript; charset=utf-8",
      () => new Response(RESET_SCRIPT, { headers: { "content-type": "text/javascript; charset=utf-8" } }),
    ),
  ];
}

/** A page of one sentence. */
export function messagePage(message: string): Response {
  return page(message, `<p>${Bun.escapeHTML(message)}</p>`);
}

/** Whether a person's browser asks rather than a program. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}

function page(title: string, content: string): Response {
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
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": CONTENT_SECURITY_POLICY,
    },
  });
}

function pageRoute<const Path extends string>(path: Path, contentType: string, handler: () => Response) {
  return route({
    method: "GET",
    path,
    tag: "Authentication",
    summary: "The page on which a mailed link chooses a new password, or its script",
    access: "public",
    responses: { 200: { description: "The page.", contentType, schema: Type.String() } },
    handler,
  });
}
