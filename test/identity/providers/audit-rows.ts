import type { TestStores } from "../../harness/stores.ts";

/** `ACTION resource` of what an organisation's audit log holds, oldest first. */
export async function auditedIn({ postgres }: TestStores, organizationId: number): Promise<string[]> {
  const rows = await postgres<{ action: string; resource: string }[]>`
    SELECT action, resource FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
  return rows.map(({ action, resource }) => `${action} ${resource.replace(/:\d+$/, "")}`);
}
