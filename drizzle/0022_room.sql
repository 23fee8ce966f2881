CREATE TABLE "event_backlog" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"room_event_id" uuid,
	"definition_id" uuid,
	"raw_payload" jsonb,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claim" uuid,
	"not_before" timestamp (3) with time zone,
	"react_notes" text,
	"error" text,
	"matched_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "event_backlog_status" CHECK ("event_backlog"."status" in ('pending', 'processing', 'completed', 'failed', 'discarded'))
);
--> statement-breakpoint
CREATE TABLE "event_definitions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"source_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"name" text NOT NULL,
	"matching_prompt" text NOT NULL,
	"action" text NOT NULL,
	"interpretation_prompt" text DEFAULT '' NOT NULL,
	"context_prompt" text DEFAULT '' NOT NULL,
	"priority" integer NOT NULL,
	"conditions" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"outbound_channel" text,
	"outbound_target" text,
	"enabled" boolean DEFAULT true NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_definitions_action" CHECK ("event_definitions"."action" in ('conversation', 'backlog'))
);
--> statement-breakpoint
CREATE TABLE "event_sources" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"source_type" text NOT NULL,
	"config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"token_digest" text NOT NULL,
	"key_id" text NOT NULL,
	"credentials" "bytea" NOT NULL,
	"has_auth_key" boolean DEFAULT false NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_sources_token_digest_unique" UNIQUE("token_digest")
);
--> statement-breakpoint
CREATE TABLE "room_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"source_id" uuid,
	"received_at" timestamp (3) with time zone NOT NULL,
	"payload" jsonb,
	"verdicts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"outcome" text DEFAULT 'pending' NOT NULL,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"definition_id" uuid,
	"conversation_ref" text,
	"backlog_id" uuid,
	"replay_of" uuid,
	"matched_at" timestamp (3) with time zone,
	CONSTRAINT "room_events_outcome" CHECK ("room_events"."outcome" in ('pending', 'conversation', 'backlog', 'no-match', 'backlog-full', 'room-off', 'source-disabled', 'invalid-payload', 'matcher-failed'))
);
--> statement-breakpoint
CREATE TABLE "rooms" (
	"agent_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"prompt" text DEFAULT '' NOT NULL,
	"outbound_channel" text,
	"outbound_target" text,
	"eval_interval_minutes" integer DEFAULT 5 NOT NULL,
	"conversation_ref" text NOT NULL,
	"pending_count" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone,
	"last_evaluated_at" timestamp (3) with time zone,
	"history_summary" text DEFAULT '' NOT NULL,
	"compacted_seq" integer DEFAULT 0 NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "rooms_pending_count" CHECK ("rooms"."pending_count" >= 0)
);
--> statement-breakpoint
CREATE TABLE "scheduled_tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prompt" text NOT NULL,
	"schedule" jsonb NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"delete_after_run" boolean DEFAULT false NOT NULL,
	"max_retries" integer DEFAULT 3 NOT NULL,
	"on_missed" text DEFAULT 'run' NOT NULL,
	"outbound_channel" text,
	"outbound_target" text,
	"subject" text DEFAULT '' NOT NULL,
	"user_name" text,
	"source" text DEFAULT 'api' NOT NULL,
	"anchor_at" timestamp (3) with time zone NOT NULL,
	"next_run_at" timestamp (3) with time zone,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "scheduled_tasks_on_missed" CHECK ("scheduled_tasks"."on_missed" in ('run', 'skip')),
	CONSTRAINT "scheduled_tasks_source" CHECK ("scheduled_tasks"."source" in ('api', 'agent'))
);
--> statement-breakpoint
CREATE TABLE "task_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"agent_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"trigger_type" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"also_missed" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"output" text,
	"error" text,
	"conversation_ref" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "task_runs_status" CHECK ("task_runs"."status" in ('queued', 'running', 'completed', 'failed', 'missed', 'skipped')),
	CONSTRAINT "task_runs_trigger" CHECK ("task_runs"."trigger_type" in ('schedule', 'manual', 'missed'))
);
--> statement-breakpoint
ALTER TABLE "event_backlog" ADD CONSTRAINT "event_backlog_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_backlog" ADD CONSTRAINT "event_backlog_room_event_id_room_events_id_fk" FOREIGN KEY ("room_event_id") REFERENCES "public"."room_events"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_backlog" ADD CONSTRAINT "event_backlog_definition_id_event_definitions_id_fk" FOREIGN KEY ("definition_id") REFERENCES "public"."event_definitions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_definitions" ADD CONSTRAINT "event_definitions_source_id_event_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."event_sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_definitions" ADD CONSTRAINT "event_definitions_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_sources" ADD CONSTRAINT "event_sources_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "room_events" ADD CONSTRAINT "room_events_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "room_events" ADD CONSTRAINT "room_events_source_id_event_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."event_sources"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scheduled_tasks" ADD CONSTRAINT "scheduled_tasks_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_runs" ADD CONSTRAINT "task_runs_task_id_scheduled_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."scheduled_tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_runs" ADD CONSTRAINT "task_runs_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_backlog_agent" ON "event_backlog" USING btree ("agent_id","matched_at");--> statement-breakpoint
CREATE INDEX "event_backlog_open" ON "event_backlog" USING btree ("agent_id","matched_at") WHERE "event_backlog"."status" in ('pending', 'processing');--> statement-breakpoint
CREATE INDEX "event_backlog_event" ON "event_backlog" USING btree ("room_event_id");--> statement-breakpoint
CREATE INDEX "event_backlog_definition" ON "event_backlog" USING btree ("definition_id");--> statement-breakpoint
CREATE INDEX "event_backlog_age" ON "event_backlog" USING btree ("completed_at") WHERE "event_backlog"."completed_at" is not null;--> statement-breakpoint
CREATE INDEX "event_definitions_order" ON "event_definitions" USING btree ("source_id","priority","created_at");--> statement-breakpoint
CREATE INDEX "event_definitions_agent" ON "event_definitions" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "event_sources_agent" ON "event_sources" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "room_events_conversation" ON "room_events" USING btree ("conversation_ref") WHERE "room_events"."conversation_ref" is not null;--> statement-breakpoint
CREATE INDEX "room_events_agent" ON "room_events" USING btree ("agent_id","received_at");--> statement-breakpoint
CREATE INDEX "room_events_source" ON "room_events" USING btree ("source_id");--> statement-breakpoint
CREATE INDEX "room_events_age" ON "room_events" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "rooms_conversation" ON "rooms" USING btree ("conversation_ref");--> statement-breakpoint
CREATE INDEX "rooms_due" ON "rooms" USING btree ("due_at") WHERE "rooms"."enabled" and "rooms"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "scheduled_tasks_agent" ON "scheduled_tasks" USING btree ("agent_id","created_at");--> statement-breakpoint
CREATE INDEX "scheduled_tasks_due" ON "scheduled_tasks" USING btree ("next_run_at") WHERE "scheduled_tasks"."enabled" and "scheduled_tasks"."next_run_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "task_runs_due" ON "task_runs" USING btree ("task_id","due_at");--> statement-breakpoint
CREATE INDEX "task_runs_open" ON "task_runs" USING btree ("task_id") WHERE "task_runs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "task_runs_agent" ON "task_runs" USING btree ("agent_id");--> statement-breakpoint
CREATE INDEX "task_runs_age" ON "task_runs" USING btree ("created_at");