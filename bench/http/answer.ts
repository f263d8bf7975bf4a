/** What both routes answer: a record of ordinary size. */
export const ANSWER = {
  id: 17,
  name: "Errors of the last hour",
  description: null,
  query: 'level == "error"',
  createdAt: "2026-03-01T12:00:00.000Z",
  updatedAt: "2026-03-01T12:00:00.000Z",
};
