import { EXPECTS, OPERATIONS, SUCCEEDED } from "./azure-operations.ts";
import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack } from "./pack.ts";
import { azureOperation } from "./samples.ts";

export const AZURE_STORAGE: Pack = {
  id: "azure-storage",
  name: "Azure: storage",
  description: "Keys of storage accounts, public containers and what deletes blobs for good.",
  expects: EXPECTS,
  rules: [
    ...listedRules(OPERATIONS, [
      {
        id: "azure-storage-key-renewed",
        name: "A key of a storage account was renewed",
        description: "Programs with the old one are cut off. Planned, or somebody locks others out.",
        ...{ severity: "low", attackTechnique: "T1098.001" },
        values: ["Microsoft.Storage/storageAccounts/regenerateKey/action"],
      },
      {
        id: "azure-storage-keys-listed",
        name: "The keys of a storage account were read",
        description: "A key opens everything in the account. See who needs it, and prefer roles.",
        ...{ severity: "medium", attackTechnique: "T1552.005" },
        values: ["Microsoft.Storage/storageAccounts/listKeys/action"],
      },
      {
        id: "azure-container-changed",
        name: "A container of blobs was made or changed",
        description: "Who may read it may be others now. See its access level.",
        ...{ severity: "low", attackTechnique: "T1222" },
        values: ["Microsoft.Storage/storageAccounts/blobServices/containers/write"],
      },
      {
        id: "azure-file-share-changed",
        name: "A file share was made or changed",
        description: "Data may leave by it. See who reads it.",
        ...{ severity: "low", attackTechnique: "T1530" },
        values: ["Microsoft.Storage/storageAccounts/fileServices/shares/write"],
      },
      {
        id: "azure-disk-exported",
        name: "A link to download a disk was made",
        description: "Whoever has the link has the whole disk. Revoke the access, and see who asked.",
        ...{ severity: "high", attackTechnique: "T1537" },
        values: [
          "Microsoft.Compute/disks/beginGetAccess/action",
          "Microsoft.Compute/snapshots/beginGetAccess/action",
        ],
      },
    ]),
    {
      id: "azure-blobs-public",
      name: "Blobs may be read without signing in",
      description: "Anybody who knows an address has the data. Switch public access off.",
      ...{ severity: "high", attackTechnique: "T1530", ...EACH, groupBy: ["sourceAddress"] },
      kql: String.raw`operationName in~ ("Microsoft.Storage/storageAccounts/write", "Microsoft.Storage/storageAccounts/blobServices/containers/write")${SUCCEEDED} and (tostring(properties.requestbody) contains "\"allowBlobPublicAccess\":true" or tostring(properties.requestbody) contains "\"publicAccess\":\"Blob\"" or tostring(properties.requestbody) contains "\"publicAccess\":\"Container\"")`,
      counts: azureOperation("Microsoft.Storage/storageAccounts/write", {
        properties: { requestbody: '{"properties":{"allowBlobPublicAccess":true}}' },
      }),
      leaves: azureOperation("Microsoft.Storage/storageAccounts/write", {
        properties: { requestbody: '{"properties":{"allowBlobPublicAccess":false}}' },
      }),
    },
    {
      id: "azure-blobs-deleted-for-good",
      name: "Deleted blobs are no longer kept",
      description: "What is deleted from now on is gone. A step before ransom; switch it on again.",
      ...{ severity: "high", attackTechnique: "T1490", ...EACH, groupBy: ["sourceAddress"] },
      kql: String.raw`operationName =~ "Microsoft.Storage/storageAccounts/blobServices/write"${SUCCEEDED} and tostring(properties.requestbody) contains "\"deleteRetentionPolicy\":{\"enabled\":false"`,
      counts: azureOperation("Microsoft.Storage/storageAccounts/blobServices/write", {
        properties: { requestbody: '{"properties":{"deleteRetentionPolicy":{"enabled":false}}}' },
      }),
      leaves: azureOperation("Microsoft.Storage/storageAccounts/blobServices/write", {
        properties: { requestbody: '{"properties":{"deleteRetentionPolicy":{"enabled":true,"days":7}}}' },
      }),
    },
    {
      id: "azure-many-blobs-deleted",
      name: "One address deletes many blobs",
      description: "Somebody empties a container. Stop the identity, then see what is kept.",
      ...{ severity: "high", attackTechnique: "T1485", threshold: 100, windowSec: 300 },
      groupBy: ["sourceAddress"],
      kql: 'operationName =~ "DeleteBlob"',
      counts: azureOperation("DeleteBlob"),
      leaves: azureOperation("GetBlob"),
    },
  ],
};
