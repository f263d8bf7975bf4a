import { formPageRoutes, page } from "../../http/page.ts";
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from "../limits.ts";

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
  return formPageRoutes({
    path: "/reset-password",
    summary: "The page on which a mailed link chooses a new password",
    title: "Choose a new password",
    content: RESET_FORM,
    script: RESET_SCRIPT,
  });
}

/** A page of one sentence. */
export function messagePage(message: string): Response {
  return page(message, `<p>${Bun.escapeHTML(message)}</p>`);
}
