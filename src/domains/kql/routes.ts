import { Type } from "typebox";
import { kqlCapabilities } from "../../../query/index.ts";
import { route } from "../../http/define-route.ts";

const Support = Type.Enum(["exact", "approximate", "rejected"]);
const Note = Type.Union([Type.String(), Type.Null()], {
  examples: [null],
  description: "Where and why the answer can differ from Kusto's, or why there is none.",
});

const Capabilities = Type.Object(
  {
    tables: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["logs"] }),
        columns: Type.Array(
          Type.Object({
            name: Type.String({ examples: ["ts"] }),
            type: Type.String({ examples: ["datetime"] }),
          }),
        ),
      }),
      { description: "`checks` needs the scope monitors:read besides." },
    ),
    operators: Type.Array(
      Type.Object({ name: Type.String({ examples: ["where"] }), support: Support, note: Note }),
    ),
    functions: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["strlen"] }),
        kind: Type.Enum(["scalar", "aggregate", "window", "unsupported"]),
        signatures: Type.Array(Type.String({ examples: ["strlen(text: string): long"] })),
        summary: Type.Union([Type.String(), Type.Null()], { examples: ["The number of characters."] }),
        support: Support,
        note: Note,
      }),
    ),
  },
  { $id: "KqlCapabilities" },
);

/** What of KQL is understood. */
export function kqlRoutes() {
  const capabilities = kqlCapabilities();
  return [
    route({
      method: "GET",
      path: "/api/v1/kql/capabilities",
      tag: "KQL",
      summary: "List the operators and functions of KQL and how far each is supported",
      access: { role: "viewer", scope: "logs:read" },
      responses: { 200: { description: "From the compiler's own tables", schema: Capabilities } },
      handler: () => ({ status: 200, body: capabilities }),
    }),
  ];
}
