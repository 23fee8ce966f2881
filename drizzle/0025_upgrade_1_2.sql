-- What release 1.2.0 of 2026-10-12 changes for installations from before it (spec "Versioning" 6).

-- Until then every agent answered on the web; since then a channel of its own turns that on. A row without a configuration
-- stands for an empty one, since SQL can't seal.
INSERT INTO "channels" ("id", "agent_id", "type", "enabled", "key_id", "config")
SELECT gen_random_uuid(), "agents"."id", 'web', true, '', ''::bytea FROM "agents"
WHERE "agents"."created_at" < '2026-10-12T00:00:00Z'
ON CONFLICT ("agent_id", "type") DO NOTHING;
--> statement-breakpoint
UPDATE "agents" SET "attachments_enabled" = false, "revision" = "revision" + 1, "updated_at" = now()
WHERE "created_at" < '2026-10-12T00:00:00Z';
--> statement-breakpoint
-- All bots had one webhook secret; now each channel tells its messenger its own.
UPDATE "channels" SET "registered_address" = NULL
WHERE "type" = 'telegram' AND "enabled" AND "created_at" < '2026-10-12T00:00:00Z';
--> statement-breakpoint
-- Tools that became plugins. Where a row can name only one tool, it is the first.
CREATE TABLE "renamed_tools" ("old" text NOT NULL, "nth" integer NOT NULL, "name" text NOT NULL);
--> statement-breakpoint
INSERT INTO "renamed_tools" ("old", "nth", "name") VALUES
  ('ghIssue', 1, 'github:listIssues'),
  ('ghIssue', 2, 'github:getIssue'),
  ('ghIssue', 3, 'github:createIssue'),
  ('ghIssue', 4, 'github:updateIssue'),
  ('ghIssue', 5, 'github:commentOnIssue'),
  ('ghPR', 1, 'github:listPullRequests'),
  ('ghPR', 2, 'github:getPullRequest'),
  ('ghPR', 3, 'github:createPullRequest'),
  ('gitCloneRepo', 1, 'github:listFiles'),
  ('gitCloneRepo', 2, 'github:getFile'),
  ('renderService', 1, 'render:listServices'),
  ('renderService', 2, 'render:getService'),
  ('renderService', 3, 'render:listDeploys'),
  ('renderService', 4, 'render:getDeploy'),
  ('renderService', 5, 'render:createDeploy'),
  ('markdownToPdf', 1, 'markdown-pdf:create'),
  ('fileUpload', 1, 'files:upload');
--> statement-breakpoint
INSERT INTO "renamed_tools" ("old", "nth", "name")
SELECT "old", 1, 'hubspot:' || lower(substr("old", 8, 1)) || substr("old", 9) FROM (
  SELECT "name" FROM "agent_tools"
  UNION SELECT unnest("required_tools") FROM "skill_versions"
  UNION SELECT "action_config" ->> 'toolName' FROM "hooks"
) AS "used" ("old")
WHERE "old" ~ '^hubspot[A-Z][A-Za-z0-9_]*$';
--> statement-breakpoint
INSERT INTO "agent_tools" ("agent_id", "name", "source", "needs_approval")
SELECT "agent_tools"."agent_id", "renamed_tools"."name", "agent_tools"."source", bool_or("agent_tools"."needs_approval")
FROM "agent_tools" INNER JOIN "renamed_tools" ON "renamed_tools"."old" = "agent_tools"."name"
GROUP BY 1, 2, 3
ON CONFLICT ("agent_id", "name", "source")
DO UPDATE SET "needs_approval" = "agent_tools"."needs_approval" OR excluded."needs_approval";
--> statement-breakpoint
DELETE FROM "agent_tools" WHERE "name" IN (SELECT "old" FROM "renamed_tools");
--> statement-breakpoint
UPDATE "hooks" SET "action_config" = jsonb_set("action_config", '{toolName}', to_jsonb("renamed_tools"."name"))
FROM "renamed_tools"
WHERE "renamed_tools"."old" = "hooks"."action_config" ->> 'toolName' AND "renamed_tools"."nth" = 1;
--> statement-breakpoint
UPDATE "skill_versions" SET "required_tools" = (
  SELECT array_agg("renamed"."name" ORDER BY "renamed"."place") FROM (
    SELECT coalesce("renamed_tools"."name", "required"."name") AS "name",
      min("required"."nth" * 10 + coalesce("renamed_tools"."nth", 0)) AS "place"
    FROM unnest("skill_versions"."required_tools") WITH ORDINALITY AS "required" ("name", "nth")
    LEFT JOIN "renamed_tools" ON "renamed_tools"."old" = "required"."name"
    GROUP BY 1
  ) AS "renamed"
)
WHERE "required_tools" && (SELECT array_agg("old") FROM "renamed_tools");
--> statement-breakpoint
DROP TABLE "renamed_tools";
