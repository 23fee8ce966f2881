CREATE TABLE "latency_daily" (
	"agent_id" uuid NOT NULL,
	"day" date NOT NULL,
	"measure" text NOT NULL,
	"bucket" smallint NOT NULL,
	"turns" integer NOT NULL,
	CONSTRAINT "latency_daily_agent_id_day_measure_bucket_pk" PRIMARY KEY("agent_id","day","measure","bucket")
);
--> statement-breakpoint
CREATE TABLE "tool_usage_daily" (
	"agent_id" uuid NOT NULL,
	"day" date NOT NULL,
	"tool" text NOT NULL,
	"bucket" smallint NOT NULL,
	"calls" integer NOT NULL,
	"errors" integer NOT NULL,
	CONSTRAINT "tool_usage_daily_agent_id_day_tool_bucket_pk" PRIMARY KEY("agent_id","day","tool","bucket")
);
--> statement-breakpoint
CREATE TABLE "usage_daily" (
	"agent_id" uuid NOT NULL,
	"day" date NOT NULL,
	"channel" text NOT NULL,
	"model" text NOT NULL,
	"turns" integer NOT NULL,
	"messages" integer NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	CONSTRAINT "usage_daily_agent_id_day_channel_model_pk" PRIMARY KEY("agent_id","day","channel","model")
);
--> statement-breakpoint
CREATE TABLE "usage_rollups" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_rollups_single" CHECK ("usage_rollups"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "user_usage_daily" (
	"agent_id" uuid NOT NULL,
	"day" date NOT NULL,
	"subject" text NOT NULL,
	"conversation_id" uuid NOT NULL,
	"turns" integer NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	CONSTRAINT "user_usage_daily_agent_id_day_subject_conversation_id_pk" PRIMARY KEY("agent_id","day","subject","conversation_id")
);
--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "channel" text DEFAULT 'web' NOT NULL;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "message_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "latency_daily" ADD CONSTRAINT "latency_daily_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_usage_daily" ADD CONSTRAINT "tool_usage_daily_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_daily" ADD CONSTRAINT "usage_daily_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_usage_daily" ADD CONSTRAINT "user_usage_daily_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
UPDATE "turns" SET "channel" = coalesce((SELECT "conversations"."channel" FROM "conversations" WHERE "conversations"."id" = "turns"."conversation_id"), CASE "door" WHEN 'tasks' THEN 'scheduled' WHEN 'playground' THEN 'playground' WHEN 'agent' THEN 'agent' WHEN 'room' THEN 'room' ELSE 'web' END) WHERE "door" NOT IN ('api', 'native');
--> statement-breakpoint
UPDATE "turns" SET "message_count" = "stored"."messages" FROM (SELECT "turn_id", count(*)::int AS "messages" FROM "messages" WHERE "turn_id" IS NOT NULL GROUP BY "turn_id") AS "stored" WHERE "stored"."turn_id" = "turns"."id";
