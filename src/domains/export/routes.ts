import { route } from "../../http/define-route.ts";
import { AccountArchives, type ArchiveDependencies } from "./account-archive.ts";

/** Taking one's data away. */
export function exportRoutes(deps: ArchiveDependencies) {
  const archives = new AccountArchives(deps);
  return [
    route({
      method: "GET",
      path: "/api/v1/export/account.zip",
      tag: "Organisation",
      summary:
        "Download everything the organisation has but its logs and secrets, as JSON files of one moment",
      access: { role: "admin", scope: "account:read" },
      audit: "EXPORT_ACCOUNT",
      responses: {
        200: {
          description:
            "A ZIP with one JSON array for each kind of thing, and manifest.json, which says what is there and what is " +
            "left out. A connection that breaks off says that the file is incomplete.",
          contentType: "application/zip",
        },
      },
      idleTimeoutSec: 0,
      handler: async ({ principal, change }) => {
        const { organizationId } = principal;
        const archive = await archives.open(organizationId);
        try {
          await change(async (made) => {
            made.record({ resource: `organization:${organizationId}` });
            return { status: 200 };
          });
        } catch (error) {
          await archive.close();
          throw error;
        }
        return new Response(archive.bytes, {
          headers: {
            "content-type": "application/zip",
            "content-disposition": `attachment; filename="account.zip"`,
          },
        });
      },
    }),
  ];
}
