-- Ids of end users of all channels were in one namespace. Now a subject begins with the channel of the id
-- (core/channels/subjects.ts). Servers of the earlier release that still run find no memories meanwhile, and a job
-- gives theirs their channels an hour later (features/memories/late-subjects.ts).
LOCK TABLE "user_budget_periods", "conversations", "turns", "memories", "scheduled_tasks", "user_usage_daily" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- A subject may be what another one becomes, such as `web:5`: no key may be unique before all of them are changed.
DROP INDEX "memories_digest";--> statement-breakpoint
ALTER TABLE "user_budget_periods" DROP CONSTRAINT "user_budget_periods_agent_id_subject_month_pk";--> statement-breakpoint
ALTER TABLE "user_usage_daily" DROP CONSTRAINT "user_usage_daily_agent_id_day_subject_conversation_id_pk";--> statement-breakpoint
-- The key of a subject in a conversation with this channel and id, null where these don't tell. Without a conversation
-- an id of one of the agent's conversations is told by its form.
CREATE FUNCTION "subject_key_in"("subject" text, "channel" text, "ref" text, "slug" text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN "subject" = '' THEN ''
    WHEN "subject" = "ref" THEN 'conversation:' || "subject"
    WHEN "ref" IS NOT NULL AND "channel" IN ('web', 'playground') THEN 'web:' || "subject"
    WHEN starts_with("subject", 'room:' || "slug" || ':') OR starts_with("subject", "slug" || ':')
      AND split_part("subject", ':', 2) IN ('web', 'playground', 'telegram', 'slack', 'whatsapp', 'agent', 'scheduled')
      THEN 'conversation:' || "subject"
    WHEN "channel" IN ('telegram', 'slack', 'whatsapp') THEN "channel" || ':' || "subject"
  END
$$;--> statement-breakpoint
-- The subjects of each organization that occur in one channel alone.
CREATE TABLE "subject_keys" ("organization_id" uuid, "subject" text, "key" text);--> statement-breakpoint
INSERT INTO "subject_keys"
SELECT "organization_id", "subject", min("key") FROM (
  SELECT "conversations"."organization_id", "conversations"."subject",
    "subject_key_in"("conversations"."subject", "conversations"."channel", "conversations"."ref", "agents"."slug") AS "key"
  FROM "conversations" INNER JOIN "agents" ON "agents"."id" = "conversations"."agent_id"
) AS "found"
WHERE "key" IS NOT NULL GROUP BY 1, 2 HAVING count(DISTINCT "key") = 1;--> statement-breakpoint
CREATE INDEX ON "subject_keys" ("subject", "organization_id");--> statement-breakpoint
ANALYZE "subject_keys";--> statement-breakpoint
CREATE FUNCTION "subject_key_known"("of_subject" text, "of_organization" uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT "key" FROM "subject_keys" WHERE "subject" = "of_subject" AND "organization_id" = "of_organization"
$$;--> statement-breakpoint
UPDATE "memories" SET "subject" = coalesce(
  "subject_key_in"("memories"."subject", "source"."channel", "source"."ref", "agents"."slug"),
  "subject_key_known"("memories"."subject", "memories"."organization_id"),
  'web:' || "memories"."subject"
)
FROM "memories" AS "own"
INNER JOIN "agents" ON "agents"."id" = "own"."agent_id"
LEFT JOIN "conversations" AS "source" ON "source"."id" = "own"."source_conversation_id"
WHERE "own"."id" = "memories"."id" AND "memories"."subject" <> '';--> statement-breakpoint
UPDATE "scheduled_tasks" SET "subject" = coalesce(
  "subject_key_in"("scheduled_tasks"."subject", NULL, NULL, "agents"."slug"),
  "subject_key_known"("scheduled_tasks"."subject", "scheduled_tasks"."organization_id"),
  "subject_key_in"("scheduled_tasks"."subject", "scheduled_tasks"."outbound_channel", NULL, "agents"."slug"),
  'web:' || "scheduled_tasks"."subject"
)
FROM "agents" WHERE "agents"."id" = "scheduled_tasks"."agent_id" AND "scheduled_tasks"."subject" <> '';--> statement-breakpoint
UPDATE "user_budget_periods" SET "subject" = coalesce(
  "subject_key_in"("user_budget_periods"."subject", NULL, NULL, "agents"."slug"),
  "subject_key_known"("user_budget_periods"."subject", "agents"."organization_id"),
  'web:' || "user_budget_periods"."subject"
)
FROM "agents" WHERE "agents"."id" = "user_budget_periods"."agent_id" AND "user_budget_periods"."subject" <> '';--> statement-breakpoint
UPDATE "user_usage_daily" SET "subject" = coalesce(
  "subject_key_in"("user_usage_daily"."subject", "of"."channel", "of"."ref", "agents"."slug"),
  "subject_key_known"("user_usage_daily"."subject", "agents"."organization_id"),
  'web:' || "user_usage_daily"."subject"
)
FROM "user_usage_daily" AS "own"
INNER JOIN "agents" ON "agents"."id" = "own"."agent_id"
LEFT JOIN "conversations" AS "of" ON "of"."id" = "own"."conversation_id"
WHERE "own"."ctid" = "user_usage_daily"."ctid" AND "user_usage_daily"."subject" <> '';--> statement-breakpoint
UPDATE "turns" SET "subject" = coalesce(
  "subject_key_in"("turns"."subject", "turns"."channel", "of"."ref", "agents"."slug"),
  "subject_key_known"("turns"."subject", "turns"."organization_id"),
  'web:' || "turns"."subject"
)
FROM "turns" AS "own"
INNER JOIN "agents" ON "agents"."id" = "own"."agent_id"
LEFT JOIN "conversations" AS "of" ON "of"."id" = "own"."conversation_id"
WHERE "own"."id" = "turns"."id" AND "turns"."subject" <> '';--> statement-breakpoint
UPDATE "conversations" SET "subject" = coalesce(
  "subject_key_in"("conversations"."subject", "conversations"."channel", "conversations"."ref", "agents"."slug"),
  "subject_key_known"("conversations"."subject", "conversations"."organization_id"),
  'web:' || "conversations"."subject"
)
FROM "agents" WHERE "agents"."id" = "conversations"."agent_id" AND "conversations"."subject" <> '';--> statement-breakpoint
DROP FUNCTION "subject_key_known";--> statement-breakpoint
DROP TABLE "subject_keys";--> statement-breakpoint
DROP FUNCTION "subject_key_in";--> statement-breakpoint
CREATE UNIQUE INDEX "memories_digest" ON "memories" USING btree ("agent_id","subject","digest");--> statement-breakpoint
ALTER TABLE "user_budget_periods" ADD CONSTRAINT "user_budget_periods_agent_id_subject_month_pk" PRIMARY KEY("agent_id","subject","month");--> statement-breakpoint
ALTER TABLE "user_usage_daily" ADD CONSTRAINT "user_usage_daily_agent_id_day_subject_conversation_id_pk" PRIMARY KEY("agent_id","day","subject","conversation_id");--> statement-breakpoint
INSERT INTO "jobs" ("id", "kind", "key", "run_at") SELECT gen_random_uuid(), 'keyMemories', '', now() + interval '1 hour' WHERE EXISTS (SELECT FROM "memories");
