import type { Mutant } from "../mutant.ts";

const FILES = ["test/domains/configuration/configuration.test.ts"];
const REFUSALS = ["test/domains/configuration/refusals.test.ts"];
const PRINTS = ["test/domains/configuration/fingerprints.test.ts"];
const ROUND = ["test/domains/configuration/round-trip.proof.test.ts"];
const MCP = ["test/domains/mcp/mcp.test.ts"];
const MCP_REFUSALS = ["test/domains/mcp/refusals.test.ts"];
const REQUESTS = ["test/tools/tool-request.test.ts"];
const SERVER_TOOLS = ["test/server/tools.test.ts"];
const MANY = ["test/domains/configuration/many-records.test.ts"];

/** The doors by which files and models change what is set up. */
export const CONFIGURATION: readonly Mutant[] = [
  {
    name: "files are applied though something has changed since their plan",
    file: "src/domains/configuration/routes.ts",
    find: "if (looked !== undefined && looked !== planId)",
    replace: 'if (looked !== undefined && planId === "")',
    tests: FILES,
  },
  {
    name: "two that apply files make two records of one",
    file: "src/domains/configuration/routes.ts",
    find: "await lockOrganization(made.tx, made.organizationId);",
    replace: "",
    tests: FILES,
  },
  {
    name: "files change kinds that their token may not",
    file: "src/domains/configuration/routes.ts",
    find: "for (const { kind } of planned.steps.filter(isChange)) requireAccess(kind.write, principal);",
    replace: "",
    tests: REFUSALS,
  },
  {
    name: "files describe kinds that their token may not read",
    file: "src/domains/configuration/routes.ts",
    find: "const readable = wanted.filter((kind) => mayCall(kind.read, principal));",
    replace: "const readable = wanted.filter((kind) => mayCall(kind.read, principal) || true);",
    tests: REFUSALS,
  },
  {
    name: "a plan is kept",
    file: "src/domains/configuration/routes.ts",
    find: "return undo(planned);",
    replace: "return planned as never;",
    tests: FILES,
  },
  {
    name: "what no file describes goes without being asked for",
    file: "src/domains/configuration/plan.ts",
    find: 'action: prune ? "delete" : "orphan",',
    replace: 'action: "delete",',
    tests: FILES,
  },
  {
    name: "what the token may not read is pruned",
    file: "src/domains/configuration/planning.ts",
    find: "(bound.has(kind.kind) && mayCall(kind.read, principal)),",
    replace: "bound.has(kind.kind),",
    tests: REFUSALS,
  },
  {
    name: "records that somebody made by hand are taken over without being asked",
    file: "src/domains/configuration/plan.ts",
    find: "adoptRecords(unbound, present.live, bound, options.adopt);",
    replace: "adoptRecords(unbound, present.live, bound, true);",
    tests: FILES,
  },
  {
    name: "a record that a file describes is taken over by another key",
    file: "src/domains/configuration/adopt.ts",
    find: "if (bound.has(`${kind.kind}/${id}`)) continue;",
    replace: "",
    tests: FILES,
  },
  {
    name: "secrets stand in plans",
    file: "src/domains/configuration/plan.ts",
    find: "...(!isSecret && { before: shown[field] ?? null, after: after[field] ?? null }),",
    replace: "...{ before: shown[field] ?? null, after: after[field] ?? null },",
    tests: [...REFUSALS, ...FILES],
  },
  {
    name: "the fingerprint of a secret is the same everywhere",
    file: "src/domains/configuration/fields.ts",
    find: "const text = `${organizationId}\\n${kind}\\n${name}\\n${canonicalJson(value)}`;",
    replace: "const text = `${organizationId > 0}\\n${canonicalJson(value)}`;",
    tests: PRINTS,
  },
  {
    name: "secrets stand in what is set up",
    file: "src/domains/configuration/export.ts",
    find: "return [[name, secrets.includes(name) ? KEPT : value]];",
    replace: "return [[name, secrets.length < 0 ? KEPT : value]];",
    tests: [...REFUSALS, ...ROUND],
  },
  {
    name: "a secret that files keep is taken away",
    file: "src/domains/configuration/apply.ts",
    find: "[...record.kept].map((name) => [name, live?.[name] ?? null])",
    replace: "[...record.kept].map((name) => [name, live === null ? name : null])",
    tests: REFUSALS,
  },
  {
    name: "records go in the order in which they came",
    file: "src/domains/configuration/batches.ts",
    find: "...steps.filter(isRemoved).toReversed()];",
    replace: "...steps.filter(isRemoved)];",
    tests: FILES,
  },
  {
    name: "a model changes something through a connection that reads",
    file: "src/domains/mcp/toolbox.ts",
    find: "if (!tool.isReadOnly && !caller.mayWrite)",
    replace: "if (tool.isCore && !tool.isReadOnly && !caller.mayWrite)",
    tests: MCP,
  },
  {
    name: "a model is offered what its token does not reach",
    file: "src/domains/mcp/toolbox.ts",
    find: "isCore && (isReadOnly || mayWrite) && hasAccess(operation.access, principal),",
    replace: "isCore && (isReadOnly || mayWrite),",
    tests: MCP,
  },
  {
    name: "a model finds operations that its token does not reach",
    file: "src/domains/mcp/toolbox.ts",
    find: "({ isReadOnly, operation }) => (isReadOnly || mayWrite) && hasAccess(operation.access, principal),",
    replace: "({ isReadOnly, operation }) => (isReadOnly || mayWrite) && operation.path !== principal.kind,",
    tests: MCP,
  },
  {
    name: "the key of the client's request goes along with the call of a model",
    file: "src/domains/mcp/caller.ts",
    find: 'const PASSED_ON = ["authorization", "user-agent"];',
    replace: 'const PASSED_ON = ["authorization", "user-agent", "idempotency-key"];',
    tests: MCP,
  },
  {
    name: "calls of models are audited as all others",
    file: "src/domains/mcp/caller.ts",
    find: "{ peerAddress: clientAddress, via: VIA }",
    replace: "{ peerAddress: clientAddress }",
    tests: MCP,
  },
  {
    name: "pages of other origins speak to models' tools",
    file: "src/domains/mcp/routes.ts",
    find: "if (origin !== null && origin !== ownOrigin)",
    replace: 'if (origin === "" && origin !== ownOrigin)',
    tests: MCP_REFUSALS,
  },
  {
    name: "an argument leads to another path",
    file: "src/tools/tool-request.ts",
    find: 'if (text === "." || text === "..")',
    replace: 'if (text === ".")',
    tests: REQUESTS,
  },
  {
    name: "what is cut from a page of a tool is on no page",
    file: "src/tools/call-tool.ts",
    find: "limit: isPage && items !== null && items < limited ? items : null,",
    replace: "limit: isPage && items !== null && items < 0 ? items : null,",
    tests: MCP,
  },
  {
    name: "answers of tools hold strangers' texts without a word",
    file: "src/tools/tool-definition.ts",
    find: 'const holdsForeignText = FOREIGN_TEXTS.has(route.tag) && route.effect === "read";',
    replace: 'const holdsForeignText = FOREIGN_TEXTS.has(route.tag) && route.effect === "change";',
    tests: [...MCP, ...SERVER_TOOLS],
  },
  {
    name: "records that are made at once are answered in another order",
    file: "src/storage/insert-rows.ts",
    find: "Number(left.id) - Number(right.id)",
    replace: "Number(right.id) - Number(left.id)",
    tests: MANY,
  },
  {
    name: "records that are made at once have the columns of the first",
    file: "src/storage/insert-rows.ts",
    find: "({ columns }) => columns.join()",
    replace: "() => 0",
    tests: MANY,
  },
  {
    name: "what has to be made alone is made with the others as well",
    file: "src/changes/make-many.ts",
    find: "const most = places.filter(({ place }) => isAlone[place] !== true);",
    replace: "const most = places;",
    tests: MANY,
  },
  {
    name: "two of one key that are made at once are two records",
    file: "src/changes/make-many.ts",
    find: "    seen.add(key);\n",
    replace: "",
    tests: MANY,
  },
  {
    name: "a record is made at once though there is one of its key",
    file: "src/changes/make-many.ts",
    find: "isTaken || seen.has(key)",
    replace: "seen.has(key)",
    tests: ["test/domains/configuration/configuration.test.ts", ...MANY],
  },
];
