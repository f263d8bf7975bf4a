/** For how long a turn is believed to be somebody's who is not heard of; what nobody waits for may wait so long. */
export const TURN_LEASE_MS = 60_000;
/** How often within a lease its holder says that it lives: twice may fail. */
export const TURN_RENEWALS = 3;
