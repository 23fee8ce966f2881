import type { SectionProps } from "../../data/route.ts";
import { ConversationPage } from "./conversation.tsx";
import { ConversationsPage } from "./conversations.tsx";

/** `conversations`, and `conversations/{conversationId}`. */
export const ConversationsSection = ({ rest: [id] }: SectionProps) =>
  id === undefined ? <ConversationsPage /> : <ConversationPage key={id} id={id} />;
