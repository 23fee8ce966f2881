CREATE TABLE "budget_periods" (
	"agent_id" uuid NOT NULL,
	"month" date NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	"reserved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "budget_periods_agent_id_month_pk" PRIMARY KEY("agent_id","month")
);
--> statement-breakpoint
CREATE TABLE "files" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"agent_id" uuid,
	"conversation_id" uuid,
	"message_id" uuid,
	"name" text NOT NULL,
	"mime" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"store" text NOT NULL,
	"storage_key" text NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "files_storage_key_unique" UNIQUE("storage_key"),
	CONSTRAINT "files_store" CHECK ("files"."store" in ('s3', 'directory')),
	CONSTRAINT "files_status" CHECK ("files"."status" in ('pending', 'stored', 'deleting'))
);
--> statement-breakpoint
CREATE TABLE "hook_executions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"conversation_id" uuid NOT NULL,
	"turn_id" uuid NOT NULL,
	"hook_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"event" text NOT NULL,
	"tool_name" text NOT NULL,
	"success" boolean NOT NULL,
	"error" text,
	"duration_ms" integer NOT NULL,
	"args" jsonb,
	"result" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "stream_chunks" (
	"turn_id" uuid NOT NULL,
	"first" integer NOT NULL,
	"events" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stream_chunks_turn_id_first_pk" PRIMARY KEY("turn_id","first")
);
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "context_tokens" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "bytes_per_token" real;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', left(content, 200000))) STORED;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "budget_month" date;--> statement-breakpoint
ALTER TABLE "budget_periods" ADD CONSTRAINT "budget_periods_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hook_executions" ADD CONSTRAINT "hook_executions_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "files_conversation" ON "files" USING btree ("conversation_id","created_at");--> statement-breakpoint
CREATE INDEX "files_agent" ON "files" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "files_unsettled" ON "files" USING btree ("created_at") WHERE "files"."status" <> 'stored';--> statement-breakpoint
CREATE INDEX "hook_executions_conversation" ON "hook_executions" USING btree ("conversation_id","created_at");--> statement-breakpoint
CREATE INDEX "stream_chunks_age" ON "stream_chunks" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "conversations_parent" ON "conversations" USING btree ("parent_id") WHERE "conversations"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX "messages_search" ON "messages" USING gin ("search");