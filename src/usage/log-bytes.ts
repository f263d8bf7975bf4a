/** Undoes a count. */
export type GiveBack = () => Promise<void>;

export const NOTHING_TO_GIVE_BACK: GiveBack = () => Promise.resolve();
