CREATE TABLE "memories" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"subject" text DEFAULT '' NOT NULL,
	"content" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"category" text DEFAULT 'general' NOT NULL,
	"importance" integer DEFAULT 5 NOT NULL,
	"source_conversation_id" uuid,
	"search" "tsvector" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memories_importance" CHECK ("memories"."importance" between 1 and 10)
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"key" text,
	"payload" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"run_at" timestamp (3) with time zone DEFAULT '-infinity' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"max_attempts" integer DEFAULT 10 NOT NULL,
	"locked_by" uuid,
	"locked_until" timestamp (3) with time zone,
	"status" text DEFAULT 'pending' NOT NULL,
	"last_error" text,
	"failed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "jobs_status" CHECK ("jobs"."status" in ('pending', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_source_conversation_id_conversations_id_fk" FOREIGN KEY ("source_conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "memories_digest" ON "memories" USING btree ("agent_id","subject","digest");--> statement-breakpoint
CREATE INDEX "memories_newest" ON "memories" USING btree ("agent_id","subject","updated_at");--> statement-breakpoint
CREATE INDEX "memories_important" ON "memories" USING btree ("agent_id","subject","importance","updated_at");--> statement-breakpoint
CREATE INDEX "memories_source" ON "memories" USING btree ("source_conversation_id");--> statement-breakpoint
CREATE INDEX "memories_search" ON "memories" USING gin ("search");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_key" ON "jobs" USING btree ("kind","key") WHERE "jobs"."status" = 'pending' and "jobs"."locked_until" is null;--> statement-breakpoint
CREATE INDEX "jobs_due" ON "jobs" USING btree ("run_at","id") WHERE "jobs"."status" = 'pending' and "jobs"."locked_until" is null;--> statement-breakpoint
CREATE INDEX "jobs_running" ON "jobs" USING btree ("locked_until") WHERE "jobs"."locked_until" is not null;--> statement-breakpoint
CREATE INDEX "jobs_failed" ON "jobs" USING btree ("failed_at") WHERE "jobs"."status" = 'failed';