/** What webhooks of an organisation are signed with, the present secret first. */
export type SecretsOf = (organizationId: number) => Promise<readonly string[]>;

/** Answers what was asked before without asking again: what is begun together is signed with the same secrets. */
export function askedOnce(ask: SecretsOf): SecretsOf {
  const answers = new Map<number, Promise<readonly string[]>>();
  return (organizationId) => {
    const answer = answers.get(organizationId) ?? ask(organizationId);
    answers.set(organizationId, answer);
    return answer;
  };
}
