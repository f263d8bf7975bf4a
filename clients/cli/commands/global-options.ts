/** Options that every command takes. */
export interface GlobalOptions {
  /** Address of the server. */
  url?: string;
  /** Output for machines. */
  json?: boolean;
}
