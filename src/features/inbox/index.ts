/** What a channel whose replies are sent later writes with a continued turn. */
export { continuedReplies } from "./outbox/replies.ts";
/** Has a text sent to people, or to another agent, with a transaction. */
export { type Message, sendTo } from "./outbox/send-to.ts";
