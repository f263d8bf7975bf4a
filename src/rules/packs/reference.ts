import { PACKS } from "./catalog.ts";
import type { PackRule, SampleEntry } from "./pack.ts";

/** The terms of a rule of the packs. */
const PREVIEWED =
  '{"name": "Root", "kql": "service == \\"sshd\\" and message startswith \\"Accepted\\" and message contains \\" for root from \\"", "threshold": 1, "windowSec": 60, "groupBy": ["host"]}';

/** The text of docs/detections.md: what each rule of the packs means, what it counts, and what to do. */
export function renderDetections(): string {
  return [
    "<!-- Made by `RECORD=1 bun test test/rules/packs` from src/rules/packs; a test compares the two. -->",
    "# Detections that come with the server",
    "",
    "Rules about logs, in packs by what sends them. `GET /api/v1/log-alerts/catalog` lists them. See what one would have told in the past",
    "day, and make the rules of a pack, switched on:",
    "",
    "```sh",
    "export OBS=http://localhost:8080",
    "export OBS_TOKEN=$(bunx obs token create --sign-in --scope alerts:read alerts:write logs:read logs:write incidents:read)",
    'api() { curl -s -H "authorization: Bearer $OBS_TOKEN" -H \'content-type: application/json\' "$@"; }',
    "```",
    "",
    "```sh",
    `api $OBS/api/v1/log-alerts/preview -d '${PREVIEWED}'`,
    `api $OBS/api/v1/log-alerts/seed -d '{"packs": ["linux-auth"], "enable": true}'`,
    "```",
    "",
    "What it counts makes it tell within seconds:",
    "",
    "```sh",
    `api $OBS/api/v1/logs/ingest -d '{"service": "sshd", "host": "web-1", "message": "Accepted password for root from 198.51.100.4 port 5022 ssh2"}'`,
    "sleep 5",
    'api "$OBS/api/v1/incidents?status=open"',
    `api $OBS/api/v1/log-alerts/preview -d '${PREVIEWED}'`,
    "```",
    "",
    "Without `packs` all are made, without `enable` switched off. The answer says of which packs entries came within seven days: rules of the",
    "others can find nothing yet. A rule is made once: one that was changed stays as it is, and one that was deleted is made again. From then on they",
    "are log alerts like any other (`alerts.md`); `sigma.md` brings rules of others. Fields such as `sourceAddress` are",
    "logical ones (`logical-fields.md`): one name for what sources name in their own ways.",
    "",
    "One cause is told of by one rule: of recorded logs of eight ordinary systems, each judged in its own time, all rules and correlations",
    "together tell at most by one. In that of SSH, which guessers reached, it is the one about guessed passwords.",
    ...PACKS.flatMap(({ id, name, description, expects, rules }) => [
      "",
      `## ${name} (\`${id}\`)`,
      "",
      `${description} Needs ${expects.sources}.`,
      ...rules.flatMap(ruleText),
    ]),
    "",
  ].join("\n");
}

function ruleText(rule: PackRule): string[] {
  const { name, id, description, severity, attackTechnique, threshold, windowSec, groupBy, kql, counts } =
    rule;
  const technique = attackTechnique === null ? "" : `, ${attackTechnique}`;
  const apart = groupBy.length === 0 ? "" : ` of one \`${groupBy.join("`, `")}\``;
  const many = threshold === 1 ? "one entry" : `${threshold} entries`;
  return [
    "",
    `### ${name}`,
    "",
    `\`${id}\`, ${severity}${technique}: ${many}${apart} in ${windowSec} s. ${description}`,
    "",
    "```kql",
    kql,
    "```",
    "",
    `It counts \`${sampleText(counts)}\`.`,
  ];
}

function sampleText({ message, attrs }: SampleEntry): string {
  const text = attrs === undefined ? message : `${message} ${JSON.stringify(attrs)}`;
  return text.replaceAll("`", "'");
}
