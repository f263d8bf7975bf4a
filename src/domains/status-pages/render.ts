import { createHash } from "node:crypto";
import { type Html, html } from "./html.ts";
import { STATE_COLOURS, styleOf } from "./style.ts";
import type { Component, PublicPage, State } from "./types.ts";
import { WORDS } from "./words.ts";

/** A document, and the policy that lets exactly it be shown: no script, nothing from elsewhere. */
export interface Document {
  readonly text: string;
  readonly policy: string;
}

interface Places {
  /** Of the page itself, without a slash at its end; on a host of its own, nothing. */
  readonly base: string;
  readonly isEmbedded: boolean;
}

/** Bars of three states have a letter; what is well has none. */
const BAR = { operational: null, degraded: "g", down: "d", unknown: "u" } as const;
/** Of the state in the icon of a tab: a shape beside the colour. */
const ICON = {
  operational: "M4 8.5l3 3 5-6",
  degraded: "M8 3.5v5M8 12v.5",
  down: "M4.5 4.5l7 7m0-7l-7 7",
  maintenance: "M4 8h8",
  unknown: "M8 12v.5",
} as const;

/** The whole page, or what of it stands in another one. */
export function pageDocument(page: PublicPage, places: Places): Document {
  const clock = clockOf(page.theme?.timezone);
  const content = places.isEmbedded
    ? html`<main>${overall(page)}${stale(page)}<h1 class="source"><a href="${places.base === "" ? "/" : places.base}" target="_blank" rel="noopener">${WORDS.status(page.name)}</a></h1></main>`
    : html`<header><h1>${WORDS.status(page.name)}</h1><span class="quiet">${WORDS.asOf} ${clock(page.updatedAt)}</span></header>
<main>${overall(page)}${stale(page)}
${page.description === null ? null : html`<p class="body">${page.description}</p>`}
${componentsOf(page)}${maintenanceOf(page, clock)}${incidentsOf(page, clock)}${subscribeOf(page, places)}</main>
<footer><a href="${places.base}/feed.xml">${WORDS.feed}</a> <a href="${places.base}/badge.svg">${WORDS.badge}</a></footer>`;
  return documentOf({
    title: `${mark(page.state)} ${WORDS.page[page.state]} – ${WORDS.status(page.name)}`,
    state: page.state,
    accent: page.theme?.accent,
    links: places.isEmbedded
      ? null
      : html`<link rel="alternate" type="application/atom+xml" href="${places.base}/feed.xml">`,
    content,
    isEmbedded: places.isEmbedded,
  });
}

/** What stands before a page with a password. */
export function lockedDocument(slugBase: string, wasWrong: boolean): Document {
  return documentOf({
    title: WORDS.locked.heading,
    state: "unknown",
    content: html`<main><h1>${WORDS.locked.heading}</h1>${wasWrong ? html`<p class="notice" role="alert">${WORDS.locked.wrong}</p>` : null}
<form method="post" action="${slugBase}/unlock"><label>${WORDS.locked.password}<input type="password" name="password" required maxlength="200" autocomplete="current-password"></label><button>${WORDS.locked.button}</button></form></main>`,
  });
}

/** A page of one sentence. */
export function sentenceDocument(sentence: string): Document {
  return documentOf({
    title: sentence,
    state: "unknown",
    content: html`<main><h1>${sentence}</h1></main>`,
  });
}

/** A page of one button, which posts to where the page was opened: opening links is what scanners do. */
export function buttonDocument(label: string): Document {
  return documentOf({
    title: label,
    state: "unknown",
    content: html`<main><h1>${label}</h1><form method="post"><button>${label}</button></form></main>`,
  });
}

interface DocumentParts {
  readonly title: string;
  readonly state: State;
  readonly accent?: string | undefined;
  readonly links?: Html | null;
  readonly content: Html;
  readonly isEmbedded?: boolean;
}

