/** The kind of the job that takes the turn of a matched event; its key is the event's id. */
export const converseKind = "room.converse";
