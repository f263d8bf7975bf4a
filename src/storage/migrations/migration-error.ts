/** The stores and the migration files contradict each other, or a migration failed; the start must not go on. */
export class MigrationError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "MigrationError";
  }
}