function documentOf({
  title,
  state,
  accent,
  links = null,
  content,
  isEmbedded = false,
}: DocumentParts): Document {
  const style = styleOf(accent);
  const hash = createHash("sha256").update(style).digest("base64");
  const head = html`<!doctype html>
<html lang="${WORDS.lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title><link rel="icon" href="${iconOf(state)}">${links}<style>`;
  const rest = html`</style></head><body>
${content}
</body></html>
`;
  return {
    text: `${head.text}${style}${rest.text}`,
    policy:
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; base-uri 'none'; ` +
      `frame-ancestors ${isEmbedded ? "*" : "'none'"}`,
  };
}

function overall({ state }: PublicPage): Html {
  return html`<p class="overall ${state}" role="status"><strong>${mark(state)} ${WORDS.page[state]}</strong></p>`;
}

function stale({ isStale }: PublicPage): Html | null {
  return isStale ? html`<p class="banner" role="alert">${WORDS.stale}</p>` : null;
}

function componentsOf(page: PublicPage): Html | null {
  if (page.groups.length === 0) return null;
  const showPercentages = page.theme?.showPercentages ?? true;
  return html`<section><h2>${WORDS.components}</h2>${page.groups.map(
    ({ name, components }) =>
      html`${name === null ? null : html`<h3 class="group">${name}</h3>`}${components.map((component) => componentOf(component, showPercentages))}`,
  )}</section>`;
}

function componentOf({ name, state, uptimePercent, days }: Component, showPercentages: boolean): Html {
  const known = days.filter((day) => day.state !== "unknown").length;
  const uptime =
    showPercentages && uptimePercent !== null
      ? html`<span class="quiet">${WORDS.uptime(uptimePercent, known)}</span>`
      : null;
  return html`<div class="component"><div class="line"><strong>${name}</strong>${uptime}<span class="state ${state}">${mark(state)} ${WORDS.component[state]}</span></div>
<ol class="bars" aria-label="${WORDS.lastDays(days.length)}">${days.map((day) => {
    const letter = BAR[day.state];
    const text = WORDS.day(day);
    return letter === null ? html`<li><b>${text}</b>` : html`<li class=${letter}><b>${text}</b>`;
  })}</ol></div>`;
}

function maintenanceOf({ maintenance }: PublicPage, clock: Clock): Html | null {
  if (maintenance.length === 0) return null;
  return html`<section><h2>${WORDS.maintenance}</h2>${maintenance.map(
    ({ title, startsAt, endsAt, isRunning, components }) =>
      html`<article><h3>${title ?? WORDS.unnamedMaintenance}</h3><p><span class="state maintenance">${isRunning ? WORDS.running : WORDS.scheduled}</span> · ${clock(startsAt)} ${WORDS.until} ${clock(endsAt)}</p>${components.length === 0 ? null : html`<p class="quiet">${WORDS.affects(components)}</p>`}</article>`,
  )}</section>`;
}

function incidentsOf({ incidents }: PublicPage, clock: Clock): Html {
  return html`<section><h2>${WORDS.incidents}</h2>${
    incidents.length === 0
      ? html`<p class="quiet">${WORDS.noIncidents}</p>`
      : incidents.map(
          ({ id, title, status, openedAt, resolvedAt, updates }) =>
            html`<article id="incident-${id}"><h3>${title}</h3><p class="quiet">${statusWord(status)} · ${clock(openedAt)}${resolvedAt === null ? null : html` – ${clock(resolvedAt)}`}</p><ol>${updates.map(
              (update) =>
                html`<li><span class="quiet">${clock(update.at)}${update.status === null ? null : html` · ${statusWord(update.status)}`}</span><p class="body">${update.body}</p></li>`,
            )}</ol></article>`,
        )
  }</section>`;
}

/** Nobody can subscribe while the database is away. */
function subscribeOf({ groups, isStale }: PublicPage, { base }: Places): Html | null {
  if (isStale) return null;
  const { heading, email, which, button, program, webhook } = WORDS.subscribe;
  const components = groups.flatMap((group) => group.components);
  return html`<section id="subscribe"><h2>${heading}</h2><form method="post" action="${base}/subscribe"><label>${email}<input type="email" name="email" required maxlength="254" autocomplete="email"></label>${
    components.length < 2
      ? null
      : html`<fieldset><legend>${which}</legend>${components.map(({ monitorId, name }) => html`<label><input type="checkbox" name="monitorId" value="${monitorId}">${name}</label>`)}</fieldset>`
  }<details><summary>${program}</summary><label>${webhook}<input type="url" name="webhookUrl" maxlength="2048" placeholder="https://"></label></details><button>${button}</button></form></section>`;
}

export function statusWord(status: string): string {
  return WORDS.incidentStatus[status] ?? status;
}

/** A shape of the state, so that colour is never the only thing that says it. */
function mark(state: State): string {
  return { operational: "✓", degraded: "!", down: "✕", maintenance: "–", unknown: "?" }[state];
}

function iconOf(state: State): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${STATE_COLOURS[state].light}"/>` +
    `<path d="${ICON[state]}" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

type Clock = (at: string) => Html;

/** Times in the zone of the page, and for everyone elsewhere in UTC. */
function clockOf(timezone: string | undefined): Clock {
  const formatters = (timeZone: string) => {
    const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone });
    const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone });
    return { dayOf: (date: Date) => day.format(date), timeOf: (date: Date) => time.format(date) };
  };
  const utc = formatters("UTC");
  const own = timezone === undefined || timezone === "UTC" ? null : formatters(timezone);
  return (at) => {
    const date = new Date(at);
    const [utcDay, utcTime] = [utc.dayOf(date), `${utc.timeOf(date)} UTC`];
    if (own === null) return html`<time datetime="${at}">${utcDay}, ${utcTime}</time>`;
    const day = own.dayOf(date);
    const inUtc = day === utcDay ? utcTime : `${utcDay}, ${utcTime}`;
    return html`<time datetime="${at}">${day}, ${own.timeOf(date)} ${timezone ?? ""} (${inUtc})</time>`;
  };
}
