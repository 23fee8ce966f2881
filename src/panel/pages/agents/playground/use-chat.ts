import { useEffect, useMemo, useRef } from "preact/hooks";
import { useLive } from "../../../data/live.ts";
import { PlaygroundChat } from "./chat.ts";

/** A chat of this tab with an agent, as it was left. `model` replaces the agent's model from the next message on. */
export function useChat(slug: string, name: string, model: string | null): PlaygroundChat {
  const chosen = useRef(model);
  chosen.current = model;
  const chat = useMemo(() => new PlaygroundChat(slug, { name, model: () => chosen.current }), [slug, name]);
  useEffect(() => {
    void chat.open();
    return () => chat.leave();
  }, [chat]);
  useLive((event) => void chat.hear(event));
  return chat;
}
