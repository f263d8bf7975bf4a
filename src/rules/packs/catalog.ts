import { AGENTS, APPLICATION } from "./applications.ts";
import { AUTH0 } from "./auth0.ts";
import { AWS_DATA } from "./aws-data.ts";
import { AWS_DEFENCES } from "./aws-defences.ts";
import { AWS_IDENTITY } from "./aws-identity.ts";
import { AZURE_RESOURCES } from "./azure.ts";
import { AZURE_STORAGE } from "./azure-storage.ts";
import { CLOUD_AWS, CLOUD_AZURE, CLOUD_GCP } from "./cloud.ts";
import { CROWDSTRIKE } from "./crowdstrike.ts";
import { DATABRICKS } from "./databricks.ts";
import { ENTRA } from "./entra.ts";
import { GCP_IDENTITY, GCP_RESOURCES } from "./gcp.ts";
import { GITHUB } from "./github.ts";
import { GITHUB_WORKFLOWS } from "./github-workflows.ts";
import { KUBERNETES_GKE } from "./gke.ts";
import { GOOGLE_WORKSPACE } from "./google-workspace.ts";
import { KUBERNETES, KUBERNETES_AKS } from "./kubernetes.ts";
import { LINUX_AUTH, LINUX_PERSISTENCE } from "./linux.ts";
import { LINUX_COMMANDS } from "./linux-commands.ts";
import { NETWORK } from "./network.ts";
import { OKTA } from "./okta.ts";
import { DUO, ONELOGIN } from "./onelogin-and-duo.ts";
import type { Pack } from "./pack.ts";
import { FIREWALL, IDENTITY } from "./platform.ts";
import { WEB } from "./web.ts";
import { WINDOWS } from "./windows.ts";
import { WINDOWS_COMMANDS } from "./windows-commands.ts";
import { SLACK, SNYK } from "./work-services.ts";

/** The packs that come with the server. */
export const PACKS: readonly Pack[] = [
  LINUX_AUTH,
  LINUX_PERSISTENCE,
  LINUX_COMMANDS,
  WINDOWS,
  WINDOWS_COMMANDS,
  WEB,
  NETWORK,
  FIREWALL,
  CLOUD_AWS,
  AWS_IDENTITY,
  AWS_DATA,
  AWS_DEFENCES,
  CLOUD_AZURE,
  AZURE_RESOURCES,
  AZURE_STORAGE,
  ENTRA,
  CLOUD_GCP,
  GCP_IDENTITY,
  GCP_RESOURCES,
  KUBERNETES,
  KUBERNETES_AKS,
  KUBERNETES_GKE,
  IDENTITY,
  OKTA,
  AUTH0,
  ONELOGIN,
  DUO,
  GITHUB,
  GITHUB_WORKFLOWS,
  GOOGLE_WORKSPACE,
  SLACK,
  SNYK,
  DATABRICKS,
  CROWDSTRIKE,
  APPLICATION,
  AGENTS,
];
