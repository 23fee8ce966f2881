import type { AlongsideOf } from "../../turns/index.ts";

/** What is written with a turn whose reply nobody is sent. */
export const silence: AlongsideOf = () => ({ inboxIds: [], sends: [], work: [], supersededAfter: null });
