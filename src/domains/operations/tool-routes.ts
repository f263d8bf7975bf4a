import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import type { ToolDefinition } from "../../tools/tool-definition.ts";
import { FORMATS, type FormatName } from "../../tools/vendor-formats.ts";

const TAG = "Operations";
const NAMES = Object.keys(FORMATS);

const FileParams = Type.Object({ file: Type.String({ pattern: `^(?:${NAMES.join("|")})\\.json$` }) });
const ToolParameters = Type.Object({
  set: Type.Optional(
    Type.Enum(["core", "all"], {
      description: "What is needed first, or every operation; `core` when absent.",
    }),
  ),
  write: Type.Optional(Type.Enum(["0", "1"], { description: "1: tools that change something, too." })),
});

/** The operations as tools, in the forms that vendors take. */
export function toolRoutes(tools: readonly ToolDefinition[]) {
  return [
    route({
      method: "GET",
      path: "/api/v1/tools",
      tag: TAG,
      summary: "List the forms in which the operations are there as tools",
      access: "public",
      responses: {
        200: {
          description: "Names, and where each is",
          schema: Type.Array(
            Type.Object({ format: Type.String(), path: Type.String(), tools: Type.Integer() }),
          ),
        },
      },
      handler: async () => ({
        status: 200,
        body: NAMES.map((format) => ({ format, path: `/api/v1/tools/${format}.json`, tools: tools.length })),
      }),
    }),
    route({
      method: "GET",
      path: "/api/v1/tools/:file",
      tag: TAG,
      summary: "Read the operations as tools, in the form that a vendor takes",
      access: "public",
      params: FileParams,
      query: ToolParameters,
      responses: { 200: { description: "As the vendor's calls take it", schema: Type.Unknown() } },
      handler: async (_context, { params, query }) => {
        const chosen = tools.filter(
          ({ isCore, isReadOnly }) => (query.set === "all" || isCore) && (query.write === "1" || isReadOnly),
        );
        return { status: 200, body: FORMATS[formatOf(params.file)](chosen) };
      },
    }),
  ];
}

function formatOf(file: string): FormatName {
  const name = file.slice(0, -".json".length);
  if (isFormat(name)) return name;
  throw new TypeError("a format that there is not");
}

function isFormat(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name);
}
