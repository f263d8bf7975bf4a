import { readPages } from "../../api/page.ts";
import { recordNumber } from "./record-ids.ts";
import { itemsOf, type RecordKind } from "./record-kind.ts";

const ID = { header: "id", at: "id", isRigid: true } as const;
const CASE_STATES = ["open", "investigating", "contained", "closed", "active"] as const;
const ERROR_STATES = ["open", "resolved", "ignored", "all"] as const;

const cases: RecordKind = {
  command: "cases",
  about: "investigations, the newest first",
  columns: [
    ...[ID, { header: "severity", at: "severity", isRigid: true }],
    { header: "status", at: "status", isRigid: true },
    { header: "disposition", at: "disposition", isRigid: true },
    { header: "made", at: "createdAt", isRigid: true },
    { header: "title", at: "title" },
  ],
  filters: [{ name: "status", about: "only those in it; active is all but closed", choices: CASE_STATES }],
  list: (api, { status }) => {
    const wanted = CASE_STATES.find((each) => each === status);
    const only = wanted === undefined ? {} : { status: wanted };
    return itemsOf(readPages(api, "GET /api/v1/cases", (cursor) => ({ query: { ...only, ...cursor } })));
  },
  show: (api, id) => api.call("GET /api/v1/cases/:id", { params: { id: recordNumber(id) } }),
  actions: [
    {
      name: "note",
      about: "add a note",
      argument: "text",
      run: async ({ api }, id, { text = "" }) => {
        await api.call("POST /api/v1/cases/:id/notes", {
          params: { id: recordNumber(id) },
          body: { body: text },
        });
        return `case ${id} has the note`;
      },
    },
  ],
};

const errors: RecordKind = {
  command: "errors",
  about: "failures of programs, grouped",
  columns: [
    ...[ID, { header: "status", at: "status", isRigid: true }],
    { header: "count", at: "count", isRigid: true, isNumber: true },
    { header: "last seen", at: "lastSeen", isRigid: true },
    { header: "service", at: "service" },
    { header: "title", at: "title" },
  ],
  filters: [
    { name: "status", about: "only those in it", choices: ERROR_STATES },
    { name: "service", about: "only of this service" },
  ],
  list: (api, { status, service }) => {
    const wanted = ERROR_STATES.find((each) => each === status);
    const only = {
      ...(wanted !== undefined && { status: wanted }),
      ...(service !== undefined && { service }),
    };
    return itemsOf(readPages(api, "GET /api/v1/log-errors", (cursor) => ({ query: { ...only, ...cursor } })));
  },
  show: (api, id) => api.call("GET /api/v1/log-errors/:id", { params: { id } }),
  actions: [
    {
      name: "resolve",
      about: "say that it is mended: it is told again when it comes back",
      run: marking({ resolved: true }),
    },
    { name: "ignore", about: "tell of it no more", run: marking({ ignored: true }) },
    { name: "reopen", about: "take either back", run: marking({ resolved: false, ignored: false }) },
  ],
};

function marking(body: {
  readonly resolved?: boolean;
  readonly ignored?: boolean;
}): NonNullable<RecordKind["actions"]>[number]["run"] {
  return async ({ api }, id) => {
    const { status } = await api.call("PATCH /api/v1/log-errors/:id", { params: { id }, body });
    return `error ${id} is ${status}`;
  };
}

const iocs: RecordKind = {
  command: "iocs",
  about: "indicators that entries are looked through for",
  columns: [
    ...[ID, { header: "type", at: "type", isRigid: true }],
    { header: "severity", at: "severity", isRigid: true },
    { header: "hits", at: "hits", isRigid: true, isNumber: true },
    { header: "last hit", at: "lastHitAt", isRigid: true },
    { header: "value", at: "value" },
    { header: "source", at: "source" },
  ],
  filters: [{ name: "value", about: "only this one" }],
  list: (api, { value }) =>
    itemsOf(
      readPages(api, "GET /api/v1/iocs", (cursor) => ({
        query: { ...(value !== undefined && { value }), ...cursor },
      })),
    ),
  show: (api, id) => api.call("GET /api/v1/iocs/:id", { params: { id: recordNumber(id) } }),
};

const assets: RecordKind = {
  command: "assets",
  about: "machines that are known",
  columns: [
    ...[ID, { header: "ip", at: "ip", isRigid: true }],
    ...[
      { header: "host", at: "hostname" },
      { header: "owner", at: "owner" },
    ],
    ...[
      { header: "criticality", at: "criticality" },
      { header: "tags", at: "tags" },
    ],
  ],
  list: (api) => itemsOf(readPages(api, "GET /api/v1/assets", (cursor) => ({ query: cursor }))),
  show: (api, id) => api.call("GET /api/v1/assets/:id", { params: { id: recordNumber(id) } }),
};

export const SECURITY_KINDS: readonly RecordKind[] = [cases, errors, iocs, assets];
