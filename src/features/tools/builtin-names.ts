/** Every tool that is part of the engine (decisions §7); what each one does is with the feature that contributes it. */
export const builtinNames: ReadonlySet<string> = new Set([
  "readSkill",
  "runSkillScript",
  "saveMemory",
  "searchMemory",
  "getState",
  "setState",
  "currentTime",
  "httpRequest",
  "scheduleTask",
  "markEventsCompleted",
  "sendMessageToHuman",
  "compactRoomHistory",
]);
