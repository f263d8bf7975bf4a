import { EMAIL_MAX_CHARS } from "../../access/limits.ts";
import { formPageRoutes } from "../../http/page.ts";
import { LOGIN_PASSWORD_MAX_CHARS, PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from "../../identity/limits.ts";

const PATH = "/accept-invite";

/** Not of the type that browsers have for it: that one takes no letters but English ones. */
const EMAIL = `<label>Email address that was invited
<input name="email" inputmode="email" autocomplete="username" required maxlength="${EMAIL_MAX_CHARS}"></label>`;

const CONTENT = `<h1>Join an organisation</h1>
<div id="ways">
<section id="signed-in" hidden>
<p>This browser is signed in as <b id="person"></b>.</p>
<button id="join" type="button">Join as this person</button>
</section>
<form id="new">
<h2>New here</h2>
${EMAIL}
<label>New password, of ${PASSWORD_MIN_CHARS} characters or more
<input name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_MIN_CHARS}"
 maxlength="${PASSWORD_MAX_CHARS}"></label>
<button>Make an account and join</button>
</form>
<form id="known">
<h2>With an account</h2>
${EMAIL}
<label>Password
<input name="password" type="password" autocomplete="current-password" required
 maxlength="${LOGIN_PASSWORD_MAX_CHARS}"></label>
<label id="code" hidden>One-time code of your app, or a recovery code
<input name="totp" autocomplete="one-time-code" minlength="6" maxlength="11"></label>
<button>Log in and join</button>
</form>
</div>
<p id="message" role="status"></p>
<section id="next-new" hidden>
<h2>What comes next</h2>
<p>Follow the link that was mailed to you: it confirms your address.</p>
<p><code class="login"></code> then signs the command line in; <a href="/docs">/docs</a> says what there is.</p>
</section>
<section id="next-known" hidden>
<h2>What comes next</h2>
<p>A token belongs to one organisation: <code class="login"></code> makes one for the organisation that you joined first.
 One for this organisation takes three calls, which <a href="/docs">/docs</a> describes: POST /api/v1/auth/login,
 POST /api/v1/auth/switch-organization with the organizationId <b id="organization"></b>, and POST /api/v1/me/tokens.
 <code class="token"></code> keeps it.</p>
</section>
<noscript><p>This page needs JavaScript; without it, post email, password and inviteToken to /api/v1/auth/register, or
 with a session token to /api/v1/auth/accept-invite.</p></noscript>
<script src="${PATH}/form.js"></script>`;

/** The token stays behind the # of the address, which browsers send to nobody, and leaves the address at once. */
const SCRIPT = `const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
history.replaceState(null, "", location.pathname);
const at = (id) => document.getElementById(id);
const say = (text) => { at("message").textContent = text; };
const login = "obs login --url " + location.origin;
for (const place of document.querySelectorAll(".login")) place.textContent = login;
for (const place of document.querySelectorAll(".token")) place.textContent = login + " --token obs_...";

async function call(method, path, json) {
  let answer, body;
  try {
    answer = await fetch(path, {
      method,
      ...(json && { headers: { "content-type": "application/json" }, body: JSON.stringify(json) }),
    });
    body = await answer.json();
  } catch {
    throw new Error("The server does not answer; try again.");
  }
  if (answer.ok) return body;
  const words = (body.fields ?? []).map((field) => field.message).join(" ") || body.error;
  throw Object.assign(new Error(words), { code: body.code });
}

function showPerson({ user }) {
  at("person").textContent = user.email;
  at("signed-in").hidden = false;
}

function finish(words, next) {
  at("ways").remove();
  say(words);
  if (next !== undefined) at(next).hidden = false;
}

async function attempt(work) {
  say("");
  at("ways").inert = true;
  try {
    await work();
  } catch (error) {
    say(error.message);
  }
  if (at("ways") !== null) at("ways").inert = false;
}

async function makeAccount({ email, password }) {
  const { organization } = await call("POST", "/api/v1/auth/register", { email, password, inviteToken: token });
  finish("You have an account now, and are a member of " + organization.name + ".", "next-new");
}

async function logIn({ email, password, totp }) {
  try {
    showPerson(await call("POST", "/api/v1/auth/login", { email, password, ...(totp && { totp }) }));
  } catch (error) {
    if (error.code !== "MFA_REQUIRED") throw error;
    at("code").hidden = false;
    throw new Error("Your account asks for a one-time code.");
  }
}

async function join() {
  const { organization, role } = await call("POST", "/api/v1/auth/accept-invite", { token });
  at("organization").textContent = organization.id;
  finish("You are a member of " + organization.name + " now, as " + role + ".", "next-known");
}

function onSubmit(id, work) {
  at(id).addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    attempt(() => work(given));
  });
}

onSubmit("new", makeAccount);
onSubmit("known", async (given) => {
  await logIn(given);
  await join();
});
at("join").addEventListener("click", () => attempt(join));
if (token === "") finish("Open the link of the invitation again: this page knows an invitation only by its link.");
else call("GET", "/api/v1/me").then(showPerson, () => undefined);
`;

/** The page that a mailed invite leads to. */
export function invitePageRoutes() {
  return formPageRoutes({
    path: PATH,
    summary: "The page on which a mailed invite is accepted",
    title: "Join an organisation",
    content: CONTENT,
    script: SCRIPT,
  });
}
